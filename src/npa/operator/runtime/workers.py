"""Takes keys from the queue and has each looked at; what fails waits, and fails alone."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from npa.errors import NpaError
from npa.operator.runtime.metrics import Metrics
from npa.operator.runtime.queue import Queue

_LOG = logging.getLogger(__name__)
_RESTS = 10.0  # times as long as a look at a key took of the processor, events alone wake it no more
_LONGEST = 5.0  # seconds of that

Key = TypeVar("Key", bound=Hashable)
_Key = TypeVar("_Key", bound=Hashable, contravariant=True)


@dataclass(frozen=True, slots=True)
class Looked:
    """How a look at a key went: whether anything was written, and when to look again whatever happens.

    A key that takes long to look at is looked at less often: `seconds` is what it took of the processor.
    """

    wrote: bool = False
    again_in: float | None = None
    seconds: float = 0.0


class Failed(Protocol[_Key]):
    """Who is told that looking at a key failed; it may tell others, and fails silently."""

    async def __call__(self, key: _Key, error: Exception, failures: int) -> None:
        """Take note."""


class Workers(Generic[Key]):
    """So many workers on one queue."""

    def __init__(
        self,
        queue: Queue[Key],
        look: Callable[[Key], Awaitable[Looked]],
        failed: Failed[Key],
        metrics: Metrics,
        *,
        label: Callable[[Key], str] = str,
        deadline: float = 600.0,  # seconds for one look: nothing may hold a key for ever
    ) -> None:
        self._queue, self._look, self._failed, self._metrics = queue, look, failed, metrics
        self._label, self._deadline = label, deadline

    async def run(self, count: int) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            key = await self._queue.take()
            began = time.perf_counter()
            try:
                async with asyncio.timeout(self._deadline):
                    looked = await self._look(key)
            except Exception as error:
                await self._fail(key, error)
            else:
                self._count(key, "written" if looked.wrote else "settled")
                self._queue.done(key, looked.again_in, min(looked.seconds * _RESTS, _LONGEST))
            finally:
                self._metrics.seconds.labels(self._label(key)).observe(time.perf_counter() - began)

    async def _fail(self, key: Key, error: Exception) -> None:
        seconds = self._queue.failed(key)
        self._count(key, "failed")
        expected = isinstance(error, (NpaError, TimeoutError))
        again = f"again in {seconds:.1f} s"
        _LOG.warning("%s: %s; %s", key, error or type(error).__name__, again, exc_info=not expected)
        try:
            async with asyncio.timeout(self._deadline):
                await self._failed(key, error, self._queue.failures(key))
        except Exception as second:
            _LOG.debug("%s: the failure could not be told: %s", key, second)

    def _count(self, key: Key, result: str) -> None:
        self._metrics.reconciles.labels(self._label(key), result).inc()
