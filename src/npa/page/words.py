"""Amounts, moments and other people's words as the page says them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import htpy as h

from npa.health import explain
from npa.slurm import hostlist, reasons
from npa.slurm.hostlist import HostlistError

SHORT = 24  # characters that stay on one line


def plain(text: str, longest: int = 300) -> str:
    """Return text that somebody typed as one line, without what is invisible or turns the direction."""
    line = reasons.one_line(text)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def typed(text: str, longest: int = 300) -> h.Element:
    """Return text that somebody typed as an element of its own: its direction is its own too."""
    line = plain(text, longest)
    return h.bdi(class_="short" if len(line) <= SHORT else None)[line]


def hint(text: str) -> h.Node:
    """Return a hint of ours, in which `commands` are set off; names in it are somebody's."""
    parts = plain(text, 600).split("`")
    if len(parts) % 2 == 0:
        return typed(text, 600)  # one of them is not ours
    return [h.code(".in")[part] if index % 2 else part for index, part in enumerate(parts) if part]


def moment(when: datetime | None, now: datetime) -> h.Node:
    """Return how long ago something was, with the moment itself; or that it is not known."""
    if when is None:
        return "not known"
    utc = when.astimezone(UTC)
    exact, ago = explain.moment(when, now).rstrip(")").split(" (")
    return h.time(datetime=exact, title=exact)[f"{utc:%d %b %H:%M}", h.small[f" {ago}"]]


def stamp(when: datetime) -> str:
    """Return a moment in full."""
    return f"{when.astimezone(UTC):%d %B %Y, %H:%M} UTC"


def memory(mib: int) -> str:
    """Return an amount of memory in the unit that people would use."""
    for size, unit in ((1 << 20, "TiB"), (1 << 10, "GiB")):
        if mib >= size:
            return f"{mib / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{mib} MiB"


def seconds(amount: float | None) -> str:
    """Return how long something took."""
    if amount is None:
        return "not known"
    if amount < 60:
        return f"{amount:.1f} s"
    minutes, rest = divmod(int(amount), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def number(amount: float) -> str:
    """Return a number with as many digits as matter."""
    return f"{amount:,.0f}" if amount >= 10 or amount == int(amount) else f"{amount:.1f}"


def many(count: int, what: str) -> str:
    """Say how many there are."""
    return f"{count:,} {what}{'s' * (count != 1)}"


def nodes(names: Iterable[str]) -> str:
    """Return node names as Slurm writes them; those that it could not as a list."""
    every = list(names)
    try:
        return explain.names(every)
    except HostlistError:
        return ", ".join(every)


def ordered(names: Iterable[str]) -> list[str]:
    """Return node names in the order that people expect."""
    return list(hostlist.ordered(names))
