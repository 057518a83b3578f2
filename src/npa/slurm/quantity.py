"""Memory, time and TRES as Slurm writes them, and back.

Three results are kept apart everywhere: a number (0 is one), UNLIMITED, and None where Slurm says nothing.
A text that is none of them raises QuantityError; nothing is guessed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from enum import Enum
from fractions import Fraction
from typing import Final, Literal


class Unlimited(Enum):
    """The type of UNLIMITED, so that `is UNLIMITED` narrows."""

    UNLIMITED = "UNLIMITED"


UNLIMITED: Final = Unlimited.UNLIMITED
Amount = int | Unlimited | None

# Every way in which Slurm's tools say "no value", in lower case. Partition_Limit says that the job has no
# limit of its own, which is not the same as having none. 0 is a number, except as a timestamp.
NULLS = frozenset(
    {"", "-", "(null)", "none", "none assigned", "null", "n/a", "na", "nan", "unknown", "not_set", "not set"}
    | {"partition_limit", "invalid", "?"}
)
UNLIMITEDS = frozenset({"unlimited", "infinite"})

_MEMORY = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)([KMGTP]?)(?:iB)?([cn]?)", re.IGNORECASE)
_MIB: Mapping[str, int | Fraction] = {
    "K": Fraction(1, 1024),
    "": 1,
    "M": 1,
    "G": 1024,
    "T": 1024**2,
    "P": 1024**3,
}
_TIME = re.compile(r"(?:([0-9]{1,9})-)?([0-9]{1,9})(?::([0-9]{1,9}))?(?::([0-9]{1,9}))?(?:\.[0-9]+)?")
_EPOCH = re.compile(r"[0-9]{1,12}(?:\.[0-9]+)?")
_GRES = re.compile(r"([^:=()\s]+)(?::([^:=()\s]+?))??(?::([0-9]+)([KMGTP]?))?(?:\(.*\))?")


class QuantityError(ValueError):
    """A text that is no quantity of its kind."""

    def __init__(self, kind: str, text: object) -> None:
        self.kind, self.text = kind, text
        super().__init__(f"not a {kind}: {str(text)[:80]!r}")


@dataclass(frozen=True, slots=True)
class Memory:
    """An amount of memory, and what each of it is for where the text says."""

    mib: int
    per: Literal["cpu", "node"] | None = None


@dataclass(frozen=True, slots=True)
class Gres:
    """A generic resource: `gpu:b200:8`."""

    name: str
    type: str = ""
    count: int = 1


def is_null(text: str) -> bool:
    """Say whether the text is one of Slurm's spellings of "no value"."""
    return text.strip().lower() in NULLS


def parse_memory(text: str) -> Memory | None:
    """Return the memory of `1.5T`, `770000` (MiB), `4000Mc` (per CPU), `16Gn` (per node).

    Slurm's G is 1024 M. Parts of a MiB round up, as in Slurm, so that a little never becomes nothing.
    """
    if is_null(text):
        return None
    found = _MEMORY.fullmatch(text.strip())
    if found is None:
        raise QuantityError("memory size", text)
    exact = Fraction(found[1]) * _MIB[found[2].upper()]
    per: Literal["cpu", "node"] | None = {"c": "cpu", "n": "node"}.get(found[3].lower())  # type: ignore[assignment]
    return Memory(math.ceil(exact), per)


def format_memory(memory: Memory | None) -> str:
    """Return the memory in the largest unit that keeps it exact: `1G`, `1536M`, `16Gn`."""
    if memory is None:
        return "N/A"
    number, units = memory.mib, "MGTP"
    while number and number % 1024 == 0 and len(units) > 1:
        number, units = number // 1024, units[1:]
    suffix = memory.per[0] if memory.per else ""
    return f"{number}{units[0]}{suffix}"


