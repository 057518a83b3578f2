from __future__ import annotations

import pytest

from npa.plan import text
from npa.plan.model import Change, JobRef, Plan, Step

TRAIN = JobRef("12", "alice", "train", "RUNNING", ("cpu8-3",))

GROWN = Plan(
    cluster="quick",
    target="local",
    steps=(
        Step("write", "slurm.conf", "pool gpu is new", "write", diff="-NodeName=a\n+NodeName=b\n"),
        Step("start", "pool gpu", "asked for", "start", nodes=("gpu-0", "gpu-1")),
        Step("drain", "pool cpu8", "smaller", "drain", nodes=("cpu8-3",), jobs=(TRAIN,)),
    ),
    unchanged=("pool cpu8", "users"),
    notes=("telemetry is not sent from this machine",),
)


def test_a_plan_reads_as_numbered_steps() -> None:
    assert text.text(GROWN, "npa soperator deploy --spec c.yaml") == (
        "plan for cluster quick on local: 3 steps\n"
        "  1. write slurm.conf: pool gpu is new\n"
        "      -NodeName=a\n"
        "      +NodeName=b\n"
        "  2. start pool gpu: asked for\n"
        "      nodes: gpu-[0-1]\n"
        "  3. drain pool cpu8: smaller\n"
        "      nodes: cpu8-3\n"
        "      waits for job 12 (alice, train)\n"
        "pool cpu8: already as asked\n"
        "users: already as asked\n"
        "note: telemetry is not sent from this machine\n"
        "next: npa soperator deploy --spec c.yaml\n"
    )


@pytest.mark.parametrize(
    ("step", "fate"),
    [
        (
            Step("stop", "pool cpu8", "gone", "k", jobs=(TRAIN,), kills_jobs=True),
            "ends job 12 (alice, train)",
        ),
        (Step("stop", "pool cpu8", "gone", "k", jobs=(TRAIN,)), "would end job 12 (alice, train)"),
        (Step("wait", "pool cpu8", "busy", "k", jobs=(TRAIN,)), "waits for job 12 (alice, train)"),
        (Step("restart", "slurmd", "new", "k", jobs=(TRAIN,)), "leaves running job 12 (alice, train)"),
    ],
)
def test_a_step_says_what_it_does_to_jobs(step: Step, fate: str) -> None:
    shown = text.text(Plan("quick", "local", (step,)), "")

    assert fate in [line.strip() for line in shown.splitlines()]


def test_nothing_to_do_is_said() -> None:
    shown = text.text(Plan("quick", "local", (), unchanged=("pool cpu8",)), "npa soperator status quick")

    assert shown == (
        "nothing to do: cluster quick is as asked\n"
        "pool cpu8: already as asked\n"
        "next: npa soperator status quick\n"
    )


def test_numbers_stay_aligned() -> None:
    steps = tuple(Step("start", f"pool p{n}", "new", str(n)) for n in range(10))

    lines = text.text(Plan("quick", "local", steps), "").splitlines()

    assert lines[1] == "   1. start pool p0: new"
    assert lines[-1] == "  10. start pool p9: new"


def test_a_step_that_would_end_jobs_says_how_to_allow_it() -> None:
    shown = text.text(
        Plan("quick", "local", (Step("stop", "pool cpu8", "gone", "stop:cpu8", jobs=(TRAIN,)),)), ""
    )

    assert "to allow it: --force-step stop:cpu8" in shown


def test_changes_say_what_they_do_and_why() -> None:
    grown = Change("pool", "cpu8", "grown", "2", "4", "reconfigure", "slurmctld reads it from its files")
    shown = text.text(Plan("quick", "local", (), changes=(grown,)), "")

    assert shown.splitlines()[0] == (
        "change: pool cpu8: grown 2 -> 4 (reconfigure: slurmctld reads it from its files)"
    )
