"""What a lookup tells: it is there, it is not, or nobody could say.

The three are types, so that a decision has to name the case it means. Unknown never counts as absent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from npa.errors import UnknownError
from npa.slurm.replies import Rows, SlurmNodeReply

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Found(Generic[_T]):
    """It is there."""

    value: _T


@dataclass(frozen=True, slots=True)
class Absent:
    """Who has to know says that there is no such thing."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """The answer could not be read."""

    why: str


Lookup = Found[_T] | Absent | Unknown


def one(rows: Rows[_T], wanted: Callable[[_T], bool]) -> Lookup[_T]:
    """Return the row that is wanted; unknown where it may be among those that could not be read."""
    found = next((row for row in rows if wanted(row)), None)
    if found is not None:
        return Found(found)
    return Unknown(rows.problems[0]) if rows.problems else Absent()


def node(rows: Rows[SlurmNodeReply], name: str) -> Lookup[SlurmNodeReply]:
    """Return one node of slurmctld's."""
    return one(rows, lambda row: row.name == name)


def ask(read: Callable[[], _T]) -> Found[_T] | Unknown:
    """Return what a read gives, and no answer as unknown."""
    try:
        return Found(read())
    except UnknownError as error:
        return Unknown(error.reason)
