"""A verb at work: an iterator of what happens, that can be stopped, and in the end a result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
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
    the block ends early, and waits for that.
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
        self._held = ExitStack()
        self._begun = self._done = False

    def __iter__(self) -> Iterator[FleetEvent]:
        return self

    def __next__(self) -> FleetEvent:
        if self._done:
            raise StopIteration
        self._begin()
        if not self._crew.left:
            self._end()
            raise StopIteration
        event = self._take(None)
        assert event is not None, "without a deadline there is one"
        return event

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        again = self.cancelled and kind is not None and issubclass(kind, KeyboardInterrupt)
        if self._begun and not self._done and not again:
            self.cancel()
            deadline = time.monotonic() + SETTLE
            while self._crew.left and time.monotonic() < deadline:
                self._take(1.0)
            self._done = True
            self._held.close()

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
        for _ in self:
            pass
        return Result(
            self._fleet,
            self._verb,
            tuple(self._ended[each] for each in self._claims if each in self._ended),
            self._networks,
            interrupted=any(each.status == "interrupted" for each in self._ended.values()),
            next_command=self._next,
        )

    def _begin(self) -> None:
        if not self._begun:
            self._held.enter_context(self._lock())
            self._begun = True
            self._crew.start()

    def _take(self, seconds: float | None) -> FleetEvent | None:
        try:
            event = self._crew.take(seconds)
        except KeyboardInterrupt:
            raise  # ours, and the clusters are still at work: the caller decides
        except BaseException:
            self._done = True
            self._held.close()
            raise
        if event and event.outcome:
            self._ended[event.outcome.claim] = event.outcome
        return event

    def _end(self) -> None:
        # The inventory's lock is given back only once nobody changes anything any more.
        with self._held:
            self._done = True
            if not self.cancelled:
                self._networks = self._finish(tuple(self._ended.values()))
