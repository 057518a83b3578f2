from __future__ import annotations

from dataclasses import replace

import pytest

from npa.health.assess import Capacity, Finding, Report, assess
from npa.health.observation import Daemon, Observation, SlurmNode
from npa.plan.model import JobRef
from npa.slurm.states import NodeState


def node(
    name: str, state: str = "IDLE", reason: str = "", cpus: int = 8, gres: str = "gpu:b200:2"
) -> SlurmNode:
    return SlurmNode(name, NodeState.parse(state), reason, cpus, 32_000, gres)


WELL = Observation(
    name="quick",
    target="local",
    state="present",
    expected_workers=("gpu-0", "gpu-1"),
    expected_cpus=16,
    expected_gpus=4,
    daemons=(Daemon("controller-0", "slurmctld", "up", 10), Daemon("gpu-0", "slurmd", "up", 11)),
    nodes=(node("gpu-0"), node("gpu-1", "MIXED")),
    jobs=(
        JobRef("1", "alice", "a", "RUNNING"),
        JobRef("2", "bob", "b", "PENDING"),
        JobRef("3", "bob", "b", "PENDING"),
    ),
    slurm_version="26.05",
)


def errors(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.severity != "warning"]


def test_a_well_cluster_is_healthy() -> None:
    report = assess(WELL)

    assert (report.ok, report.status, report.findings) == (True, "healthy", ())
    assert report.nominal == report.schedulable == Capacity(2, 16, 4)
    assert report.jobs == (("pending", 2), ("running", 1))
    assert report.next_command == "npa soperator ssh --cluster quick"


@pytest.mark.parametrize(
    ("seen", "status", "subject", "message"),
    [
        pytest.param(replace(WELL, nodes=None), "unknown", "nodes", "could not be read", id="nodes-unknown"),
        pytest.param(replace(WELL, jobs=None), "unknown", "jobs", "could not be read", id="jobs-unknown"),
        pytest.param(
            replace(WELL, problems=("scontrol: timed out",)),
            "unknown",
            "cluster",
            "timed out",
            id="a-read-failed",
        ),
        pytest.param(
            replace(WELL, full=("/state",)), "degraded", "disk of /state", "no room left", id="disk-full"
        ),
        pytest.param(
            replace(WELL, daemons=(Daemon("gpu-0", "slurmd", "down"),)),
            "degraded",
            "slurmd on gpu-0",
            "is down",
            id="daemon-down",
        ),
        pytest.param(
            replace(WELL, daemons=(Daemon("gpu-0", "slurmd", "unknown"),)),
            "unknown",
            "slurmd on gpu-0",
            "could not be read",
            id="daemon-unknown",
        ),
        pytest.param(
            replace(WELL, nodes=(node("gpu-0"),)), "degraded", "node gpu-1", "missing in Slurm", id="missing"
        ),
        pytest.param(replace(WELL, nodes=()), "degraded", "node gpu-[0-1]", "missing", id="none-there"),
        pytest.param(
            replace(WELL, nodes=(node("gpu-0"), node("gpu-1", "IDLE+DRAIN", "fan"))),
            "degraded",
            "node gpu-1",
            "idle+drain, fan",
            id="drained",
        ),
        pytest.param(
            replace(WELL, nodes=(node("gpu-0"), node("gpu-1", "???"))),
            "unknown",
            "node gpu-1",
            "no reason given",
            id="state-unknown",
        ),
        pytest.param(
            replace(WELL, nodes=(node("gpu-0"), node("gpu-1", cpus=4))),
            "degraded",
            "CPUs",
            "counts 12, the spec asks for 16",
            id="too-few-cpus",
        ),
        pytest.param(
            replace(WELL, nodes=(node("gpu-0"), node("gpu-1", gres=""))),
            "degraded",
            "GPUs",
            "counts 2, the spec asks for 4",
            id="too-few-gpus",
        ),
        pytest.param(
            replace(WELL, nodes=(node("gpu-0"), node("gpu-1", gres="gpu:b200:x:y:z"))),
            "unknown",
            "node gpu-1",
            "GRES that could not be read",
            id="gres-unread",
        ),
        pytest.param(replace(WELL, state="stopped"), "stopped", "cluster quick", "is stopped", id="stopped"),
        pytest.param(replace(WELL, state="absent"), "stopped", "cluster quick", "not here", id="absent"),
    ],
)
def test_each_fault_is_told_and_never_healthy(
    seen: Observation, status: str, subject: str, message: str
) -> None:
    report = assess(seen)

    assert not report.ok
    assert report.status == status
    (finding,) = errors(report)
    assert finding.subject == subject
    assert message in finding.message
    assert report.next_command.startswith("npa soperator ")


def test_a_fault_outweighs_what_is_unknown() -> None:
    assert assess(replace(WELL, jobs=None, nodes=(node("gpu-0"),))).status == "degraded"


def test_capacity_is_unknown_where_nodes_are() -> None:
    assert assess(replace(WELL, nodes=None)).schedulable is None


def test_what_cannot_take_jobs_does_not_count() -> None:
    report = assess(replace(WELL, nodes=(node("gpu-0"), node("gpu-1", "DOWN*", "Not responding"))))

    assert report.schedulable == Capacity(1, 8, 2)
    assert (
        report.next_command == "npa soperator exec controller-0 --cluster quick -- scontrol show node gpu-1"
    )


def test_nodes_with_one_fault_are_one_finding() -> None:
    names = tuple(f"cpu-{number}" for number in range(200))
    down = tuple(node(name, "DOWN*", "Not responding", gres="") for name in names)

    report = assess(replace(WELL, expected_workers=names, expected_cpus=1600, expected_gpus=0, nodes=down))

    assert [finding.subject for finding in report.findings] == ["node cpu-[0-199]"]


def test_a_foreign_node_is_a_warning_and_no_capacity() -> None:
    report = assess(replace(WELL, nodes=(node("gpu-0"), node("gpu-1"), node("old-0"))))

    assert report.ok
    assert [(each.severity, each.subject) for each in report.findings] == [("warning", "node old-0")]
    assert report.schedulable == Capacity(2, 16, 4)


def test_a_stopped_cluster_has_one_finding_whatever_else_is_unread() -> None:
    report = assess(replace(WELL, state="stopped", nodes=None, jobs=None, daemons=()))

    assert len(report.findings) == 1
    assert report.next_command.startswith("npa soperator deploy ")


def test_a_fault_points_to_the_logs_of_its_node() -> None:
    report = assess(replace(WELL, daemons=(Daemon("gpu-0", "slurmd", "down"),)))

    assert report.next_command == "npa soperator logs gpu-0 --cluster quick"
