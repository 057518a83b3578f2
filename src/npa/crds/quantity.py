"""Quantities of Kubernetes (`1500m`, `57Gi`, `1e9`), exactly."""

from __future__ import annotations

import re
from decimal import Decimal

_NUMBER = re.compile(
    r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?[0-9]{1,3}(?:\.[0-9]*)?)?"
)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_TOO_MUCH = Decimal(2**63)
_LONGEST = 64  # characters; whoever writes more means nothing that could be had


def amount(text: object) -> Decimal:
    """Return what a quantity says; raise ValueError for what is none, or more than Kubernetes counts."""
    written = str(text).strip() if not isinstance(text, bool) else ""
    found = _NUMBER.fullmatch(written) if len(written) <= _LONGEST else None
    value = _value(found[1], found[2] or "") if found else _TOO_MUCH
    if abs(value) >= _TOO_MUCH:
        raise ValueError(f"{str(text)[:60]!r} is no quantity")
    return value


def _value(number: str, suffix: str) -> Decimal:
    if suffix in _BINARY:
        return Decimal(number) * Decimal(1024) ** _BINARY[suffix]
    if suffix in _DECIMAL:
        return Decimal(number).scaleb(_DECIMAL[suffix])
    return Decimal(number).scaleb(int(float(suffix[1:]))) if suffix else Decimal(number)
