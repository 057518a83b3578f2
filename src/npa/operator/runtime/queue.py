"""Keys to look at: each by one worker at a time, and once however often it was asked for."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from npa.operator.runtime import backoff

Key = TypeVar("Key", bound=Hashable)


class Queue(Generic[Key]):
    """A queue of keys for the workers of one event loop.

    A key that is asked for while it is looked at is looked at once more afterwards. One that failed waits for
    its back-off whatever happens meanwhile, except where it is asked for at once (somebody changed what is
    wanted); other keys do not wait for it. A key that was just looked at rests for `spacing` seconds, so that
    a storm of events costs few looks. What is asked for at once neither rests nor waits for the others.
    """

    def __init__(self, chance: Callable[[], float] = random.random, spacing: float = 0.0) -> None:
        self._chance, self._spacing = chance, spacing
        self._rests: dict[Key, float] = {}  # until when keys that were looked at are left alone
        self._turns = itertools.count()
        # (not at once, turn, key): more than one of a key where it was moved ahead, and the first one counts
        self._ready: asyncio.PriorityQueue[tuple[bool, int, Key]] = asyncio.PriorityQueue()
        self._queued: dict[Key, bool] = {}  # whether at once
        self._running: set[Key] = set()
        self._again: dict[Key, bool] = {}  # likewise
        self._timers: dict[Key, asyncio.TimerHandle] = {}
        self._failures: dict[Key, int] = {}
        self._waiting: set[Key] = set()  # backing off
        self._open = asyncio.Event()
        self._open.set()

    def add(self, key: Key, *, now: bool = False) -> None:
        """Ask for a key to be looked at; `now` also where it backs off, and before the others."""
        if key in self._waiting and not now:
            return
        self._waiting.discard(key)
        if key in self._running:
            self._again[key] = now or self._again.get(key, False)
        elif key in self._queued:
            if now and not self._queued[key]:
                self._enter(key, now)
        elif not now and (rest := self._rest(key)) > 0:
            self.add_in(key, rest)
        else:
            self._enter(key, now)

    def add_in(self, key: Key, seconds: float) -> None:
        """Ask for a key after a while; of several timers of a key the earliest counts."""
        loop = asyncio.get_running_loop()
        timer = self._timers.get(key)
        if timer is not None and timer.when() <= loop.time() + seconds:
            return
        self._disarm(key)
        self._timers[key] = loop.call_later(seconds, self._due, key)

    async def take(self) -> Key:
        """Return the next key, once there is one; `done` or `failed` has to follow."""
        while True:
            key = (await self._ready.get())[2]
            await self._open.wait()
            if self._queued.pop(key, None) is not None:
                self._running.add(key)
                return key

    def done(self, key: Key, again_in: float | None = None, rest: float = 0.0) -> None:
        """Say that a key was looked at and all went well; it rests for so many seconds at least."""
        self._failures.pop(key, None)
        self._running.discard(key)
        if (rest := max(rest, self._spacing)) > 0:
            self._rests[key] = asyncio.get_running_loop().time() + rest
        if key in self._again:
            self.add(key, now=self._again.pop(key))
        elif again_in is not None:
            self.add_in(key, again_in)

    def failed(self, key: Key) -> float:
        """Say that looking at a key failed; returns the seconds after which it is tried again."""
        count = self._failures[key] = self._failures.get(key, 0) + 1
        self._running.discard(key)
        seconds = backoff.delay(count, self._chance())
        self._again.pop(key, None)
        self._disarm(key)
        self._waiting.add(key)
        self.add_in(key, seconds)
        return seconds

    def failures(self, key: Key) -> int:
        """Return how often a key has failed in a row."""
        return self._failures.get(key, 0)

    @property
    def depth(self) -> int:
        """How many keys are to be looked at now."""
        return len(self._queued)

    @property
    def idle(self) -> bool:
        """Whether nothing is looked at or to be looked at now; timers may run."""
        return not self._queued and not self._running

    @property
    def running(self) -> bool:
        """Whether some key is looked at now."""
        return bool(self._running)

    def close(self) -> None:
        """Give out no key any more, and let no timer fire."""
        self._open.clear()
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _rest(self, key: Key) -> float:
        """Return the seconds for which a key still rests."""
        left = self._rests.get(key, 0.0) - asyncio.get_running_loop().time()
        if left <= 0:
            self._rests.pop(key, None)
        return left

    def _due(self, key: Key) -> None:
        self._timers.pop(key, None)
        self._waiting.discard(key)
        if key in self._running:
            self._again.setdefault(key, False)
        elif key not in self._queued:
            self._enter(key, now=False)

    def _enter(self, key: Key, now: bool) -> None:
        self._disarm(key)
        self._queued[key] = now
        self._ready.put_nowait((not now, next(self._turns), key))

    def _disarm(self, key: Key) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
