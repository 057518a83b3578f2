"""One verb at work on one cluster: an iterator of Events that can be stopped, and in the end a result."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Generic, TypeVar

from npa.errors import StoppedError

if TYPE_CHECKING:
    from npa.plan.model import Event

T = TypeVar("T")
SETTLE = 600.0  # seconds for a step to come to its end, once somebody asked to stop
HINT = "ask for the same again: it goes on from what is there"


class Work(Generic[T]):
    """Iterate over it for its Events; `result()` waits for the end, and returns or raises as the verb does.

    Nothing happens before the first Event is asked for. As a context manager it is cancelled when the block
    ends early, and waited for.
    """

    def __init__(self, do: Callable[[Callable[[Event], None]], T]) -> None:
        self._do = do
        self._told: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="npa-work", daemon=True)
        self._outcome: list[T] = []
        self._error: BaseException | None = None
        self._done = False

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        if self._done:
            raise StopIteration
        if self._thread.ident is None:
            self._thread.start()
        event = self._told.get()
        if event is None:
            self._done = True
            raise StopIteration
        return event

    def __enter__(self) -> Work[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread.ident is not None and not self._done:
            self.cancel()
            deadline = time.monotonic() + SETTLE
            self._thread.join(max(0.0, deadline - time.monotonic()))
            self._done = True

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._done

    def cancel(self) -> None:
        """Have it stop at its next Event: `result` raises StoppedError then. Any thread may call it."""
        self._stop.set()

    def result(self) -> T:
        """Wait for the end; return what the verb returns, or raise what it raises."""
        for _ in self:
            pass
        if self._error is not None:
            raise self._error
        if not self._outcome:
            raise StoppedError("stopped before it began", hint=HINT)
        return self._outcome[0]

    def _run(self) -> None:
        try:
            self._outcome.append(self._do(self._hear))
        except BaseException as error:  # raised again where somebody waits for it
            self._error = error
        finally:
            self._told.put(None)

    def _hear(self, event: Event) -> None:
        if self._stop.is_set():
            raise StoppedError("stopped on request", hint=HINT)
        self._told.put(event)
