"""A cluster with a little of everything that a page shows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from npa.health.assess import Capacity, Finding, Report
from npa.health.observation import Daemon
from npa.page.facts import Facts, Group, Past, Topology
from npa.plan.history import Applied, History
from npa.slurm.job_detail import JobDetail, Request
from npa.slurm.lookup import Found
from npa.slurm.replies import Rows, SlurmJobReply, SlurmNodeReply
from npa.slurm.states import JobState, NodeState
from npa.slurm.usage import PastJob

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def ago(**amount: float) -> datetime:
    return NOW - timedelta(**amount)


def node(
    name: str,
    state: str,
    used: int = 0,
    *,
    gpus: bool = False,
    reason: tuple[str, str] = ("", ""),
    since: datetime | None = None,
) -> SlurmNodeReply:
    cpus, memory = (160, 1_835_008) if gpus else (16, 65_536)
    return SlurmNodeReply(
        name,
        NodeState.parse(state),
        reason=reason[0],
        reason_user=reason[1],
        reason_changed_at=since,
        cpus=cpus,
        alloc_cpus=used,
        real_memory=memory,
        alloc_memory=memory * used // cpus,
        gres="gpu:b200:8" if gpus else "",
        gres_used=f"gpu:b200:{8 * used // cpus}(IDX:0-7)" if gpus else "",
        partitions=("main", "train") if gpus else ("main",),
    )


def job(number: int, state: str, **changes: object) -> JobDetail:
    known: dict[str, object] = {
        "partition": "train",
        "submitted_at": ago(hours=3),
        "time_limit": 1440,
        **changes,
    }
    tres = str(known.pop("asks", "cpu=160,mem=1T,node=1,gres/gpu=8"))
    name = str(known.pop("called", "pretrain"))
    reply = SlurmJobReply(str(number), number, "alice", name, JobState.parse(state), **known)  # type: ignore[arg-type]
    return JobDetail(reply, request=Request(nodes=1, cpus=1, tres=tres))


NODES = (
    node("gpu-0", "ALLOCATED", 160, gpus=True),
    node("gpu-1", "MIXED", 80, gpus=True),
    node("gpu-2", "IDLE+DRAIN", gpus=True, reason=("fan is loud", "bob"), since=ago(hours=20)),
    node(
        "gpu-3", "MIXED+DRAIN", 40, gpus=True, reason=("npa: pool gpu shrinks", "root"), since=ago(minutes=9)
    ),
    node("cpu-0", "IDLE"),
    node("cpu-1", "DOWN+NOT_RESPONDING", reason=("Not responding", "slurm"), since=ago(hours=2)),
    node("cpu-2", "IDLE+POWERED_DOWN"),
    node("cpu-3", "UNKNOWN"),
)
JOBS = (
    job(101, "RUNNING", nodes=("gpu-0",), started_at=ago(hours=2.5), tres="cpu=160,mem=1T,gres/gpu=8"),
    job(102, "RUNNING", nodes=("gpu-1",), started_at=ago(hours=1), tres="cpu=80,gres/gpu=4", called="eval"),
    job(103, "PENDING", reason="Resources"),
    job(104, "PENDING", reason="JobHeldUser", called="<script>alert(1)</script>"),
)
PAST = (
    *(
        PastJob(
            str(number),
            JobState.parse("COMPLETED"),
            ("alice", "bob", "carol")[number % 3],
            submitted_at=ago(hours=166 - 9 * number),
            started_at=ago(hours=165 - 9 * number + number % 2),
            ended_at=ago(hours=158 - 9 * number),
            cpus=(320, 160, 480)[number % 3],
            gpus=(16, 8, 24)[number % 3],
        )
        for number in range(1, 17)
    ),
    PastJob("101", JobState.parse("RUNNING"), "alice", ago(hours=3), ago(hours=2.5), None, 160, 8),
    PastJob("103", JobState.parse("PENDING"), "alice", ago(hours=3)),
)
PLANS = (
    Applied(
        "a", "deploy", ago(days=6), ("build image", "create cluster", "start lab quick"), 3, "done", 3, 74.2
    ),
    Applied(
        "b",
        "repair",
        ago(days=1),
        ("restart slurmd on cpu-1",),
        1,
        "failed",
        0,
        30.0,
        "slurmd did not come up in 30 s",
    ),
    Applied("c", "deploy", ago(minutes=10), ("drain gpu-3", "stop gpu-3"), 2),
)
REPORT = Report(
    name="quick",
    target="local",
    ok=False,
    status="degraded",
    nominal=Capacity(8, 704, 32),
    schedulable=Capacity(3, 336, 16),
    findings=(
        Finding(
            "error",
            "node cpu-1",
            "takes no jobs: down, Not responding",
            "start it, then `scontrol update nodename=cpu-1 state=resume`",
            "npa soperator logs cpu-1 --cluster quick",
        ),
        Finding("warning", "node old-0", "is in Slurm and not in the spec"),
    ),
    jobs=(("pending", 2), ("running", 2)),
    daemons=(
        Daemon("controller-0", "slurmctld", "up", 1),
        Daemon("accounting-0", "slurmdbd", "up", 2),
        Daemon("accounting-0", "mariadbd", "up", 3),
        Daemon("login-0", "sshd", "down"),
    ),
    slurm_version="26.05.5",
)  # fmt: skip
TOPOLOGY = Topology(
    controllers=("controller-0", "controller-1"),
    logins=("login-0",),
    others=("accounting-0",),
    pools=(
        Group("gpu", tuple(f"gpu-{index}" for index in range(4)), "160 CPUs, 1792G, 8 b200 GPUs"),
        Group("cpu", tuple(f"cpu-{index}" for index in range(4)), "16 CPUs, 64G"),
    ),
    partitions=(
        Group("main", tuple(each.name for each in NODES), "default"),
        Group("train", tuple(each.name for each in NODES[:4]), "at most 1440 min"),
    ),
    switches=(
        Group("no-fabric", tuple(each.name for each in NODES[4:])),
        Group("us-central1-b", tuple(each.name for each in NODES[:4])),
    ),
)
FACTS = Facts(
    name="quick",
    target="local",
    now=NOW,
    report=REPORT,
    topology=TOPOLOGY,
    nodes=Found(Rows(NODES)),
    jobs=Found(Rows(JOBS)),
    past=Found(Past(ago(days=7), Rows(PAST))),
    history=Found(History(PLANS, broken=1)),
)
