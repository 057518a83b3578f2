"""Resources of the recipe in the words of the spec: the pool that a node group is of, and its nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from npa.render.nebius import tfmask
from npa.render.nebius.adapter import Adapter, NodeGroups, Path, Volumes
from npa.render.nebius.tfplan import ResourceChange

GROUP_NODES = 100  # nodes of one node group; a larger pool has several: `gpu-0`, `gpu-1`


@dataclass(frozen=True, slots=True)
class Scale:
    """How many nodes a group holds, at least and at most."""

    low: int
    high: int
    fixed: bool

    def __str__(self) -> str:
        count = f"{self.high}" if self.fixed else f"{self.low} to {self.high}"
        return f"{count} node{'s' * (count != '1')}"

    def shrinks_to(self, other: Scale) -> bool:
        """Whether nodes that are there may go away."""
        return other.high < self.high or (self.fixed and other.low < self.low)


def node_group(change: ResourceChange, adapter: Adapter) -> NodeGroups | None:
    """Return how to read the resource where it holds nodes."""
    return next((each for each in adapter.node_groups if _is(change, each)), None)


def volume(change: ResourceChange, adapter: Adapter) -> Volumes | None:
    """Return how to read the resource where it holds data."""
    return next((each for each in adapter.volumes if _is(change, each)), None)


def attributes(value: Any, root: Path) -> dict[str, Any]:
    """Return the attributes of a resource, from the place where they are."""
    for step in root:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def current(change: ResourceChange, root: Path) -> dict[str, Any]:
    """Return the attributes before the change; what is secret is a `tfmask.Hidden`."""
    return attributes(_open(change.before, change), root)


def planned(change: ResourceChange, root: Path) -> dict[str, Any]:
    """Return the attributes after the change; what is unknown or secret is a `tfmask.Hidden`."""
    found = tfmask.with_unknown(_open(change.after, change), change.unknown)
    for step in root:
        found = found.get(step) if isinstance(found, dict) else found
    if isinstance(found, tfmask.Hidden):
        return dict.fromkeys(current(change, root), found)
    return found if isinstance(found, dict) else {}


def scale(found: dict[str, Any]) -> Scale | None:
    """Return the size of a node group, None where it cannot be told."""
    fixed, bounds = found.get("fixed_node_count"), found.get("autoscaling")
    if type(fixed) is int and bounds is None:
        return Scale(fixed, fixed, True)
    if fixed is None and isinstance(bounds, dict):
        low, high = bounds.get("min_node_count"), bounds.get("max_node_count")
        if type(low) is int and type(high) is int:
            return Scale(low, high, False)
    return None


def subject(change: ResourceChange, adapter: Adapter) -> str:
    """Name a resource: `pool gpu`, `node group system`, `filesystem soperator-x-jail`, or its address."""
    before, after = pools(change, adapter)
    if before or after:
        return f"pool {before or after}"
    if node_group(change, adapter):
        return f"node group {change.name}"
    if kept := volume(change, adapter):
        name = _name(change, change.before, kept.root) or _name(change, change.after, kept.root)
        return f"filesystem {name or change.address}"
    return change.address


def pools(change: ResourceChange, adapter: Adapter) -> tuple[str, str]:
    """Return the pools of workers that the resource is of, before and after; empty where it is of none.

    The recipe names a group after its pool, a hyphen and a number, whatever the pool is called.
    """
    read = node_group(change, adapter)
    if read is None or change.name != read.workers:
        return "", ""
    before, after = (_name(change, value, read.root) for value in (change.before, change.after))
    return before.rpartition("-")[0], after.rpartition("-")[0]


def nodes(change: ResourceChange, adapter: Adapter) -> tuple[str, ...]:
    """Return the Slurm nodes of a worker group as it is now: those that the change is about."""
    read = node_group(change, adapter)
    if read is None or change.name != read.workers:
        return ()
    found = current(change, read.root)
    pool, _, number = _name(change, change.before, read.root).rpartition("-")
    size = scale(found)
    if not pool or not number.isdecimal() or size is None:
        return ()
    first = int(number) * GROUP_NODES
    after = scale(planned(change, read.root)) if change.effect == "update" else None
    kept = after.high if after and size.shrinks_to(after) and after.high < size.high else 0
    return tuple(f"{pool}-{index}" for index in range(first + kept, first + size.high))


def _is(change: ResourceChange, read: NodeGroups | Volumes) -> bool:
    return change.type == read.type and read.name in ("", change.name)


def _open(value: Any, change: ResourceChange) -> Any:
    return tfmask.masked(tfmask.masked(value, change.masks[0]), change.masks[1])


def _name(change: ResourceChange, value: Any, root: Path) -> str:
    """Return the name on one side; empty where there is none, or where it may be secret."""
    name = attributes(value, root).get("name")
    if not isinstance(name, str):
        return ""
    for mask in change.masks:
        for step in (*root, "name"):
            mask = mask.get(step) if isinstance(mask, dict) else mask
        if mask not in (None, False, {}, []):
            return ""
    return name
