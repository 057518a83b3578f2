"""Slurm's notation for many names: `gpu-[0-3,08],login-0`.

The same answers as `scontrol show hostnames` and `scontrol show hostlist`, with two differences on purpose:
what Slurm would guess at (`n[1-]`, `n1]`) is refused with its position, and so is text after a bracket, which
Slurm accepts only from some versions on. Order and repeats are kept, as Slurm keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

MAX_RANGE = 65_536  # hosts in one range, as in Slurm's MAX_RANGE
MAX_HOSTS = 1_048_576  # hosts in one expression: a short text must not fill the memory
_MAX_DIGITS = 18  # longer ordinals overflow Slurm's 64-bit number and come back as other names

_SEPARATORS = re.compile(r"[, \t\r\n]*")
_PREFIX = re.compile(r"[^\[\], \t\r\n]*")
_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_DIGITS = "0123456789"


class HostlistError(ValueError):
    """A hostlist that cannot be meant; `position` counts characters of `text` from 0."""

    def __init__(self, text: str, position: int, what: str) -> None:
        self.text, self.position, self.what = text, position, what
        shown = text if len(text) <= 60 else f"{text[:60]}…"
        super().__init__(f"hostlist {shown!r}, position {position}: {what}")


class _Part(NamedTuple):  # three times as fast to make as a frozen dataclass, and made by the ten thousand
    """One name (`width` 0) or one range of a hostlist."""

    prefix: str
    low: int = 0
    high: int = 0
    width: int = 0

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def names(self) -> list[str]:
        if not self.width:
            return [self.prefix]
        prefix, width = self.prefix, self.width
        return [prefix + str(number).zfill(width) for number in range(self.low, self.high + 1)]


_ONE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def expand(text: str) -> list[str]:
    """Return every name in order, repeats included; an empty text has none.

    Raises HostlistError for anything Slurm refuses or would have to guess at, before a name is made.
    """
    if not text or _ONE_NAME.fullmatch(text):  # most of what is asked, and thousands of times in an answer
        return [text] if text else []
    parts = list(_parse(text))
    _refuse_too_many(text, sum(part.size for part in parts))
    return [name for part in parts for name in part.names()]


def count(text: str) -> int:
    """Return how many names `text` stands for, without making them."""
    return sum(part.size for part in _parse(text))


def compress(names: Iterable[str]) -> str:
    """Return the names as one hostlist, in the order given: sort them first for one answer per set.

    Neighbours are folded only where expanding gives exactly the same names: `n01,n1` stays `n[01,1]`, and
    one name never gets brackets.
    """
    groups: list[tuple[str, list[str]]] = []
    for prefix, low, high in _runs(_checked(names)):
        span = low if low == high else f"{low}-{high}"
        if groups and low and groups[-1][0] == prefix and groups[-1][1][0]:
            groups[-1][1].append(span)
        else:
            groups.append((prefix, [span]))
    return ",".join(_written(prefix, spans) for prefix, spans in groups)


def ordered(names: Iterable[str]) -> list[str]:
    """Return the names once each, sorted as `scontrol show hostlistsorted` does: `n9` before `n10`."""
    return sorted(set(names), key=_order)


def _order(name: str) -> tuple[str, int, str]:
    stem = name.rstrip(_DIGITS)
    return stem, len(name) - len(stem), name


def _written(prefix: str, spans: list[str]) -> str:
    if len(spans) == 1 and "-" not in spans[0]:
        return prefix + spans[0]
    return f"{prefix}[{','.join(spans)}]"


def _runs(names: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (prefix, first ordinal, last ordinal) of names that follow one another; ordinals may be empty."""
    run: tuple[str, str, str] | None = None
    following, room = "", 0
    for name in names:
        prefix, digits = _stem(name)
        if run and digits and digits == following and prefix == run[0] and room:
            run = (prefix, run[1], digits)
            room -= 1
        else:
            if run:
                yield run
            run, room = (prefix, digits, digits), MAX_RANGE - 1
        following = str(int(digits) + 1).zfill(len(run[1])) if digits else ""
    if run:
        yield run


def _checked(names: Iterable[str]) -> list[str]:
    """Return the names, each of which can be written in a hostlist."""
    listed = list(names)
    together = "".join(listed)  # one search for all: ten thousand single ones take longer than the rest
    if not (together.isprintable() and _PREFIX.fullmatch(together) and all(listed)):
        bad = next(name for name in listed if not (name and name.isprintable() and _PREFIX.fullmatch(name)))
        raise HostlistError(bad, 0, "not a name: it is empty or has a bracket, comma, blank or control")
    return listed


def _stem(name: str) -> tuple[str, str]:
    """Return the name's prefix and ordinal; an ordinal too long for Slurm belongs to the prefix."""
    prefix = name.rstrip(_DIGITS)
    digits = name[len(prefix) :]
    return (name, "") if len(digits) > _MAX_DIGITS else (prefix, digits)


def _parse(text: str) -> Iterator[_Part]:
    """Yield the names and ranges of a hostlist."""
    position = _skip(_SEPARATORS, text, 0)
    while position < len(text):
        start = position
        position = _skip(_PREFIX, text, start)
        prefix = text[start:position]
        if not prefix.isprintable():
            raise HostlistError(text, start, "control character in a name")
        if text[position : position + 1] == "]":
            raise HostlistError(text, position, "`]` without `[`")
        if text[position : position + 1] == "[":
            close = text.find("]", position)
            if close < 0:
                raise HostlistError(text, position, "`[` without `]`")
            yield from _ranges(text, prefix, position + 1, close)
            position = close + 1
        else:
            yield _Part(prefix)
        after = position
        position = _skip(_SEPARATORS, text, after)
        if position == after < len(text):
            raise HostlistError(text, after, "text after a bracket")


def _skip(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Return where a pattern that may match nothing ends."""
    found = pattern.match(text, position)
    return found.end() if found else position


def _ranges(text: str, prefix: str, position: int, close: int) -> Iterator[_Part]:
    """Yield what stands between two brackets."""
    for item in text[position:close].split(","):
        found = _RANGE.fullmatch(item)
        if found is None:
            raise HostlistError(text, position, f"{item!r} is not a number or a range like 0-3")
        first, last = found[1], found[2] or found[1]
        if len(first) > _MAX_DIGITS or len(last) > _MAX_DIGITS:
            raise HostlistError(text, position, f"a number of more than {_MAX_DIGITS} digits")
        low, high = int(first), int(last)
        if high < low:
            raise HostlistError(text, position, f"range {item!r} runs backwards")
        if high - low >= MAX_RANGE:
            raise HostlistError(text, position, f"range {item!r} has more than {MAX_RANGE} names")
        yield _Part(prefix, low, high, len(first))
        position += len(item) + 1


def _refuse_too_many(text: str, size: int) -> None:
    if size > MAX_HOSTS:
        raise HostlistError(text, 0, f"{size} names, more than {MAX_HOSTS}")
