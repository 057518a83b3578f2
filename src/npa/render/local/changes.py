"""What differs between a local cluster that should be and the one that is there; pure."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

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
    keep: tuple[Node, ...]
    daemons: tuple[tuple[str, str], ...]  # (node, daemon) that should run on a kept node and does not
    write: tuple[str, ...]  # paths
    delete: tuple[str, ...]

    @property
    def leaving(self) -> frozenset[str]:
        """Nodes whose present incarnation ends."""
        return frozenset(self.remove) | {node.name for node in self.replace}


def compare(desired: Desired, world: World) -> Changes:
    """Return what differs."""
    start, replace, keep = [], [], []
    for node in desired.nodes:
        running = world.nodes.get(node.name)
        if running is None:
            start.append(node)
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
        keep=tuple(keep),
        daemons=tuple(
            (node.name, process.name)
            for node in keep
            for process in node.processes
            if process.name not in world.nodes[node.name].daemons
        ),
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
