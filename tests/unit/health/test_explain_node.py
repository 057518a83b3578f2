"""Why a node takes no jobs, from values alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from npa.health import explain
from npa.health.explain import Place
from npa.health.explain_node import NodeFacts, explain_node
from npa.health.observation import Daemon
from npa.plan.model import JobRef
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.slurm.replies import SlurmNodeReply
from npa.slurm.states import NodeState

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
RESUME = "npa soperator exec controller-0 --cluster quick -- scontrol update nodename=cpu-1 state=resume"
DEPLOY = explain.DEPLOY
LOGS = "npa soperator logs cpu-1 --cluster quick"


def slurm(state: str, reason: str = "", user: str = "root", minutes: int = 3) -> Found[SlurmNodeReply]:
    return Found(
        SlurmNodeReply(
            "cpu-1",
            NodeState.parse(state),
            reason,
            user if reason else "",
            NOW - timedelta(minutes=minutes) if reason else None,
            cpus=4,
            real_memory=16384,
            partitions=("main",),
        )
    )


def facts(seen: Lookup[SlurmNodeReply], **changes: object) -> NodeFacts:
    up = (Daemon("cpu-1", "slurmd", "up", 7),)
    well = NodeFacts(
        Place("quick"),
        "cpu-1",
        NOW,
        worker=True,
        cluster_runs=True,
        alive=True,
        slurm=seen,
        daemons=up,
        jobs=(),
        log=("slurmctld says",),
        own_log=("slurmd says",),
    )
    return replace(well, **changes)  # type: ignore[arg-type]


DEAD: dict[str, object] = {"daemons": (Daemon("cpu-1", "slurmd", "down"),)}


@pytest.mark.parametrize(
    ("seen", "changes", "verdict", "cause", "command"),
    [
        pytest.param(
            slurm("IDLE+DRAIN", "rack move", "alice"), {}, "action", "alice drained it", RESUME, id="person"
        ),
        pytest.param(
            slurm("IDLE+DRAIN", "npa: pool cpu shrinks"),
            {},
            "action",
            "npa drained it: pool cpu shrinks",
            DEPLOY,
            id="npa",
        ),
        pytest.param(
            slurm("IDLE+DRAIN", "[user_problem] boot_disk_full: /var"),
            {},
            "action",
            "Soperator's check boot_disk_full drained it",
            LOGS,
            id="a-check",
        ),
        pytest.param(
            slurm("IDLE+DRAIN", "Kill task failed"),
            {},
            "action",
            "processes of a job would not end: often a hung file system or GPU driver",
            RESUME,
            id="slurm",
        ),
        pytest.param(
            slurm("IDLE+DRAIN+INVALID_REG", "gres/gpu count reported lower than configured (7 < 8)", "slurm"),
            {},
            "action",
            "its slurmd sees fewer GPUs than slurm.conf says",
            RESUME,
            id="fewer-gpus",
        ),
        pytest.param(
            slurm("IDLE+DRAIN"),
            {},
            "action",
            "somebody drained it and did not say why",
            RESUME,
            id="no-reason",
        ),
        pytest.param(slurm("DOWN"), {}, "action", "it is down", RESUME, id="down"),
        pytest.param(slurm("IDLE"), DEAD, "action", "slurmd is not running", DEPLOY, id="slurmd-just-died"),
        pytest.param(
            slurm("DOWN+NOT_RESPONDING", "Not responding", "slurm"),
            DEAD,
            "action",
            "slurmd is not running",
            DEPLOY,
            id="slurmd-died",
        ),
        pytest.param(
            slurm("DOWN+NOT_RESPONDING", "Not responding", "slurm"),
            {},
            "action",
            "its slurmd does not answer",
            LOGS,
            id="not-responding-though-it-runs",
        ),
        pytest.param(
            slurm("IDLE+NOT_RESPONDING"),
            {},
            "waits",
            "slurmctld has had no answer from its slurmd yet",
            LOGS,
            id="silent",
        ),
        pytest.param(
            slurm("IDLE"),
            {"alive": False, **DEAD},
            "action",
            "the node itself has ended: its first process is gone",
            DEPLOY,
            id="node-died",
        ),
        pytest.param(
            slurm("MIXED+REBOOT_REQUESTED+DRAIN", "Reboot ASAP", "alice"),
            {},
            "waits",
            "somebody asked Slurm to reboot it, once its jobs have ended",
            "npa soperator status quick",
            id="c50-reboot-asked",
        ),
        pytest.param(
            slurm("DOWN+REBOOT_ISSUED", "reboot issued", "slurm"),
            {},
            "waits",
            "it reboots, as Slurm was asked to",
            "npa soperator status quick",
            id="c50-rebooting",
        ),
        pytest.param(
            slurm("DOWN+REBOOT_ISSUED", "reboot issued", "slurm", minutes=45),
            {},
            "action",
            "it was rebooted and has not come back in time",
            RESUME,
            id="c50-reboot-overdue",
        ),
        pytest.param(
            slurm("IDLE+CLOUD+POWERED_DOWN"),
            {"alive": False, **DEAD},
            "waits",
            "it is powered down to save power",
            "npa soperator status quick",
            id="powered-down-is-not-dead",
        ),
        pytest.param(
            slurm("IDLE"),
            {"cluster_runs": False, "alive": False},
            "action",
            "cluster quick is stopped",
            DEPLOY,
            id="cluster-stopped",
        ),
        pytest.param(
            Absent(), {}, "action", "slurmctld does not know the node", DEPLOY, id="absent-in-slurm"
        ),
        pytest.param(
            Unknown("slurmctld is not running"),
            {"controller_up": False},
            "action",
            "slurmctld is down, so no node gets a job; what runs goes on",
            "npa soperator logs controller-0 --cluster quick",
            id="slurmctld-down",
        ),
        pytest.param(
            slurm("UNKNOWN+DRAIN"),
            {},
            "unknown",
            "Slurm does not tell its state",
            "npa soperator status quick",
            id="state-unknown",
        ),
    ],
)
def test_the_first_cause_explains_it(
    seen: Lookup[SlurmNodeReply], changes: dict[str, object], verdict: str, cause: str, command: str
) -> None:
    found = explain_node(facts(seen, **changes))

    assert (found.verdict, found.causes[0].what, found.next_command) == (verdict, cause, command)
    assert cause in found.summary


@pytest.mark.parametrize(
    ("state", "summary"),
    [
        ("IDLE", "fine: idle, 0 of 4 CPUs in use"),
        ("MIXED+PLANNED", "fine: mixed+planned, 0 of 4 CPUs in use"),
        ("IDLE+SPACE_WEATHER", "fine: idle+space_weather, 0 of 4 CPUs in use"),
    ],
)
def test_c39_a_node_that_takes_jobs_is_fine(state: str, summary: str) -> None:
    found = explain_node(facts(slurm(state)))

    assert (found.verdict, found.summary, found.causes, found.log) == ("fine", summary, (), ())


def test_no_answer_is_not_fine() -> None:
    found = explain_node(facts(Unknown("timed out"), jobs=None))

    assert (found.verdict, found.causes) == ("unknown", ())
    assert found.unread == ("the state of the node in Slurm: timed out", "the jobs on it")


def test_who_and_when_and_the_reason_to_the_letter() -> None:
    found = explain_node(facts(slurm("MIXED+DRAIN", "fan | loud : Not responding", "alice")))

    assert found.causes[0].evidence == (
        "reason: fan | loud",
        "set by alice at 2026-11-30T11:57:00Z (3 min ago)",
        "slurmctld added since: Not responding",
    )


def test_a_drain_by_somebody_needs_no_line_of_a_healthy_slurmd() -> None:
    assert explain_node(facts(slurm("IDLE+DRAIN", "rack move"))).log == ("slurmctld says",)
    assert explain_node(facts(slurm("IDLE+DRAIN", "Prolog error"))).log == ("slurmd says", "slurmctld says")


def test_a_node_of_the_control_plane_has_no_state_in_slurm() -> None:
    login = facts(Absent(), worker=False, name="login-0", daemons=(Daemon("login-0", "sshd", "up", 3),))

    assert explain_node(login).summary == "fine: up"
    assert explain_node(replace(login, daemons=(Daemon("login-0", "sshd", "down"),))).verdict == "action"


def test_c49_nobody_elses_text_makes_lines_of_its_own() -> None:
    job = JobRef("7", "bob", "new\nline\x1b[31m", "RUNNING", ("cpu-1",))
    lines = explain.text([explain_node(facts(slurm("MIXED"), jobs=(job,)))]).splitlines()

    assert any(line.startswith("  jobs") and "new line" in line for line in lines)
    assert not any(line.startswith("line") for line in lines)


def test_as_json() -> None:
    document = explain.to_dict(explain.NODE_SCHEMA, [explain_node(facts(slurm("IDLE")))])

    assert document["schema_version"] == "npa.soperator.explain-node/v1"
    assert document["explanations"][0]["verdict"] == "fine"
    assert document["explanations"][0]["facts"]["size"] == "4 CPUs, 16G memory"
