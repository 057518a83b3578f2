"""Nodes that nobody asks for any more: they leave Slurm's files last, and not before they are drained.

slurmctld ends the jobs of nodes that its new files do not name, and gives jobs to whatever it is not told to
spare, with a pod or without. So a name stays until slurmctld itself proves that nothing can run there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from npa.cluster import names as node_names
from npa.reconcile import nodeset_ordinals, removable
from npa.reconcile.decision import Drain
from npa.reconcile.nodeset_workers import LEAVING
from npa.reconcile.removable import Answer
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.kube import names
from npa.render.objects import dig, name_of
from npa.slurm import conf, hostlist
from npa.slurm.conf import Line
from npa.slurm.lookup import Absent, Found


@dataclass(frozen=True, slots=True)
class Retired:
    """What Slurm's files have to name besides what is asked for, and what comes before they do not."""

    sizes: Mapping[str, int] = field(default_factory=dict)  # NodeSet -> nodes to name, from 0 on
    lines: tuple[Line, ...] = ()  # NodeName lines of NodeSets that are no more
    drain: tuple[Drain, ...] = ()


def retired(world: World, files: str, settings: Settings) -> Retired:
    """Return what has to stay of the nodes in `files`, the slurm.conf that is delivered now."""
    slurm = removable.answer(world.slurm, world.now, settings)
    asked = {name_of(each): set(nodeset_ordinals.of_spec(each)) for each in world.nodesets}
    lines = [line for line in conf.parse(files) if line.key == "nodename"]
    named = {node: line for line in lines for node in _expand(line)}
    spare: list[str] = []
    for node in sorted({*named, *slurm.nodes, *_pods(world)}):
        owner = node_names.owner(node, asked)
        if owner is None or owner[1] not in asked[owner[0]]:
            spare.append(node)
    kept = [node for node in spare if not _proved(world, slurm, node)]
    return Retired(
        {name: _size(name, ordinals, kept) for name, ordinals in asked.items()},
        tuple(_lines(lines, {node for node in kept if node_names.owner(node, asked) is None})),
        tuple(_drains(world, slurm, kept)),
    )


def _proved(world: World, slurm: Answer, node: str) -> bool:
    """Say whether a node may leave the files: no pod, no job that has it or names it, and none can get it."""
    if "Pod" in world.unread or world.find("Pod", node) is not None or slurm.refused:
        return False
    if not isinstance(world.slurm.jobs, Found) or any(node in job.wants for job in world.slurm.jobs.value):
        return False
    found = slurm.node(node)
    if not isinstance(found, Found):
        # the files that slurmctld runs with do not name it, so nothing is lost
        return isinstance(found, Absent)
    return "DRAIN" in found.value.state.flags and slurm.says(node).yes


def _drains(world: World, slurm: Answer, kept: Iterable[str]) -> Iterator[Drain]:
    """Yield the drains of nodes without a pod; those with one are their NodeSet's to drain."""
    for node in kept if "Pod" not in world.unread else ():
        found = slurm.nodes.get(node)
        if found is not None and "DRAIN" not in found.state.flags and world.find("Pod", node) is None:
            yield Drain(node, LEAVING["remove"])


def _size(name: str, ordinals: Iterable[int], kept: Iterable[str]) -> int:
    used = {owner[1] for node in kept if (owner := node_names.owner(node, (name,)))}
    return max({-1, *ordinals, *used}) + 1


def _lines(lines: Sequence[Line], kept: set[str]) -> Iterator[Line]:
    named = {node for line in lines for node in _expand(line)}
    # a pod that no files have named yet: only what slurmctld knows can be drained, and proved to be empty
    unnamed = kept - named
    if unnamed:
        yield conf.line(("NodeName", hostlist.compress(sorted(unnamed))), ("CPUs", 1), ("State", "CLOUD"))
    for line in lines:
        left = [node for node in _expand(line) if node in kept]
        if left:
            rest = [pair for pair in line.pairs if pair[0].lower() not in ("nodename", "nodeaddr")]
            yield conf.line(("NodeName", hostlist.compress(left)), *_address(line, left), *rest)


def _address(line: Line, left: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the addresses of those that stay: in the same domain as before."""
    before = line.get("NodeAddr")
    if before:
        domain = before.rpartition("]")[2] if "]" in before else before[before.find(".") :]
        yield "NodeAddr", hostlist.compress(left) + domain


def _expand(line: Line) -> list[str]:
    try:
        return hostlist.expand(line.get("NodeName"))
    except ValueError:
        return []


def _pods(world: World) -> Iterator[str]:
    for (kind, name), found in world.objects.items():
        if kind == "Pod" and dig(found, "metadata", "labels", names.WORKER) == "true":
            yield name
