"""How often what keeps failing is tried again; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

FIRST = 1.0  # seconds until the second try
LAST = 60.0  # seconds between tries, at most
HEALED = 120.0  # seconds without another try after which a step counts as new


@dataclass(frozen=True, slots=True)
class Tries:
    """How a step has fared."""

    count: int = 0
    last: float = 0.0  # when it was tried last, in seconds of the caller's clock

    @property
    def next(self) -> float:
        """When it may be tried again."""
        return self.last + min(LAST, FIRST * 2 ** (self.count - 1)) if self.count else 0.0


def due(keys: Iterable[str], history: Mapping[str, Tries], now: float) -> frozenset[str]:
    """Return the steps that may be tried now."""
    return frozenset(key for key in keys if history.get(key, Tries()).next <= now)


def tried(keys: Iterable[str], history: Mapping[str, Tries], now: float) -> dict[str, Tries]:
    """Return the history with one more try of these steps; what has been quiet for long is forgotten."""
    kept = {key: tries for key, tries in history.items() if now - tries.last < HEALED}
    for key in keys:
        kept[key] = Tries(kept.get(key, Tries()).count + 1, now)
    return kept
