"""Each worker of a set, seen from both sides: its pod in Kubernetes, and its node in Slurm."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from npa.reconcile import nodeset_ordinals
from npa.reconcile.removable import Answer
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.kube import names, worker
from npa.render.objects import Object, dig, is_true
from npa.slurm import reasons, slurm_reasons
from npa.slurm.lookup import Found, Lookup
from npa.slurm.replies import SlurmNodeReply

Machine = Literal["none", "there", "cordoned", "gone", "unknown"]
# how the clocks of a node and of the API server may differ
_SKEW = timedelta(seconds=30)
# what slurmctld appends while the old pod goes and the new one comes: no longer so once that registers
_PAST = frozenset({"not_responding", "power", "power_overdue", "reboot", "rebooted"})
_NOT_HERE = frozenset({"NOT_RESPONDING", "POWERED_DOWN", "POWERING_DOWN", "POWERING_UP", "REBOOT_ISSUED"})


@dataclass(frozen=True, slots=True)
class Worker:
    """One ordinal of a set."""

    name: str
    ordinal: int
    pod: Object | None
    slurm: Lookup[SlurmNodeReply]
    wanted: bool = True
    current: bool = True  # its pod was made from the template that is wanted now
    machine: Machine = "none"  # the Kubernetes node below it
    going: bool = False  # its pod is being deleted
    ready: bool = False  # its pod says that it is ready

    @property
    def node(self) -> SlurmNodeReply | None:
        """What Slurm says of it, where that is known."""
        return self.slurm.value if isinstance(self.slurm, Found) else None

    @property
    def in_service(self) -> bool:
        """Whether it takes jobs, by all that is known."""
        return self.ready and self.node is not None and self.node.state.schedulable

    @property
    def drained_by_us(self) -> bool:
        """Whether the drain that it bears is one that this controller set, and nobody touched since."""
        return self.drain in ("ours", "ours, and down since")

    @property
    def drain(self) -> Literal["", "ours", "ours, and down since", "another's", "held"]:
        """Whose drain it bears; `held`: a person's, who wants the pod as it is."""
        if self.node is None or "DRAIN" not in self.node.state.flags:
            return ""
        parsed = reasons.parse(self.node.reason, self.node.reason_user)
        if parsed.owner in ("person", "nobody"):
            return "held"
        if parsed.owner != "npa" or parsed.text not in LEAVING.values():
            return "another's"
        if not parsed.also:
            return "ours"
        known = [slurm_reasons.find(each) for each in parsed.also]
        return (
            "ours, and down since" if {each.kind if each else "" for each in known} <= _PAST else "another's"
        )

    @property
    def up(self) -> bool:
        """Whether the slurmd of just this pod has registered with slurmctld and still answers."""
        if not self.ready or self.node is None or self.node.state.unknown:
            return False
        if self.node.state.flags & _NOT_HERE:
            return False
        made, started = moment(self.pod, "metadata", "creationTimestamp"), self.node.slurmd_start_time
        return made is None or (started is not None and started + _SKEW >= made)


# why this controller drains, for good: the words are how it knows its own drains again
LEAVING = {
    "remove": reasons.leaving("worker is removed"),
    "replace": reasons.leaving("worker is replaced"),
}


def gather(
    world: World, nodeset: str, wanted: Iterable[int], template: str, slurm: Answer, settings: Settings
) -> tuple[Worker, ...]:
    """Return the workers that are wanted and those that have a pod, by ordinal."""
    pods: dict[int, Object] = {}
    for pod in world.pods(nodeset):
        ordinal = nodeset_ordinals.of_pod(pod, nodeset)
        if ordinal is not None:
            pods[ordinal] = pod
    every = frozenset(wanted)
    found = []
    for ordinal in sorted(every | pods.keys()):
        name, pod_ = worker.name_of(nodeset, ordinal), pods.get(ordinal)
        current = dig(pod_, "metadata", "annotations", names.TEMPLATE) == template
        below = machine(world, pod_, settings)
        going = dig(pod_, "metadata", "deletionTimestamp") is not None
        ready = pod_ is not None and not going and is_true(pod_, "Ready")
        known = slurm.node(name)
        found.append(Worker(name, ordinal, pod_, known, ordinal in every, current, below, going, ready))
    return tuple(found)


def machine(world: World, pod: Object | None, settings: Settings) -> Machine:
    """Say whether the Kubernetes node below a pod is there; a young pod may be ahead of what was read."""
    name = dig(pod, "spec", "nodeName")
    if not name:
        return "none"
    if name in world.nodes:
        return "cordoned" if dig(world.nodes[name], "spec", "unschedulable") else "there"
    if "Node" in world.unread or not world.nodes or age(pod, world.now) < settings.orphan_grace:
        return "unknown"
    return "gone"


def age(pod: Object | None, now: float) -> float:
    """Return for how many seconds a pod has been there; 0 where it does not say."""
    made = moment(pod, "metadata", "creationTimestamp")
    return max(0.0, now - made.timestamp()) if made else 0.0


def moment(found: object, *path: str) -> datetime | None:
    """Return a moment of an object."""
    text = dig(found, *path)
    try:
        parsed = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return parsed.replace(tzinfo=parsed.tzinfo or UTC) if parsed else None