def parse_time(text: str) -> Amount:
    """Return the seconds of a time limit in any of Slurm's forms, UNLIMITED, or None.

    The forms are minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM and D-HH:MM:SS.
    """
    word = text.strip()
    if is_null(word):
        return None
    if word.lower() in UNLIMITEDS:
        return UNLIMITED
    found = _TIME.fullmatch(word)
    if found is None:
        raise QuantityError("time limit", text)
    days, *rest = found.groups()
    numbers = [int(part) for part in rest if part is not None]
    if days is not None:
        hours, minutes, seconds = (*numbers, 0, 0)[:3]
        return ((int(days) * 24 + hours) * 60 + minutes) * 60 + seconds
    hours, minutes, seconds = {1: (0, *numbers, 0), 2: (0, *numbers), 3: tuple(numbers)}[len(numbers)]
    return (hours * 60 + minutes) * 60 + seconds


def format_time(seconds: Amount) -> str:
    """Return the time as Slurm prints it: `1-02:03:04`, `00:10:00`, `UNLIMITED`, `N/A`."""
    if seconds is None:
        return "N/A"
    if seconds is UNLIMITED:
        return UNLIMITED.value
    days, rest = divmod(seconds, 86_400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{clock}" if days else clock


_LAST_EPOCH = 253_402_300_799  # 9999-12-31T23:59:59Z, the last that datetime knows


def parse_timestamp(value: int | str | None, zone: tzinfo | None = None) -> datetime | None:
    """Return the moment, with a zone, or None for a null spelling or epoch 0.

    Slurm's text is the controller's local time without saying so: such a text needs `zone`, and without it
    is refused rather than taken for UTC.
    """
    if value is None or value == 0 or (isinstance(value, str) and is_null(value)):
        return None
    if type(value) is int and 0 < value <= _LAST_EPOCH:  # asked some five times a job
        return datetime.fromtimestamp(value, UTC)
    text = str(value).strip()
    try:
        if _EPOCH.fullmatch(text):
            moment = datetime.fromtimestamp(float(text), UTC)
        else:
            moment = datetime.fromisoformat(text)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
        if moment.tzinfo is None:
            raise QuantityError("timestamp with a zone", value)
        return moment if moment.timestamp() else None
    except (ValueError, OverflowError) as error:
        if isinstance(error, QuantityError):
            raise
        raise QuantityError("timestamp", value) from error


def parse_tres(text: str) -> dict[str, int]:
    """Return `cpu=4,mem=1G,gres/gpu:b200=8` by name; memory counts MiB."""
    counts: dict[str, int] = {}
    for item in () if is_null(text) else text.strip().split(","):
        name, equals, count = item.rpartition("=")
        memory = parse_memory(count) if name == "mem" else None
        if memory:
            counts[name] = memory.mib
        elif name and equals and name != "mem" and count.isascii() and count.isdecimal():
            counts[name] = int(count)
        else:
            raise QuantityError("TRES", item)
    return counts


def format_tres(counts: Mapping[str, int]) -> str:
    """Return the TRES as Slurm writes them, in the order given."""
    return ",".join(
        f"{name}={format_memory(Memory(count)) if name == 'mem' else count}" for name, count in counts.items()
    )


def parse_gres(text: str) -> tuple[Gres, ...]:
    """Return the resources of `gpu:b200:8(S:0-1)` or `gpu:b200:2(IDX:0,3)`; a missing count is 1."""
    if is_null(text):
        return ()
    found = []
    for item in re.split(r",(?![^(]*\))", text.strip()):
        match = _GRES.fullmatch(item)
        if match is None:
            raise QuantityError("GRES", item)
        name, kind, count, unit = match.groups()
        found.append(Gres(name, kind or "", int(count or 1) * 1024 ** " KMGTP".index(unit or " ")))
    return tuple(found)


def format_gres(resources: tuple[Gres, ...]) -> str:
    """Return the resources as NodeName lines write them."""
    return ",".join(
        ":".join(part for part in (gres.name, gres.type, str(gres.count)) if part) for gres in resources
    )


def gpus(resources: tuple[Gres, ...]) -> int:
    """Return how many GPUs are among the resources."""
    return sum(gres.count for gres in resources if gres.name == "gpu")
