"""Asks each source again and again, and keeps the last good answers for whoever looks.

A look never asks Slurm. What fails is counted and leaves what was known, which then grows old visibly.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Protocol

from npa.errors import NpaError
from npa.metrics import snapshot
from npa.metrics.snapshot import SOURCES, Snapshot, Source
from npa.operator.exporter import show
from npa.operator.exporter.own import Own
from npa.operator.exporter.questions import Answer, Options, Question, question
from npa.slurm import replies

_LOG = logging.getLogger(__name__)
STALE = 5  # intervals after which an exporter that gets no answers any more is not well


class Asks(Protocol):
    """Who answers: slurmrestd."""

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> bytes:
        """Return the document at a path; NpaError where there is none."""


class Exporter:
    """What is known, and the questions that are open."""

    def __init__(self, rest: Asks, options: Options) -> None:
        self._rest, self._options = rest, options
        self.snapshot = Snapshot()
        self.own = Own(self._age)
        self._open: dict[Source, set[asyncio.Task[None]]] = {source: set() for source in SOURCES}
        self._shown: tuple[Snapshot, bytes] = (self.snapshot, b"")

    async def run(self) -> None:
        """Ask for ever."""
        try:
            while True:
                for source in SOURCES:
                    self.begin(source)
                await asyncio.sleep(self._options.interval)
        finally:
            for task in (task for tasks in self._open.values() for task in tasks):
                task.cancel()

    def begin(self, source: Source) -> None:
        """Have a source asked now, unless as many questions as may be are open."""
        tasks = self._open[source]
        if len(tasks) >= self._options.most:
            self.own.skipped(source)
            return
        task = asyncio.create_task(self.ask(source))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def ask(self, source: Source) -> None:
        """Ask one source; where it gives no readable answer, what was known stays."""
        began, now = time.monotonic(), time.time()  # what is read is at least as new
        self.own.asked(source, len(self._open[source]))
        try:
            answer = await self._answer(question(source, self._options, now), now)
        except NpaError as error:
            _LOG.warning("asking for %s: %s", source, error)
            self.own.failed(source)
        except Exception:  # the loop goes on, whatever an answer held
            _LOG.exception("asking for %s", source)
            self.own.failed(source)
        else:
            self.snapshot = answer.take(self.snapshot)
            self.own.read(source, len(answer.problems))
            for each in answer.problems[:3]:
                _LOG.warning("not readable: %s", each)
        finally:
            self.own.answered(source, time.monotonic() - began, len(self._open[source]) - 1)

    async def _answer(self, asked: Question, now: float) -> Answer:
        text = await self._rest.get(asked.path, asked.query)
        return await asyncio.to_thread(lambda: asked.read(replies.load(text), now))

    async def text(self) -> bytes:
        """Return every figure; those of one snapshot are written once, however many look."""
        known = self.snapshot
        if self._shown[0] is not known:
            self._shown = (known, await asyncio.to_thread(lambda: show.text(snapshot.families(known))))
        shown = self._shown[1]
        return shown + self.own.text(len(shown))

    def wrong(self) -> str:
        """Say why what is shown is not to be relied on; "" where it is."""
        limit = STALE * self._options.interval
        told = []
        for source in SOURCES:
            age = self._age(source)
            if age is None or age > limit:
                told.append(f"{source}: {'no answer yet' if age is None else f'{age:.0f} s old'}")
        return "; ".join(told)

    def _age(self, source: Source) -> float | None:
        at = self.snapshot.read_at(source)
        return None if at is None else max(0.0, time.time() - at)
