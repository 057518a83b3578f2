"""Why a job waits, runs or ended, from values alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from npa.health import explain, fits
from npa.health.explain import Explanation, Place
from npa.health.explain_job import JobFacts, explain_job
from npa.slurm.job_detail import JobDetail, Request
from npa.slurm.lookup import Found, Unknown
from npa.slurm.quantity import Gres
from npa.slurm.replies import SlurmJobReply, SlurmNodeReply
from npa.slurm.states import JobState, NodeState
from npa.slurm.wire import ExitCode

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ON_CONTROLLER = "npa soperator exec controller-0 --cluster quick -- "
DRAINED = "gpu-1 takes no jobs: idle+drain, rack move"
SACCT = f"{ON_CONTROLLER}sacct -j 12 --format=JobID,State,ExitCode,MaxRSS,ReqMem,NodeList"


def node(
    name: str, memory: int = 16384, gres: str = "", state: str = "IDLE", **more: object
) -> SlurmNodeReply:
    made = SlurmNodeReply(
        name, NodeState.parse(state), cpus=4, real_memory=memory, gres=gres, partitions=("main",)
    )
    return replace(made, **more)  # type: ignore[arg-type]


NODES = (
    node("cpu-0", features=("amd",)),
    node("cpu-1", alloc_memory=8192, alloc_cpus=2),
    node("gpu-0", 65536, "gpu:b200:8", gres_used="gpu:b200:6(IDX:0-5)"),
    node("gpu-1", 65536, "gpu:b200:8", "IDLE+DRAIN", reason="rack move"),
)


def job(state: str, reason: str = "", request: Request | None = None, **more: object) -> JobDetail:
    details = {key: more.pop(key) for key in tuple(more) if key not in SlurmJobReply.__slots__}
    reply = SlurmJobReply("12", 12, "alice", "train", JobState.parse(state), partition="main", reason=reason)
    reply = replace(reply, **more)  # type: ignore[arg-type]
    return replace(JobDetail(reply, request=request or Request()), **details)  # type: ignore[arg-type]


def explained(*jobs: JobDetail, accounting: bool = True, nodes: object = None) -> tuple[Explanation, ...]:
    seen = Found(NODES) if nodes is None else nodes
    facts = JobFacts(Place("quick"), NOW, jobs, "slurmctld", seen, accounting)  # type: ignore[arg-type]
    return explain_job(facts)


@pytest.mark.parametrize(
    ("seen", "verdict", "cause", "evidence", "command"),
    [
        pytest.param(
            job("PENDING", "JobHeldUser"),
            "action",
            "its user held it",
            (),
            f"{ON_CONTROLLER}scontrol release 12",
            id="held",
        ),
        pytest.param(
            job("PENDING", "Resources", Request(memory_per_node=20_000)),
            "waits",
            "what it asks for is in use",
            ("gpu-1 takes no jobs: idle+drain, rack move",),
            f"{ON_CONTROLLER}squeue --start -j 12",
            id="resources",
        ),
        pytest.param(
            job("PENDING", "ReqNodeNotAvail", Request(required_nodes="gpu-1"), wants=("gpu-1",)),
            "action",
            "a node that it needs is drained, down, reserved or kept for another job",
            ("gpu-1 takes no jobs: idle+drain, rack move",),
            "npa soperator explain-node gpu-1 --cluster quick",
            id="its-node-is-drained",
        ),
        pytest.param(
            job("PENDING", "BadConstraints", Request(memory_per_node=900_000)),
            "action",
            "no node can ever give what it asks for",
            ("it asks for 878.9G memory on a node of partition main; the most there is on one is 64G",),
            f"{ON_CONTROLLER}sinfo -Nel",
            id="never-enough-memory",
        ),
        pytest.param(
            job("PENDING", "BeginTime", eligible_at=NOW + timedelta(hours=1)),
            "waits",
            "its begin time is still to come, or it was requeued a moment ago",
            ("may start 2026-11-30T13:00:00Z (in 1 h)",),
            f"{ON_CONTROLLER}scontrol show job 12",
            id="begin-time",
        ),
        pytest.param(
            job("PENDING", "DependencyNeverSatisfied", dependency="afterok:9(failed)"),
            "action",
            "the job that it depends on ended in the wrong way, so this one never starts",
            ("dependency: afterok:9(failed)",),
            f"{ON_CONTROLLER}scontrol show job 12",
            id="dependency",
        ),
        pytest.param(
            job("PENDING", "QOSMaxMemoryPerUser"),
            "waits",
            "its user's jobs have all the memory that they may",
            (),
            f"{ON_CONTROLLER}sacctmgr show qos",
            id="qos",
        ),
        pytest.param(
            job("OUT_OF_MEMORY", request=Request(memory_per_node=50), exit_code=ExitCode(0, 125)),
            "action",
            "the kernel ended it when it took more memory than it asked for",
            ("it asked for 50M on each node", "ended by signal 125 (out of memory)"),
            SACCT,
            id="oom",
        ),
        pytest.param(
            job("FAILED", "NonZeroExitCode", exit_code=ExitCode(7), output="/home/alice/it's $(x).out"),
            "action",
            "exit code 7",
            ("slurmctld says: NonZeroExitCode",),
            "npa soperator exec login-0 --cluster quick -- tail -n 40 '/home/alice/it'\"'\"'s $(x).out'",
            id="failed",
        ),
        pytest.param(
            job("FAILED", exit_code=ExitCode(127), output="slurm-%j.out"),
            "action",
            "exit code 127: a command was not found",
            (),
            SACCT,
            id="command-not-found",
        ),
        pytest.param(
            job("FAILED", exit_code=ExitCode(137)),
            "action",
            "exit code 137: a command was ended by signal 9 (SIGKILL)",
            (),
            SACCT,
            id="signal-in-a-shell",
        ),
        pytest.param(
            job("TIMEOUT", time_limit=90),
            "action",
            "Slurm ended it at its time limit of 01:30:00",
            (),
            SACCT,
            id="timeout",
        ),
        pytest.param(
            job("NODE_FAIL", nodes=("cpu-0", "gpu-1"), failed_node="gpu-1"),
            "action",
            "its node gpu-1 failed",
            ("gpu-1 is idle+drain now: rack move",),
            "npa soperator explain-node gpu-1 --cluster quick",
            id="node-fail",
        ),
        pytest.param(
            job("CANCELLED", "JobHeldUser", cancelled_by="bob"),
            "fine",
            "by bob before it started",
            ("it waited because of JobHeldUser",),
            SACCT,
            id="cancelled",
        ),
        pytest.param(
            job("SUSPENDED", nodes=("cpu-0",)),
            "action",
            "it is suspended: it keeps its memory and runs on later",
            (),
            f"{ON_CONTROLLER}scontrol resume 12",
            id="suspended",
        ),
    ],
)
def test_the_first_cause_explains_it(
    seen: JobDetail, verdict: str, cause: str, evidence: tuple[str, ...], command: str
) -> None:
    (found,) = explained(seen)

    assert (found.verdict, found.causes[0].what, found.next_command) == (verdict, cause, command)
    assert set(evidence) <= set(found.causes[0].evidence)


def test_a_running_job_says_where_since_when_and_until() -> None:
    seen = job(
        "RUNNING",
        nodes=("cpu-0", "cpu-1"),
        started_at=NOW - timedelta(hours=2),
        time_limit=240,
        ended_at=NOW + timedelta(hours=2),
    )
    (found,) = explained(seen)

    assert found.verdict == "fine"
    assert found.summary == (
        "running on cpu-[0-1] since 2026-11-30T10:00:00Z (2 h ago), time limit 04:00:00, "
        "ends 2026-11-30T14:00:00Z (in 2 h) at the latest"
    )


def test_a_running_job_on_a_dead_node_is_not_fine() -> None:
    down = Found((node("cpu-0", state="DOWN+NOT_RESPONDING", reason="Not responding"),))
    (found,) = explained(job("RUNNING", nodes=("cpu-0",)), nodes=down)

    assert found.verdict == "action"
    assert found.next_command == f"{ON_CONTROLLER}scontrol show job 12"
    assert found.causes[0].command == "npa soperator explain-node cpu-0 --cluster quick"


def test_tasks_that_look_alike_share_an_explanation_and_those_to_act_on_come_first() -> None:
    tasks = [
        *(
            job("COMPLETED", id=f"5_{n}", number=n, array=5, task=n, exit_code=ExitCode(0))
            for n in range(1, 9)
        ),
        job("FAILED", id="5_9", number=19, array=5, task=9, exit_code=ExitCode(1)),
    ]
    failed, completed = explained(*tasks)

    assert (failed.subject, failed.verdict) == ("job 5_9", "action")
    assert completed.subject == "jobs 5_1, 5_2, 5_3, 5_4, 5_5 and 3 more"


def test_without_accounting_nobody_is_sent_to_sacct() -> None:
    (found,) = explained(job("CANCELLED"), accounting=False)

    assert found.next_command == f"{ON_CONTROLLER}scontrol show job 12"
    assert found.summary == "cancelled: by somebody before it started"


def test_nodes_that_could_not_be_read_are_never_taken_for_none() -> None:
    (found,) = explained(job("PENDING", "Resources"), nodes=Unknown("timed out"))

    assert found.verdict == "waits"
    assert found.unread == ("the nodes: timed out",)


@pytest.mark.parametrize(
    ("request_", "never"),
    [
        (Request(nodes=4, memory_per_node=16_384), ()),
        (Request(nodes=9), ("it asks for 9 nodes; partition main has 4",)),
        (Request(cpus=99), ("it asks for 99 CPUs; partition main has 16",)),
        (
            Request(cpus_per_node=8),
            ("it asks for 8 CPUs on a node of partition main; the most there is on one is 4",),
        ),
        (
            Request(gres_per_node=(Gres("gpu", "b200", 16),)),
            ("it asks for 16 gpu:b200 on a node of partition main; the most there is on one is 8",),
        ),
        (
            Request(gres_per_node=(Gres("gpu", "h100", 1),)),
            ("it asks for 1 gpu:h100 on a node of partition main; the most there is on one is 0",),
        ),
        (
            Request(memory_per_cpu=20_000, cpus_per_node=4),
            ("it asks for 78.1G memory on a node of partition main; the most there is on one is 64G",),
        ),
        (
            Request(memory_per_node=65_536, required_nodes="cpu-0"),
            ("it asks for 64G memory on a node of cpu-0; the most there is on one is 16G",),
        ),
        (Request(required_nodes="tpu-0"), ("it asks for tpu-0, which partition main does not have",)),
        (Request(features="infiniband"), ("it asks for nodes with infiniband; partition main has none",)),
        (Request(features="amd|intel"), ()),
        (
            Request(nodes=3, memory_per_node=65_536),
            ("2 nodes of partition main have all that it asks of each; it asks for 3",),
        ),
        (
            Request(features="amd", gres_per_node=(Gres("gpu"),)),
            ("0 nodes of partition main have all that it asks of each; it asks for 1",),
        ),
        (Request(excluded_nodes="cpu-[0-1],gpu-[0-1]"), ("partition main has no node that it may use",)),
    ],
)  # fmt: skip
def test_what_no_node_could_ever_give(request_: Request, never: tuple[str, ...]) -> None:
    assert fits.never(job("PENDING", request=request_), NODES) == never


@pytest.mark.parametrize(
    ("request_", "now"),
    [
        (
            Request(required_nodes="cpu-1", memory_per_node=12_288),
            ("it needs 12G memory on a node; the most that is free is 8G, on cpu-1",),
        ),
        (
            Request(gres_per_node=(Gres("gpu", "", 4),)),
            (DRAINED, "it needs 4 gpu on a node; the most that are free are 2"),
        ),
        (Request(cpus=11), (DRAINED, "it needs 11 CPUs; 10 are free on nodes that it may use")),
        (Request(required_nodes="cpu-0"), ()),
    ],
)
def test_what_stands_in_its_way_now(request_: Request, now: tuple[str, ...]) -> None:
    assert fits.now(job("PENDING", request=request_), NODES) == now


def test_a_node_whose_gres_cannot_be_read_is_not_called_too_small() -> None:
    odd = (node("gpu-0", gres="gpu:b200:=8"),)

    assert fits.never(job("PENDING", request=Request(gres_per_node=(Gres("gpu", "", 8),))), odd) == ()


def test_as_json() -> None:
    document = explain.to_dict(explain.JOB_SCHEMA, explained(job("PENDING", "Resources")))

    assert document["schema_version"] == "npa.soperator.explain-job/v1"
    assert document["explanations"][0]["state"] == "pending"
