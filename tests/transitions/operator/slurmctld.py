"""A slurmctld in memory: nodes that register, jobs that run, drains of whoever sets them, and its files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from npa.errors import SlurmError
from npa.reconcile.world import SlurmView
from npa.slurm.lookup import Absent, Found
from npa.slurm.replies import Rows, SlurmJobReply, SlurmNodeReply
from npa.slurm.states import JobState, NodeState

SLURMD_TIMEOUT = 30.0
RESUME_TIMEOUT = 120.0
SUSPEND_TIME = 60.0
SUSPEND_TIMEOUT = 10.0


@dataclass
class Node:
    """A node as slurmctld keeps it."""

    name: str
    elastic: bool = False
    down: bool = False
    flags: set[str] = field(default_factory=lambda: {"CLOUD", "POWERED_DOWN"})
    reason: str = ""
    user: str = ""
    started: float | None = None  # when the slurmd that registered last was started
    asked: float = 0.0  # when it was to power up
    heard: float = 0.0
    idle_since: float = 0.0
    raised_for: int = 0  # the job that it was last powered up for

    @property
    def usable(self) -> bool:
        """Whether a job may have it: one that is off is powered up for the job."""
        return not self.down and not self.flags & {"DRAIN", "POWER_DOWN", "POWERING_DOWN", "NOT_RESPONDING"}


@dataclass
class Job:
    """A job: it waits, or has nodes; `begun` once all of them are there."""

    number: int
    size: int
    ends_after: float
    nodes: tuple[str, ...] = ()
    wants: tuple[str, ...] = ()
    begun: float | None = None
    allocated: float = 0.0


class Slurmctld:
    """What slurmctld knows and does."""

    def __init__(self) -> None:
        self.now = 0.0
        self.up = True
        self.nodes: dict[str, Node] = {}
        self.jobs: dict[int, Job] = {}
        self.digest = ""
        self.lost: list[str] = []  # jobs that ended because their node left the files
        self.drained_by: dict[str, str] = {}  # node -> the reason that a person gave
        self._jobs = 0

    # What is asked of it.

    def view(self, only: str = "") -> SlurmView:
        if not self.up:
            return SlurmView(Absent(), Absent(), Absent(), self.now)
        nodes = tuple(self._node(each) for each in self.nodes.values() if only in ("", each.name))
        jobs = tuple(self._job(each) for each in self.jobs.values() if not only or only in each.nodes)
        return SlurmView(Found(Rows(nodes)), Found(Rows(jobs)), Found(self.digest), self.now)

    def busy(self, name: str) -> bool:
        return any(name in job.nodes for job in self.jobs.values())

    def runs(self, name: str) -> bool:
        return any(name in job.nodes and job.begun is not None for job in self.jobs.values())

    # What it is told.

    def drain(self, name: str, reason: str, user: str) -> None:
        node = self._known(name)
        node.flags.add("DRAIN")
        node.reason, node.user = reason, user
        node.raised_for = 0  # its job waits for it no more than for any other
        self.drained_by.pop(name, None)
        if user not in ("root", "slurm"):
            self.drained_by[name] = reason

    def resume(self, name: str) -> None:
        node = self._known(name)
        node.flags -= {"DRAIN"}
        node.reason = node.user = ""
        node.down = node.down and "NOT_RESPONDING" in node.flags
        self.drained_by.pop(name, None)

    def power_up(self, name: str) -> None:
        node = self._known(name)
        if "POWERED_DOWN" in node.flags:
            node.flags = (node.flags - {"POWERED_DOWN"}) | {"POWERING_UP"}
            node.asked = self.now

    def power_down(self, name: str, reason: str) -> None:
        node = self._known(name)
        for job in self.jobs.values():
            if name in job.nodes:
                self._requeue(job)
        node.flags = (node.flags - {"POWERING_UP", "POWERED_DOWN", "NOT_RESPONDING"}) | {"POWERING_DOWN"}
        node.down, node.reason, node.asked = False, reason, self.now

    def power_down_idle(self, name: str, reason: str) -> None:
        """Power a node down as soon as no job has it."""
        node = self._known(name)
        node.flags.add("POWER_DOWN")
        node.reason = reason

    def reconfigure(self, names: Iterable[str], elastic: Iterable[str], digest: str) -> None:
        """Take files that name these nodes: whoever is not named any more is forgotten, with its jobs."""
        wanted, clouds = set(names), set(elastic)
        for name in sorted(set(self.nodes) - wanted):
            self.lost += [f"job {job.number} of {name}" for job in self.jobs.values() if name in job.nodes]
            for job in [each for each in self.jobs.values() if name in each.nodes or name in each.wants]:
                del self.jobs[job.number]
            del self.nodes[name]
            self.drained_by.pop(name, None)
        for name in sorted(wanted):
            self.nodes.setdefault(name, Node(name)).elastic = name in clouds
        self.digest = digest

    def submit(self, size: int, lasts: float, wants: tuple[str, ...] = ()) -> None:
        self._jobs += 1
        self.jobs[self._jobs] = Job(self._jobs, size, lasts, wants=wants)

    def register(self, name: str, started: float) -> bool:
        """Hear of a slurmd; False where slurmctld does not know its node, or waits for another boot."""
        node = self.nodes.get(name) if self.up else None
        if node is None or ("POWERING_UP" in node.flags and started < node.asked):
            return False
        if "POWERING_DOWN" in node.flags or ("POWERED_DOWN" in node.flags and started < node.asked):
            return False
        if node.flags & {"POWERING_UP", "POWERED_DOWN"}:
            node.idle_since = self.now
        node.flags -= {"POWERING_UP", "POWERED_DOWN", "NOT_RESPONDING"}
        node.down, node.started, node.heard = False, started, self.now
        if "DRAIN" not in node.flags:
            node.reason = ""
        return True

    # What it does by itself.

    def tick(self, now: float) -> None:
        self.now = now
        if not self.up:
            return
        for node in self.nodes.values():
            self._age(node)
        for job in list(self.jobs.values()):
            self._run(job)

    def _age(self, node: Node) -> None:
        silent = self.now - node.heard
        if node.flags & {"POWERED_DOWN"}:
            return
        if "POWERING_UP" in node.flags:
            if self.now - node.asked > RESUME_TIMEOUT:
                node.flags = (node.flags - {"POWERING_UP"}) | {"POWERED_DOWN"}
                node.asked, node.raised_for = 0.0, 0
                self._fail(node, "ResumeTimeout reached")
        elif "POWERING_DOWN" in node.flags:
            if self.now - node.asked > SUSPEND_TIMEOUT:
                node.flags = (node.flags - {"POWERING_DOWN"}) | {"POWERED_DOWN"}
                node.raised_for = 0
        elif "POWER_DOWN" in node.flags and not self.busy(node.name):
            node.flags = (node.flags - {"POWER_DOWN"}) | {"POWERING_DOWN"}
            node.asked = self.now
        elif silent > SLURMD_TIMEOUT and not node.down:
            node.flags.add("NOT_RESPONDING")
            self._fail(node, "Not responding")
        elif self.busy(node.name) or not node.elastic or "DRAIN" in node.flags:
            node.idle_since = self.now
        elif self.now - node.idle_since > SUSPEND_TIME:
            node.flags.add("POWERING_DOWN")
            node.asked = self.now

    def _fail(self, node: Node, why: str) -> None:
        node.down = True
        node.reason = f"{node.reason} : {why}" if node.reason else why
        node.user = node.user or "slurm"
        for job in self.jobs.values():
            if node.name in job.nodes:
                for name in job.nodes:  # those that go on booting do so for nobody
                    self.nodes[name].raised_for = 0
                self._requeue(job)

    def _run(self, job: Job) -> None:
        if job.begun is not None:
            if self.now - job.begun > job.ends_after:
                del self.jobs[job.number]
        elif job.nodes:
            off = {"POWERING_UP", "POWERED_DOWN"}
            if not any(self.nodes[name].flags & off for name in job.nodes):
                job.begun = self.now
        else:
            self._allocate(job)

    def _allocate(self, job: Job) -> None:
        free = [name for name, node in sorted(self.nodes.items()) if node.usable and not self.busy(name)]
        free = [name for name in free if name in job.wants] if job.wants else free
        if len(free) >= job.size:
            job.nodes, job.allocated = tuple(free[: job.size]), self.now
            for name in job.nodes:
                if "POWERED_DOWN" in self.nodes[name].flags:
                    self.nodes[name].raised_for = job.number
                self.power_up(name)

    def _requeue(self, job: Job) -> None:
        job.nodes, job.begun = (), None

    def _known(self, name: str) -> Node:
        if not self.up:
            raise SlurmError("slurmctld does not answer", status=1)
        if name not in self.nodes:
            raise SlurmError(f"Invalid node name specified: {name}", status=1)
        return self.nodes[name]

    def _node(self, node: Node) -> SlurmNodeReply:
        base = "DOWN" if node.down else "ALLOCATED" if self.busy(node.name) else "IDLE"
        started = datetime.fromtimestamp(node.started, UTC) if node.started is not None else None
        state = NodeState(base, frozenset(node.flags))
        return SlurmNodeReply(node.name, state, node.reason, node.user, slurmd_start_time=started)

    def _job(self, job: Job) -> SlurmJobReply:
        flags = frozenset({"CONFIGURING"}) if job.nodes and job.begun is None else frozenset[str]()
        state = JobState("RUNNING" if job.nodes else "PENDING", flags)
        begun = datetime.fromtimestamp(job.allocated, UTC) if job.nodes else None
        return SlurmJobReply(
            str(job.number), job.number, "alice", "job", state, job.nodes, wants=job.wants, started_at=begun
        )
