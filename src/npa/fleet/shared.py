"""What several clusters of a fleet need and one of them makes: the others wait for that step alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from npa.plan.model import Event, Plan

if TYPE_CHECKING:
    from npa.fleet.backends import Heard

KEYS = frozenset({"build:image", "create:operator"})
POLL = 0.5  # seconds between two looks whether the run is asked to stop


class Shared:
    """Lets one cluster at a time do a step of `KEYS`."""

    def __init__(self) -> None:
        self._turn = threading.Lock()

    @contextmanager
    def turn(
        self, agreed: Plan | None, again: Callable[[], Plan], heard: Heard
    ) -> Iterator[tuple[Plan | None, Heard]]:
        """Yield the plan to carry out, `agreed` or `again` without what another did, and who hears of it.

        `heard` is called while it waits, so that it can stop.
        """
        if agreed is None or not _keys(agreed):
            yield agreed, heard
            return
        while not self._turn.acquire(timeout=POLL):
            heard(Event("progress", "", "another cluster is at what both need"))
        held, left = [True], set(_keys(agreed))

        def release() -> None:
            if held:
                held.clear()
                self._turn.release()

        def hear(event: Event) -> None:
            if event.kind == "done":
                left.discard(event.step)
            if not left:
                release()
            heard(event)

        try:
            plan = without(agreed, again())
            left &= set(_keys(plan))
            if not left:
                release()
            yield plan, hear
        finally:
            release()


def without(agreed: Plan, fresh: Plan) -> Plan:
    """Return the fresh plan where it differs only in that another cluster has done what both need."""
    left = replace(agreed, steps=tuple(step for step in agreed.steps if step.key not in KEYS))
    return fresh if replace(fresh, notes=agreed.notes, unchanged=agreed.unchanged) == left else agreed


def _keys(plan: Plan) -> tuple[str, ...]:
    return tuple(step.key for step in plan.steps if step.key in KEYS)
