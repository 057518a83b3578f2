"""Waits for daemons and nodes, with deadlines, and says what is wrong when one passes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from npa.errors import NpaError, UnknownError
from npa.render.local.layout import Layout
from npa.render.local.model import Node
from npa.render.local.world import Running
from npa.slurm import reasons
from npa.targets.local import gather
from npa.tools import disk, proc
from npa.tools.slurm import Slurm

PORTS = {"slurmctld": 6817, "slurmdbd": 6819}
SERVING = 90.0  # seconds
GRACE = 2.0  # seconds until a daemon that is not there counts as ended: it may just be about to exec
POLL = 0.03


def until_serving(node: Node, find: Callable[[], Running | None], layout: Layout) -> None:
    """Wait until a node's daemons listen; raises NpaError, with the end of the log, when one does not."""
    wanted = {process.name: PORTS[process.name] for process in node.processes if process.name in PORTS}
    started = time.monotonic()
    while True:
        running = find()
        if running is None:
            raise NpaError(f"{node.name} ended", hint=f"npa soperator logs {node.name}")
        if all(name in running.daemons and proc.listens(running.pid, port) for name, port in wanted.items()):
            return
        waited = time.monotonic() - started
        ended = _ended(node, running) if waited > GRACE else []
        if ended or waited > SERVING:
            raise failure(node.name, (ended or list(wanted))[0], layout, ended=bool(ended))
        time.sleep(POLL)


def _ended(node: Node, running: Running) -> list[str]:
    """Return the daemons that are gone; a shell that waits to become one is not."""
    waiting = "sh" in running.daemons
    return [
        process.name
        for process in node.processes
        if process.name not in running.daemons and not (waiting and process.argv[0] == "sh")
    ]


def until_schedulable(
    slurm: Slurm, names: Sequence[str], progress: Callable[[float, str], None]
) -> tuple[str, ...]:
    """Wait until Slurm may schedule on the nodes; returns those that were not ready in time.

    A node that somebody drained is as ready as it gets.
    """
    deadline = time.monotonic() + 60 + 0.3 * len(names)
    left = tuple(names)
    while True:
        # no answer: slurmctld may be starting anew, and the deadline counts on
        with contextlib.suppress(UnknownError):
            left = _unready(slurm, names)
        progress(1 - len(left) / len(names), f"{len(names) - len(left)} of {len(names)} nodes ready")
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.05 + 0.002 * len(left))


def _unready(slurm: Slurm, names: Sequence[str]) -> tuple[str, ...]:
    there = {node.name: node for node in gather.view(slurm).nodes}
    ready = {
        name
        for name, node in there.items()
        if node.state.schedulable
        or ("DRAIN" in node.state.flags and node.reason and not reasons.ours(node.reason))
    }
    return tuple(name for name in names if name not in ready)


def failure(node: str, daemon: str, layout: Layout, *, ended: bool) -> NpaError:
    """Return the error of a daemon that does not serve, with the last line that it wrote."""
    last = [
        line
        for kind in ("log", "out")
        for line in (disk.text(Path(layout.log(node), f"{daemon}.{kind}")) or "").splitlines()[-3:]
    ]
    what = "ended" if ended else f"does not listen after {SERVING:g} s"
    said = f": {last[-1].strip()}" if last else ""
    return NpaError(f"{daemon} on {node} {what}{said}", hint=f"read its log: npa soperator logs {node}")
