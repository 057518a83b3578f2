"""Long work that outlives the call that began it: jobs with ids, their events, and one change at a time."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from npa.agent import registry
from npa.agent.errors import BusyError
from npa.agent.tool import Tool
from npa.api import failure
from npa.errors import NotFoundError, NpaError, RefusedError, StoppedError
from npa.plan.model import Event
from npa.spec.base import Model

KEPT = 200  # ended jobs
EVENTS = 5000  # of one job; the oldest are dropped first
MOST = 16  # that run at a time

LOG = logging.getLogger("npa.agent")

State = Literal["running", "done", "failed", "stopped"]


class JobDocument(BaseModel):
    """A job: what was asked for, how far it is, and what came of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["npa.job/v1"] = "npa.job/v1"
    id: str
    tool: str
    claims: list[str]
    state: State
    stopping: bool
    created: str
    ended: str | None
    events: int
    exit_code: int | None
    result: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Told:
    """An event with its number, from 1."""

    number: int
    event: Event

    def document(self) -> dict[str, Any]:
        """Return the event as JSON has it."""
        return {"number": self.number, **asdict(self.event)}


class Job:
    """One call of a tool, in a thread of its own."""

    def __init__(self, tool: Tool[Any], claims: tuple[str, ...]) -> None:
        self.id = secrets.token_hex(6)
        self.tool, self.claims = tool, claims
        self.created = _now()
        self.state: State = "running"
        self._ended: str | None = None
        self._result: tuple[dict[str, Any], int] | None = None
        self._events: deque[Told] = deque(maxlen=EVENTS)
        self._count = 0
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []
        self._thread: threading.Thread | None = None

    def start(self, asked: Model) -> None:
        """Begin the work."""
        self._thread = threading.Thread(target=self._work, args=(asked,), name=f"job {self.id}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask the work to stop before its next step."""
        self._stopping.set()

    def join(self, seconds: float) -> None:
        """Wait until the work has ended, or until the deadline."""
        if self._thread is not None:
            self._thread.join(seconds)

    def since(self, number: int) -> tuple[list[Told], bool]:
        """Return the events after one, and whether no more will come."""
        with self._lock:
            return [each for each in self._events if each.number > number], self.state != "running"

    @contextmanager
    def listening(self, told: Callable[[], None]) -> Iterator[None]:
        """Call `told`, in the job's thread, whenever there is something new."""
        with self._lock:
            self._listeners.append(told)
        try:
            yield
        finally:
            with self._lock:
                self._listeners.remove(told)

    def document(self) -> dict[str, Any]:
        """Return the job as JSON has it."""
        with self._lock:
            result, code = self._result or (None, None)
            return JobDocument(
                id=self.id,
                tool=self.tool.name,
                claims=list(self.claims),
                state=self.state,
                stopping=self._stopping.is_set() and self.state == "running",
                created=self.created,
                ended=self._ended,
                events=self._count,
                exit_code=code,
                result=result,
            ).model_dump(mode="json")

    @property
    def label(self) -> str:
        """The job as people read it."""
        about = f" of {', '.join(self.claims)}" if self.claims else ""
        return f"job {self.id}, {self.tool.name}{about}"

    def result(self) -> tuple[dict[str, Any], int]:
        """Return the answer and the exit code of a job that has ended."""
        assert self._result is not None, "still running"
        return self._result

    def _work(self, asked: Model) -> None:
        state: State
        try:
            result = registry.call(self.tool, asked, self._hear)
            state = "done"
        except BaseException as error:  # the thread's end: whatever it was becomes the job's result
            if not isinstance(error, NpaError):
                LOG.error("job %s: unexpected", self.id, exc_info=error)
            result = failure.described(error)
            state = "stopped" if result[1] == failure.INTERRUPTED else "failed"
        with self._lock:
            self._result, self.state, self._ended = result, state, _now()
            listeners = tuple(self._listeners)
        for each in listeners:
            each()

    def _hear(self, event: Event) -> None:
        if self._stopping.is_set():
            raise StoppedError("stopped on request", hint=failure.AGAIN)
        with self._lock:
            self._count += 1
            self._events.append(Told(self._count, event))
            listeners = tuple(self._listeners)
        for each in listeners:
            each()


class Jobs:
    """All jobs of this process."""

    def __init__(self, *, most: int = MOST, kept: int = KEPT) -> None:
        self._most, self._kept = most, kept
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self.closing = False

    def start(self, tool: Tool[Any], asked: Model) -> Job:
        """Begin a job; raise BusyError where another one changes the same."""
        job = Job(tool, tool.claims(asked))
        with self._lock:
            if self.closing:
                raise RefusedError("the server is shutting down", hint="ask again once it is back")
            running = [each for each in self._jobs.values() if each.state == "running"]
            for other in running:
                for claim in set(other.claims) & set(job.claims):
                    raise _busy(claim, other)
            if len(running) >= self._most:
                raise RefusedError(f"{self._most} jobs run already", hint="wait until one has ended")
            self._forget()
            self._jobs[job.id] = job
            job.start(asked)
        return job

    def find(self, name: str) -> Job:
        """Return a job by its id; raise NotFoundError for one that is not known, or not any more."""
        with self._lock:
            found = self._jobs.get(name)
        if found is None:
            raise NotFoundError(
                f"no job {name[:40]!r}", hint="ended jobs are kept for a while only; see /jobs"
            )
        return found

    def all(self) -> list[Job]:
        """Return every job, the oldest first."""
        with self._lock:
            return list(self._jobs.values())

    def close(self) -> list[Job]:
        """Take no more, ask those that run to stop before their next step, and return them."""
        with self._lock:
            self.closing = True
            running = [each for each in self._jobs.values() if each.state == "running"]
        for each in running:
            each.stop()
        return running

    def join(self, seconds: float) -> list[Job]:
        """Wait for all that run, until the deadline; return those that still do."""
        deadline = time.monotonic() + seconds
        for each in self.all():
            each.join(max(0.0, deadline - time.monotonic()))
        return [each for each in self.all() if each.state == "running"]

    def _forget(self) -> None:
        ended = [each.id for each in self._jobs.values() if each.state != "running"]
        for each in ended[: max(0, len(ended) - self._kept)]:
            del self._jobs[each]


def _busy(claim: str, other: Job) -> BusyError:
    holder = {"job": other.id, "tool": other.tool.name, "since": other.created}
    what = f"{claim} is being changed by job {other.id}: {other.tool.name}, since {other.created}"
    return BusyError(what, holder, hint=f"wait for it, or stop it: DELETE /jobs/{other.id}")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
