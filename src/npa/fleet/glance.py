"""Looks at many clusters side by side, in one moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import copy_context
from typing import TypeVar

from npa.fleet.member import Claim
from npa.fleet.outside import Outside

T = TypeVar("T")
SIDE_BY_SIDE = 8  # most of it is waiting for Slurm's and the provider's answers


def each(
    claims: Sequence[Claim], look: Callable[[Claim], T], outside: Outside
) -> Iterable[tuple[Claim, Future[T]]]:
    """Return what a look at each cluster gives, once all have been looked at."""
    with ExitStack() as moments, ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        for name in dict.fromkeys(claim.backend for claim in claims):
            moments.enter_context(outside.backend(name).moment())
        # a thread has no context of its own accord: it gets a copy of ours, with the moment in it
        return [(claim, pool.submit(copy_context().run, look, claim)) for claim in claims]
