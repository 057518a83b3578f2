"""How long a key that failed is left alone; pure."""

from __future__ import annotations

FIRST = 0.25  # seconds after the first failure
MOST = 60.0  # seconds, at most
SPREAD = 0.5  # the share of a delay that chance takes away, so that keys do not retry as one


def delay(failures: int, chance: float) -> float:
    """Return the seconds until the next try after so many failures in a row; `chance` is in [0, 1)."""
    whole = min(MOST, FIRST * 2.0 ** min(max(failures, 1) - 1, 32))
    return whole * (1 - SPREAD * chance)
