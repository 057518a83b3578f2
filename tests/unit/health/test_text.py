from __future__ import annotations

import json

from npa.health import text
from npa.health.assess import assess
from npa.health.observation import Daemon, Observation, SlurmNode
from npa.plan.model import JobRef
from npa.slurm.states import NodeState

SEEN = Observation(
    name="quick",
    target="local",
    state="present",
    expected_workers=("cpu-0", "cpu-1", "cpu-2"),
    expected_cpus=24,
    daemons=(Daemon("controller-0", "slurmctld", "up", 1),),
    nodes=(
        SlurmNode("cpu-0", NodeState.parse("IDLE"), cpus=8),
        SlurmNode("cpu-1", NodeState.parse("IDLE"), cpus=8),
        SlurmNode("cpu-2", NodeState.parse("IDLE+DRAIN"), "fan\nbroken", cpus=8),
    ),
    jobs=(JobRef("1", "alice", "train", "PENDING"),),
    slurm_version="26.05",
)


def test_a_report_reads_as_a_table() -> None:
    assert text.text(assess(SEEN)) == (
        "cluster quick on local: degraded, Slurm 26.05\n"
        "  nodes    2 of 3 schedulable\n"
        "  cpus     16 of 24 schedulable\n"
        "  daemons  1 of 1 up\n"
        "  jobs     1 pending\n"
        "  NODES      STATE       CPUS  GRES  REASON\n"
        "  cpu-[0-1]  idle        0/8\n"
        "  cpu-2      idle+drain  0/8         fan broken\n"
        "error: node cpu-2: takes no jobs: idle+drain, fan broken\n"
        "hint: once its cause is gone: `scontrol update nodename=cpu-2 state=resume`\n"
        "next: npa soperator exec controller-0 --cluster quick -- scontrol show node cpu-2\n"
    )


def test_unknown_is_said_and_not_counted() -> None:
    shown = text.text(assess(Observation("quick", "local", "present", ("cpu-0",), expected_cpus=8)))

    assert "  nodes    unknown of 1 schedulable\n" in shown
    assert "  jobs     unknown\n" in shown


def test_json_has_a_version_and_only_plain_values() -> None:
    document = text.to_dict(assess(SEEN))

    assert document["schema_version"] == "npa.soperator.status/v1"
    assert (document["ok"], document["status"]) == (False, "degraded")
    assert document["nominal"] == {"nodes": 3, "cpus": 24, "gpus": 0}
    assert document["jobs"] == {"pending": 1}
    assert next(iter(document)) == "schema_version"
    assert json.loads(json.dumps(document))["nodes"][2]["reason"] == "fan\nbroken"


def test_json_tells_unknown_from_none() -> None:
    document = text.to_dict(assess(Observation("quick", "local", "present")))

    assert document["nodes"] is None
    assert document["jobs"] is None
    assert document["schedulable"] is None
