"""Quantities of Kubernetes (`1500m`, `57Gi`, `1e9`) as whole numbers, always rounded down."""

from __future__ import annotations

import re
from decimal import Decimal

_NUMBER = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?[0-9]+)?")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}


def amount(text: object) -> Decimal:
    """Return what a quantity says, exactly; raise ValueError for what is none."""
    found = _NUMBER.fullmatch(str(text).strip())
    if found is None:
        raise ValueError(f"{str(text)[:60]!r} is no quantity")
    number, suffix = Decimal(found[1]), found[2] or ""
    if suffix in _BINARY:
        return number * Decimal(1024) ** _BINARY[suffix]
    if suffix in _DECIMAL:
        return number.scaleb(_DECIMAL[suffix])
    return number.scaleb(int(suffix[1:])) if suffix else number


def whole(text: object) -> int:
    """Return a count: `3900m` CPUs are 3."""
    return int(amount(text))


def mebibytes(text: object) -> int:
    """Return bytes in MiB: `57Gi` is 58368."""
    return int(amount(text) / (1024 * 1024))
