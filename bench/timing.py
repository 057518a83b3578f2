"""Seconds, measured and said."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter

from bench.report import Row


def timed(act: Callable[[], object]) -> float:
    """Return how many seconds something takes."""
    begin = perf_counter()
    act()
    return perf_counter() - begin


def say(row: Row) -> Row:
    """Say a measurement as soon as it is there."""
    print(f"{row.what}: {', '.join(f'{sample:.3f}' for sample in row.samples)} {row.unit}", file=sys.stderr)
    return row
