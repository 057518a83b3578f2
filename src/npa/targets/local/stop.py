"""Ends daemons and nodes: asked first, then told."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Mapping

from npa.errors import NpaError
from npa.render.local.world import Running
from npa.tools import container, proc

PATIENCE = 20.0  # seconds for daemons to end by themselves
KILLED = 120.0  # seconds for the kernel to end what was killed: a process waits for its disk first
POLL = 0.02


def end_daemon(pid: int | None) -> None:
    """Ask a daemon to end, and kill it when it does not; None is one that does not run."""
    if pid is None:
        return
    container.signal_process(pid, signal.SIGTERM)
    container.signal_process(pid, signal.SIGCONT)  # one that is halted would not hear the other
    if not _until(lambda: proc.find(pid) is None, PATIENCE):
        container.signal_process(pid, signal.SIGKILL)
        gone([pid])


def end_nodes(nodes: Mapping[str, Running]) -> None:
    """Ask all daemons of these nodes to end, then end the nodes with whatever is left in them."""
    daemons = [pid for node in nodes.values() for pid in node.daemons.values()]
    for pid in daemons:
        container.signal_process(pid, signal.SIGTERM)
    _until(lambda: not any(proc.find(pid) for pid in daemons), PATIENCE)
    for node in nodes.values():
        container.end(node.pid)
    gone(node.pid for node in nodes.values())


def end_lab(pid: int) -> None:
    """End a lab: the kernel kills every process in it with its first one (pid_namespaces(7))."""
    container.end(pid)
    gone([pid])


def gone(pids: Iterable[int]) -> None:
    """Wait until processes are gone; raises NpaError when they stay."""
    left = list(pids)
    if not _until(lambda: not any(proc.find(pid) for pid in left), KILLED):
        raise NpaError(f"processes {left} do not end", hint="see what they wait for: cat /proc/PID/stack")


def _until(done: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL)
    return True
