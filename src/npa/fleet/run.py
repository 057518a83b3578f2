"""A verb at work: an iterator of what happens, that can be stopped, and in the end a result."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Literal

from npa.fleet.crew import Crew, FleetEvent, Work
from npa.fleet.member import Claim
from npa.fleet.result import Network, Outcome, Result

SETTLE = 600.0  # seconds for what was begun to stop, once the caller has gone

Finish = Callable[[Sequence[Outcome]], tuple[Network, ...]]


class Run:
    """Iterate over it for its events; `result` is how it ended, and waits for the end.

    Nothing happens before the first event is asked for. As a context manager it stops what is left of it when
    the block ends early.
    """

    def __init__(
        self,
        fleet: str,
        verb: Literal["deploy", "destroy"],
        claims: Sequence[Claim],
        work: Work,
        *,
        lock: Callable[[], AbstractContextManager[None]],
        concurrency: int = 1,
        fail_fast: bool = False,
        finish: Finish = lambda _: (),
        next_command: str = "",
    ) -> None:
        self._fleet, self._verb, self._claims, self._next = fleet, verb, tuple(claims), next_command
        self._crew = Crew(self._claims, work, concurrency, fail_fast=fail_fast)
        self._lock, self._finish = lock, finish
        self._ended: dict[Claim, Outcome] = {}
        self._networks: tuple[Network, ...] = ()
        self._done = False
        self._events = self._generate()

    def __iter__(self) -> Iterator[FleetEvent]:
        return self._events

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._done:
            self.cancel()
            self._events.close()

    @property
    def done(self) -> bool:
        """Whether every cluster has ended."""
        return self._done

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked for an early end."""
        return self._crew.stopped

    def cancel(self) -> None:
        """Have every cluster stop at its next event, and begin with no other; any thread may call it."""
        self._crew.stop()

    def result(self) -> Result:
        """Return how it ended, after its end."""
        for _ in self._events:
            pass
        return Result(
            self._fleet,
            self._verb,
            tuple(self._ended[each] for each in self._claims if each in self._ended),
            self._networks,
            interrupted=self._crew.stopped and any(e.status == "interrupted" for e in self._ended.values()),
            next_command=self._next,
        )

    def _generate(self) -> Generator[FleetEvent, None, None]:
        with self._lock():
            try:
                for event in self._crew.events():
                    self._keep(event)
                    yield event
            finally:
                # The lock is given back only once nobody changes anything any more.
                if len(self._ended) < len(self._claims):
                    self._crew.stop()
                    for event in self._crew.rest(SETTLE):
                        self._keep(event)
                self._done = True
            self._networks = self._finish(tuple(self._ended.values()))

    def _keep(self, event: FleetEvent) -> None:
        if event.outcome:
            self._ended[event.outcome.claim] = event.outcome
