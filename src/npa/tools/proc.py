"""What runs on this machine, as /proc tells (proc(5))."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

_moment: ContextVar[list[Process] | None] = ContextVar("moment", default=None)


@dataclass(frozen=True, slots=True)
class Process:
    """One process."""

    pid: int
    parent: int
    name: str  # comm: at most 15 characters
    started: int  # clock ticks after boot; with the pid it names a process for good
    namespace: int  # inode of its PID namespace; 0 where it could not be read
    state: str = "S"


def find(pid: int) -> Process | None:
    """Return a living process; None where there is none, or it only waits to be reaped."""
    try:
        fields = _read(f"/proc/{pid}/stat").decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    name = fields[fields.index("(") + 1 : fields.rindex(")")]
    rest = fields[fields.rindex(")") + 2 :].split()
    if rest[0] in "ZX":
        return None
    namespace = 0
    with contextlib.suppress(OSError):
        namespace = os.stat(f"/proc/{pid}/ns/pid").st_ino
    return Process(pid, int(rest[1]), name, int(rest[19]), namespace, rest[0])


def everything() -> list[Process]:
    """Return all living processes; within a `moment` those that lived when they were first asked for."""
    kept = _moment.get()
    if kept:
        return kept
    found = [process for pid in pids() if (process := find(pid))]
    if kept is not None:
        kept[:] = found  # in one step: threads may share it
    return found


@contextlib.contextmanager
def moment() -> Iterator[None]:
    """Take the block for one moment: who looks at hundreds of clusters in it reads what runs once."""
    token = _moment.set([])
    try:
        yield
    finally:
        _moment.reset(token)


def pids() -> list[int]:
    """Return the numbers of all processes."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def title(pid: int) -> str:
    """Return the first word of a process's command line; "" for one that is gone or has none."""
    return next(iter(command(pid)), "")


def command(pid: int) -> list[str]:
    """Return a process's command line; empty for one that is gone or has none."""
    try:
        words = _read(f"/proc/{pid}/cmdline").split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [word.decode(errors="replace") for word in words[:-1]]


def routes(pid: int) -> frozenset[str]:
    """Return the IPv4 destinations that a process's network namespace has a route to; 0.0.0.0 is any."""
    try:
        lines = Path(f"/proc/{pid}/net/route").read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return frozenset()
    found = (bytes.fromhex(line.split()[1]) for line in lines)
    return frozenset(".".join(str(byte) for byte in reversed(each)) for each in found)


def listens(pid: int, port: int) -> bool:
    """Say whether anything listens on a TCP port in the network namespace of a process (proc_net(5))."""
    wanted = f"{port:04X}"
    for family in ("tcp", "tcp6"):
        try:
            lines = Path(f"/proc/{pid}/net/{family}").read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            local, state = line.split()[1], line.split()[3]
            if state == "0A" and local.endswith(f":{wanted}"):
                return True
    return False


def _read(path: str) -> bytes:
    """Return a file of /proc; pathlib and decoding take longer than the kernel."""
    with open(path, "rb", buffering=0) as file:
        return file.read()
