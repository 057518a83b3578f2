"""What differs between a local cluster that should be and the one that is there; pure."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from npa.render.local import power
from npa.render.local.desired import Desired
from npa.render.local.model import Node
from npa.render.local.world import World
from npa.slurm import conf


@dataclass(frozen=True, slots=True)
class Changes:
    """The differences, each node and file in exactly one place."""

    start: tuple[Node, ...]  # not running
    replace: tuple[Node, ...]  # running, but put together otherwise
    remove: tuple[str, ...]  # running, and no longer asked for
    power_up: tuple[Node, ...]  # elastic, wanted by Slurm, and not running
    power_down: tuple[str, ...]  # elastic, running, and let go of by Slurm
    keep: tuple[Node, ...]
    daemons: tuple[tuple[str, str], ...]  # (node, daemon) that should run on a kept node and does not
    unlinked: tuple[str, ...]  # kept nodes that are cut off the network
    write: tuple[str, ...]  # paths
    delete: tuple[str, ...]

    @property
    def leaving(self) -> frozenset[str]:
        """Nodes whose present incarnation ends."""
        return frozenset(self.remove) | {node.name for node in self.replace}


def compare(desired: Desired, world: World) -> Changes:
    """Return what differs."""
    start: list[Node] = []
    replace: list[Node] = []
    keep: list[Node] = []
    power_up: list[Node] = []
    power_down: list[Node] = []
    elastic, powered = desired.cluster.elastic, power.wanted(desired.cluster, world.slurm)
    for node in desired.nodes:
        running = world.nodes.get(node.name)
        if node.name in elastic and powered.get(node.name) is (running is None):
            # Slurm's wish and what runs differ
            (power_up if running is None else power_down).append(node)
        elif running is None:
            start += [] if node.name in elastic else [node]
        elif running.fingerprint != desired.fingerprint(node):
            replace.append(node)
        else:
            keep.append(node)
    wanted = {node.name for node in desired.nodes}
    texts = {file.path: file.text for file in desired.files}
    return Changes(
        start=tuple(start),
        replace=tuple(replace),
        remove=tuple(name for name in world.nodes if name not in wanted),
        power_up=tuple(power_up),
        power_down=tuple(node.name for node in power_down),
        keep=tuple(keep),
        daemons=tuple(
            (node.name, process.name)
            for node in keep
            for process in node.processes
            if process.name not in world.nodes[node.name].daemons
        ),
        unlinked=tuple(node.name for node in keep if not world.nodes[node.name].linked),
        write=tuple(path for path, text in texts.items() if world.files.get(path) != text),
        delete=tuple(path for path in world.files if path not in texts),
    )


def changed_keys(old: str, new: str) -> frozenset[str]:
    """Return the keys, in lower case, of the lines that two slurm.conf texts do not share."""
    lines = set(conf.parse(old)) ^ set(conf.parse(new))
    return frozenset(line.key for line in lines if line.key)


def diff(name: str, old: str, new: str) -> str:
    """Return a unified diff of one file."""
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), f"{name} now", f"{name} then", n=0, lineterm=""
    )
    return "\n".join(lines)
