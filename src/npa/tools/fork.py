"""Children in new namespaces that tell how they fare. For the launcher only."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from typing import Any

from npa.tools import cgroup, linux

SETTLED = 10.0  # seconds


@dataclass(frozen=True, slots=True)
class Pids:
    """A namespace's first process, as the machine and as the lab number it."""

    outer: int
    in_lab: int


class LaunchError(Exception):
    """A child said why it could not go on."""


class Child:
    """A forked process that reports over a pipe, a JSON line at a time."""

    def __init__(self, report: int) -> None:
        self._report = os.fdopen(report, encoding="utf-8")
        self._kept: list[dict[str, Any]] = []

    def close(self) -> None:
        """Hear no more of it."""
        self._report.close()

    def hear(self) -> dict[str, Any]:
        """Return the next report; raises LaunchError when it is an error or none comes."""
        return self._kept.pop(0) if self._kept else self._read()

    def pids(self) -> Pids:
        """Return the two numbers of the first process; it and its parent report in any order.

        The parent may come so late that the first process has said more by then: that is kept.
        """
        said: dict[str, Any] = {}
        while not {"outer", "in_lab"} <= said.keys():
            report = self._read()
            if {"outer", "in_lab"} & report.keys():
                said |= report
            else:
                self._kept.append(report)
        return Pids(said["outer"], said["in_lab"])

    def _read(self) -> dict[str, Any]:
        line = self._report.readline()
        if not line:
            raise LaunchError("ended before it was set up")
        said: dict[str, Any] = json.loads(line)
        if "error" in said:
            raise LaunchError(said["error"])
        return said


def grandchild(namespaces: int, groups: list[str]) -> tuple[Child | None, int]:
    """Fork twice into new namespaces, so that the first process of the lab adopts what we start.

    Returns (child, 0) to the caller; (None, report pipe) to the new namespaces' first process.
    """
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        os.waitpid(child, 0)
        return Child(read), 0
    os.close(read)
    try:
        os.setsid()
        cgroup.enter(groups)
        linux.unshare(namespaces)
        inner = os.fork()
    except OSError as error:
        say(write, error=f"{error.filename or ''}: {error.strerror}")
        os._exit(1)
    if inner:
        say(write, in_lab=inner)
        os._exit(0)
    return None, write


def say(pipe: int, **what: Any) -> None:
    """Report one JSON line to the parent."""
    os.write(pipe, json.dumps(what).encode() + b"\n")


def settle(pid: int, title: str, seconds: float = SETTLED) -> None:
    """Wait until a first process bears its title: whoever looks before that does not find it.

    It says that it is ready right before it executes its program. Raises LaunchError when it ends instead.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if file.read().split(b"\0")[0] == title.encode():
                    return
        except OSError:
            break
        time.sleep(0.001)
    raise LaunchError("ended while it started")


def outer_pid() -> int:
    """Our PID as the machine sees it: /proc is still the machine's own here."""
    return int(os.readlink("/proc/self"))
