"""Does one piece of work for each cluster, several at a time, and tells what happens as it happens."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from npa.api import failure
from npa.errors import NpaError, RefusedError, StoppedError, UnhealthyError
from npa.fleet.member import Claim
from npa.fleet.result import BAD, Outcome

if TYPE_CHECKING:
    from npa.fleet.backends import Heard
    from npa.plan.model import Event

AGAIN = "run the same command again: it goes on from what is there"

Work = Callable[[Claim, "Heard"], Outcome]
Kind = Literal["began", "started", "progress", "done", "note", "ended"]


@dataclass(frozen=True, slots=True)
class FleetEvent:
    """What happened to one cluster of a fleet.

    `began` and `ended` frame a cluster; `ended` has its outcome. The others are the Events of its target.
    """

    kind: Kind
    project: str
    cluster: str
    message: str = ""
    step: str = ""
    seconds: float = 0.0
    fraction: float | None = None
    outcome: Outcome | None = None


class Crew:
    """Threads that take clusters from one queue."""

    def __init__(self, claims: Sequence[Claim], work: Work, concurrency: int, *, fail_fast: bool) -> None:
        self._work, self._fail_fast = work, fail_fast
        self._left = deque(claims)
        self._told: queue.SimpleQueue[FleetEvent | BaseException] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._failed = threading.Event()
        self._count = len(claims)
        self._threads = [
            # what the caller has chosen for a block, how Kubernetes is reached say, holds in its threads, too
            threading.Thread(
                target=copy_context().run, args=(self._run,), name=f"fleet-{number}", daemon=True
            )
            for number in range(max(0, min(concurrency, len(claims))))
        ]

    @property
    def stopped(self) -> bool:
        """Whether somebody asked for an early end."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Have every cluster stop at its next event, and begin with no other."""
        self._stop.set()

    @property
    def left(self) -> int:
        """How many clusters have not ended, as far as `take` has told."""
        return self._count

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def take(self, seconds: float | None = None) -> FleetEvent | None:
        """Return what happens next; None where that is nothing for so long. Raises what ended a thread."""
        try:
            told = self._told.get(timeout=seconds)
        except queue.Empty:
            return None
        if isinstance(told, BaseException):
            self._count = 0
            raise told
        self._count -= told.kind == "ended"
        return told

    def _run(self) -> None:
        try:
            while True:
                try:
                    claim = self._left.popleft()
                except IndexError:
                    return
                self._told.put(self._ended(claim, self._one(claim)))
        except BaseException as error:  # it has to end the whole command, and this thread alone would
            self._told.put(error)

    def _one(self, claim: Claim) -> Outcome:
        if self._stop.is_set():
            return Outcome(claim, "interrupted", False, "not begun", AGAIN)
        if self._fail_fast and self._failed.is_set():
            return Outcome(claim, "skipped", False, "not begun, because another cluster failed", AGAIN)
        began = time.monotonic()
        self._told.put(FleetEvent("began", claim.project, claim.cluster))
        outcome = self._guarded(claim)
        return replace(outcome, seconds=time.monotonic() - began)

    def _guarded(self, claim: Claim) -> Outcome:
        try:
            return self._work(claim, lambda event: self._heard(claim, event))
        except Exception as error:
            if self._stop.is_set():
                # Ctrl-C reaches the programs that a cluster's thread waits for, and they fail of it.
                return Outcome(claim, "interrupted", False, "stopped on request", AGAIN)
            return failed(claim, error)

    def _ended(self, claim: Claim, outcome: Outcome) -> FleetEvent:
        if outcome.status in BAD:
            self._failed.set()
        return FleetEvent(
            "ended", claim.project, claim.cluster, outcome.message, seconds=outcome.seconds, outcome=outcome
        )

    def _heard(self, claim: Claim, event: Event) -> None:
        if self._stop.is_set():
            raise StoppedError("stopped on request", hint=AGAIN)
        self._told.put(
            FleetEvent(
                event.kind,
                claim.project,
                claim.cluster,
                event.message,
                event.step,
                event.seconds,
                event.fraction,
            )
        )


def failed(claim: Claim, error: Exception) -> Outcome:
    """Return how a cluster ended whose work raised."""
    document, _ = failure.described(error)
    said = document["error"]
    status = "refused" if isinstance(error, RefusedError) else "failed"
    if isinstance(error, UnhealthyError):
        status = "degraded"
    hint = error.hint if isinstance(error, NpaError) else said["hint"]
    return Outcome(claim, status, False, said["message"], hint, error=said)
