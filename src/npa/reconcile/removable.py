"""Whether a worker may be removed: the one place that says so, and everything asks it.

A yes needs proof that nothing runs there: an answer of slurmctld that is fresh, complete and of this node, or
a pod whose containers have never started or have all ended. Everything else is a no that says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from npa.reconcile.settings import Settings
from npa.reconcile.world import SlurmView, World
from npa.render.objects import Object, dig, name_of
from npa.slurm import reasons
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.slurm.replies import SlurmNodeReply

_OFF = frozenset({"POWERED_DOWN", "POWERING_DOWN"})
_REBOOTS = frozenset({"REBOOT_REQUESTED", "REBOOT_ISSUED"})
_ENDED = frozenset({"Failed", "Succeeded"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether it may be removed, and why, or why not."""

    yes: bool
    why: str
    asked_slurm: bool = True  # slurmctld has to say so once more right before
    as_seen: bool = False  # only of the pod's version that was seen


@dataclass(frozen=True, slots=True)
class Answer:
    """What slurmctld answered, ordered by node; `refused` says why it proves nothing."""

    refused: str = ""
    nodes: Mapping[str, SlurmNodeReply] = field(default_factory=dict)
    missing: Absent | Unknown = field(default_factory=Absent)  # what a node is that is not among them
    jobs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # that hold a node

    def node(self, name: str) -> Lookup[SlurmNodeReply]:
        """Return one node of slurmctld's."""
        if self.refused:
            return Unknown(self.refused)
        found = self.nodes.get(name)
        return self.missing if found is None else Found(found)

    def says(self, name: str) -> Verdict:
        """Say whether it proves that nothing runs on a node, or can begin to."""
        found = self.node(name)
        if not isinstance(found, Found):
            return Verdict(False, found.why if isinstance(found, Unknown) else "slurmctld does not list it")
        jobs = self.jobs.get(name, ())
        if jobs:
            return Verdict(False, f"it runs {_listed(jobs)}")
        return _state(found.value)


def answer(view: SlurmView, now: float, settings: Settings) -> Answer:
    """Return what a view of Slurm proves: nothing where it is old or not whole."""
    if now - view.read_at > settings.slurm_fresh:
        return Answer("slurmctld has not answered for a while")
    if not isinstance(view.nodes, Found):
        return Answer(f"slurmctld's nodes are not known: {_why(view.nodes)}")
    if not isinstance(view.jobs, Found):
        return Answer(f"slurmctld's jobs are not known: {_why(view.jobs)}")
    problems = (*view.jobs.value.problems, *view.nodes.value.problems)
    if view.jobs.value.problems:
        return Answer(f"a job could not be read: {problems[0]}")
    if not len(view.nodes.value):
        return Answer("slurmctld lists no nodes at all")
    jobs: dict[str, tuple[str, ...]] = {}
    for job in view.jobs.value:
        for name in job.nodes if job.state.holds_nodes else ():
            jobs[name] = (*jobs.get(name, ()), job.id)
    nodes = {node.name: node for node in view.nodes.value}
    missing = Unknown(problems[0]) if problems else Absent()
    return Answer("", nodes, missing, jobs)


def slurm_says(view: SlurmView, node: str, now: float, settings: Settings) -> Verdict:
    """Say whether slurmctld's answer proves that nothing runs on a node, or can begin to."""
    return answer(view, now, settings).says(node)


def removable(world: World, pod: Object, slurm: Answer) -> Verdict:
    """Say whether a worker's pod may be deleted now."""
    if dig(pod, "metadata", "deletionTimestamp"):
        return Verdict(False, "it is being deleted already")
    if "Pod" in world.unread:
        return Verdict(False, "pods could not be read")
    if ended(pod):
        return Verdict(True, "its containers have ended", asked_slurm=False)
    if never_started(pod):
        return Verdict(True, "it has never started", asked_slurm=False, as_seen=True)
    return slurm.says(name_of(pod))


def _state(node: SlurmNodeReply) -> Verdict:
    """Say what a node's state allows where no job is listed on it."""
    state = node.state
    if state.unknown:
        return Verdict(False, "slurmctld tells no state of it")
    if state.busy or node.alloc_cpus or node.alloc_memory:
        return Verdict(False, f"it is in use, says slurmctld: {state}")
    if state.flags & _REBOOTS:
        return Verdict(False, "it reboots")
    if "DRAIN" in state.flags:
        reason = reasons.parse(node.reason, node.reason_user)
        if reason.owner in ("person", "nobody"):
            who = node.reason_user or "somebody"
            return Verdict(False, f"{who} drained it: {reason.text or 'no reason given'}")
        return Verdict(True, f"it is drained: {reason.text}")
    if state.flags & _OFF and "POWERING_UP" not in state.flags:
        return Verdict(True, "Slurm has let go of it")
    return Verdict(False, "it is not drained")


def ended(pod: Object) -> bool:
    """Say whether a pod's containers have ended for good."""
    return dig(pod, "status", "phase") in _ENDED


def never_started(pod: Object) -> bool:
    """Say whether no container that could run a job has ever started in a pod.

    Only as of the version that was seen: whoever deletes the pod names that version.
    """
    if dig(pod, "status", "phase") not in (None, "Pending"):
        return False
    return not any(_ran(status) for status in _statuses(pod))


def _statuses(pod: Object) -> Iterator[Mapping[str, Any]]:
    listed = dig(pod, "status", "containerStatuses")
    yield from (row for row in listed or () if isinstance(row, Mapping))


def _ran(status: Mapping[str, Any]) -> bool:
    ran = dig(status, "state", "running") or dig(status, "state", "terminated") or dig(status, "lastState")
    return bool(ran) or bool(status.get("restartCount")) or bool(status.get("started"))


def _why(answer: object) -> str:
    return answer.why if isinstance(answer, Unknown) else "there is no slurmctld"


def _listed(jobs: tuple[str, ...], most: int = 5) -> str:
    shown = ", ".join(jobs[:most])
    more = f" and {len(jobs) - most} more" if len(jobs) > most else ""
    return f"job {shown}{more}" if len(jobs) == 1 else f"jobs {shown}{more}"
