"""Slurm's way to write a time limit."""

from __future__ import annotations

import re

_FORMS = (
    r"(?P<minutes>[0-9]+)",
    r"(?P<minutes>[0-9]+):(?P<seconds>[0-9]+)",
    r"(?P<hours>[0-9]+):(?P<minutes>[0-9]+):(?P<seconds>[0-9]+)",
    r"(?P<days>[0-9]+)-(?P<hours>[0-9]+)",
    r"(?P<days>[0-9]+)-(?P<hours>[0-9]+):(?P<minutes>[0-9]+)",
    r"(?P<days>[0-9]+)-(?P<hours>[0-9]+):(?P<minutes>[0-9]+):(?P<seconds>[0-9]+)",
)
_NO_LIMIT = ("", "infinite", "unlimited")
_SECONDS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
_MAX_MINUTES = 1 << 31


def minutes(text: str) -> int | None:
    """Return the whole minutes of a time limit, or None for no limit; raise ValueError where it is neither.

    Slurm keeps limits in minutes, so part of one counts as one.
    """
    if text.lower() in _NO_LIMIT:
        return None
    match = (
        next((found for form in _FORMS if (found := re.fullmatch(form, text))), None)
        if len(text) < 40
        else None
    )
    if match is None:
        raise ValueError("not a time of Slurm's")
    seconds = sum(int(amount) * _SECONDS[unit] for unit, amount in match.groupdict().items())
    total = -(-seconds // 60)
    if not 0 < total < _MAX_MINUTES:
        raise ValueError("no time at all" if total == 0 else "longer than Slurm can count")
    return total
