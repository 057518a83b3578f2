"""The history of a cluster on disk: lines that are added whole, at most so many."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from npa.errors import RefusedError, StoppedError
from npa.plan import history
from npa.plan.history import Applied, History, Result
from npa.plan.model import Event, Plan
from npa.targets.base import Listener
from npa.tools import disk

LIMIT = 512 << 10  # bytes, above which the oldest plans are dropped


def load(path: Path) -> History:
    """Return what is written down; none where nothing was."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return History()
    return history.parse(content.decode(errors="replace").splitlines())


@contextlib.contextmanager
def written(
    path: Path, verb: str, plan: Plan, heard: Listener, said: Callable[[BaseException], str] = str
) -> Iterator[Listener]:
    """Write down that a plan begins, and in the end how it ended; the caller holds the cluster's lock.

    `said` is what is kept of an error. The folder of a first deploy is there only after some steps, so the
    beginning is written once it is.
    """
    if not plan.steps:
        yield heard
        return
    entry = history.begun(uuid4().hex[:12], verb, plan, datetime.now(UTC))
    told, done = False, 0

    def hear(event: Event) -> None:
        nonlocal told, done
        done += event.kind == "done"
        told = told or _append(path, entry)
        heard(event)

    told = _append(path, entry)
    result: Result = "failed"
    error = ""
    try:
        yield hear
        result = "done"
    except BaseException as problem:
        result, error = _result(problem), said(problem)
        raise
    finally:
        _append(path, history.ended(entry, result, done, datetime.now(UTC), error))


def _result(problem: BaseException) -> Result:
    if isinstance(problem, RefusedError):
        return "refused"
    return "failed" if isinstance(problem, Exception) and not isinstance(problem, StoppedError) else "stopped"


def _append(path: Path, entry: Applied) -> bool:
    """Add a line, and say whether that could be done: a history never stands in a deploy's way."""
    try:
        _shorten(path)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError:
        return False
    try:
        size = os.fstat(fd).st_size
        # what a kill or a full disk left half-written must not swallow this line
        torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
        line = ("\n" if torn else "") + history.line(entry) + "\n"
        os.write(fd, line.encode())
        return True
    except OSError:
        return False
    finally:
        os.close(fd)


def _shorten(path: Path) -> None:
    if path.exists() and path.stat().st_size > LIMIT:
        lines = history.kept(load(path), history.KEEP // 2)
        disk.write(path, "".join(f"{line}\n" for line in lines), mode=0o600)
