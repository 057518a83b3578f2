"""One field of a reply, whichever version of Slurm's data parser wrote it.

Numbers came plain, then as `{set, infinite, number}`; lists as comma-joined text, then as arrays; exit codes
as a wait status, then as an object. Each reader takes all of them and raises QuantityError for anything else.
"""

from __future__ import annotations

import contextlib
import gc
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from npa.slurm import quantity
from npa.slurm.quantity import UNLIMITED, Amount, QuantityError

# Plain numbers of older versions leak slurm.h's NO_VAL and INFINITE, of 16, 32 and 64 bits. The 16-bit ones
# are left alone: a real count may well be 65534.
_NO_VALUES = frozenset({0xFFFFFFFE, 0xFFFFFFFFFFFFFFFE})
_INFINITES = frozenset({0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF})
_INTEGER = re.compile(r"-?[0-9]{1,20}")
_EXIT = re.compile(r"([0-9]{1,10}):([0-9]{1,10})")


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Keep the garbage collector from looking through a large answer while it is read.

    Nothing in an answer refers back, so there is nothing to find; of 5,000 jobs it was half of the time.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@dataclass(frozen=True, slots=True)
class ExitCode:
    """How a job ended: its exit status, and the signal that ended it or 0."""

    code: int
    signal: int = 0


def number(value: object) -> Amount:
    """Return a number, UNLIMITED, or None where Slurm says that nothing is set."""
    if isinstance(value, dict):  # as decoded from JSON; asked some ten times a job, so no Mapping
        if value.get("infinite"):
            return UNLIMITED
        return number(value.get("number")) if value.get("set", "number" in value) else None
    if isinstance(value, str):
        if value.strip().lower() in quantity.UNLIMITEDS:
            return UNLIMITED
        if quantity.is_null(value):
            return None
        if not _INTEGER.fullmatch(value.strip()):
            raise QuantityError("number", value)
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        raise QuantityError("number", value)
    return _plain(value)


def _plain(value: int | float | None) -> Amount:
    if value is None or value in _NO_VALUES:
        return None
    if value in _INFINITES:
        return UNLIMITED
    if not math.isfinite(value):
        raise QuantityError("number", value)
    return int(value)


def count(value: object) -> int:
    """Return a number that is 0 where nothing is set; UNLIMITED cannot be meant."""
    found = number(value)
    if found is UNLIMITED:
        raise QuantityError("count", value)
    return found or 0


def moment(value: object) -> datetime | None:
    """Return a timestamp; None for unset, 0 and infinite, which all say that there is none."""
    found = number(value)
    return None if found is UNLIMITED else quantity.parse_timestamp(found)


def text(value: object) -> str:
    """Return a text, "" where it is null in any spelling."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise QuantityError("text", value)
    return "" if quantity.is_null(value) else value


def name(value: object) -> str:
    """Return a text that somebody chose and may have called `none` or `unknown`."""
    if not isinstance(value, str | None):
        raise QuantityError("text", value)
    return value or ""


def words(value: object) -> tuple[str, ...]:
    """Return a list of words, written as an array or joined with commas."""
    if isinstance(value, str | None):
        return tuple(word.strip() for word in text(value).split(",") if word.strip())
    if isinstance(value, Sequence):
        return tuple(name(item) for item in value)
    raise QuantityError("list", value)


def exit_code(value: object) -> ExitCode | None:
    """Return how a job ended, from an object, a wait status (256 is exit status 1) or `1:0`."""
    if isinstance(value, Mapping):
        signal = value.get("signal")
        if isinstance(signal, Mapping):
            signal = signal.get("id", signal.get("signal_id"))
        code, ended_by = number(value.get("return_code")), number(signal)
        if code is None and ended_by is None:
            return None
        return ExitCode(count(value.get("return_code")), count(signal))
    if isinstance(value, str) and (found := _EXIT.fullmatch(value)):
        return ExitCode(int(found[1]), int(found[2]))
    status = count(value) if value is not None else -1
    return ExitCode(status >> 8, status & 0x7F) if status >= 0 else None
