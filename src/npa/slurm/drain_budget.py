"""How many nodes may be taken out of service at once, and how many of those are free to be taken."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_PERCENT = re.compile(r"([0-9]{1,3})%")


@dataclass(frozen=True, slots=True)
class Worker:
    """One worker, as far as the budget needs it."""

    name: str
    ready: bool  # it takes jobs
    handing_off: bool = False  # somebody is taking it out of service already
    known: bool = True  # Slurm lists it
    cordoned: bool = False  # the machine below it takes nothing new


def limit(text: str | int, workers: int) -> int:
    """Return how many workers `maxUnavailable` allows out at once: `5`, or `20%` of them, at least one.

    Raises ValueError for nothing, 0 and 0%, with which a rollout would never end, and for over 100%.
    """
    found = _PERCENT.fullmatch(str(text))
    number = int(found[1]) if found else int(text)
    if number < 1 or (found and number > 100):
        raise ValueError(f"at least 1, or 1% to 100%, not {text!r}")
    return max(1, workers * number // 100) if found else number


def free_slots(workers: Iterable[Worker], allowed: int) -> int:
    """Return how many more workers may begin to hand off.

    Whoever is out takes a slot: handing off, not ready, or not known to Slurm. A slot is free again as soon
    as the replacement is ready, not when the whole batch is.
    """
    out = sum(worker.handing_off or not worker.ready or not worker.known for worker in workers)
    return max(0, allowed - out)


def to_hand_off(workers: Iterable[Worker], allowed: int) -> tuple[str, ...]:
    """Return which workers begin to hand off now, in their order.

    One that Slurm does not list is left alone. One that is not ready on a cordoned machine has its slot
    already, so it needs no free one.
    """
    every = tuple(workers)
    free = free_slots(every, allowed)
    able = [worker for worker in every if worker.known and not worker.handing_off]
    lost = [worker.name for worker in able if not worker.ready and worker.cordoned]
    return (*lost, *[worker.name for worker in able if worker.ready][:free])
