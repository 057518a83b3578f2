"""How often the status of an object is written: not at every step of something that is under way.

A status is the dearest of writes, as the API server takes the whole resource apart for it. A pass that would
only say something, so soon after the last time, is put off: it is the same as if its event had come later.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from npa.operator.keys import Key
from npa.reconcile.decision import Decision

LEAST = 1.0  # seconds between two times that nothing but the status of an object is written
_REMEMBERED = 10_000


class Pace:
    """When something was last said of each object."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said: dict[Key, float] = {}

    def wait(self, key: Key, decision: Decision) -> float:
        """Return the seconds for which a decision is put off; 0 where it does more than to say something."""
        if not decision.only_says:
            return 0.0
        return max(0.0, self._said.get(key, -math.inf) + LEAST - self._clock())

    def note(self, key: Key, decision: Decision) -> None:
        """Take note of what was done."""
        if decision.status is None:
            return
        now = self._clock()
        self._said[key] = now
        if len(self._said) > _REMEMBERED:
            self._said = {each: at for each, at in self._said.items() if now - at < LEAST}
