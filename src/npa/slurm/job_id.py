"""Which job is meant: `12`, `12_3` of an array, `12+1` of a heterogeneous job."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_ID = re.compile(r"([0-9]{1,10})(?:_([0-9]{1,10})|_(\[[0-9,:%-]+\])|\+([0-9]{1,5}))?(?:\.[a-z0-9]+)?")
_TASKS = re.compile(r"([0-9]+)(?:-([0-9]+)(?::([0-9]+))?)?")
_MASK = re.compile(r"0x[0-9A-Fa-f]+")


@dataclass(frozen=True, slots=True)
class JobId:
    """A job as squeue and sacct name it; a step's part (`.batch`) is left out."""

    number: int
    task: int | None = None  # of an array
    offset: int | None = None  # in a heterogeneous job

    def __str__(self) -> str:
        if self.task is not None:
            return f"{self.number}_{self.task}"
        return f"{self.number}+{self.offset}" if self.offset is not None else str(self.number)


def parse(text: str) -> JobId:
    """Return the id; raises ValueError for what is none. `12_[4-9]`, as squeue prints it, means the array."""
    found = _ID.fullmatch(text.strip())
    if found is None or int(found[1]) == 0:
        raise ValueError(f"{text!r} is no job id")
    number, task, _, offset = found.groups()
    return JobId(int(number), int(task) if task else None, int(offset) if offset else None)


def has_task(tasks: str, wanted: int) -> bool:
    """Say whether a task is among those of a waiting array: `1,4-9%2` of slurmctld's, `0xC` of slurmdbd's."""
    if _MASK.fullmatch(tasks):
        return bool(int(tasks, 16) >> wanted & 1)
    return any(wanted in some for some in _ranges(tasks))


def _ranges(tasks: str) -> Iterator[range]:
    for part in tasks.partition("%")[0].split(","):
        found = _TASKS.fullmatch(part.strip())
        if found:  # a long list ends in `...`
            yield range(int(found[1]), int(found[2] or found[1]) + 1, int(found[3] or 1))
