"""Sizes of filesystems: what was declared against what is there. Whole GiB only; nothing ever shrinks."""

from __future__ import annotations

from npa.errors import RefusedError

GIB = 1024**3
# How the provider says a size: the attribute, and what one of it is in bytes.
UNITS = {"size_bytes": 1, "size_kibibytes": 1024, "size_mebibytes": 1024**2, "size_gibibytes": GIB}


def in_bytes(unit: str, size: object) -> int | None:
    """Return a size in bytes; None where it is no number."""
    return size * UNITS[unit] if type(size) is int and unit in UNITS else None


def shown(size_bytes: int) -> str:
    """Return a size as people say it, exact where it is no whole number of GiB."""
    rest = f" and {size_bytes % GIB} bytes" if size_bytes % GIB else ""
    return f"{whole_gib(size_bytes)} GiB{rest}"


def whole_gib(size_bytes: int) -> int:
    """Return a real size in whole GiB, rounded down: a claim must never ask for more than is there."""
    if isinstance(size_bytes, bool) or not isinstance(size_bytes, int) or size_bytes < 0:
        raise ValueError(f"not a size in bytes: {size_bytes!r}")
    return size_bytes // GIB


def grown(what: str, declared_gib: int, real_bytes: int) -> int:
    """Return how many GiB a filesystem grows in place; raises RefusedError where it would shrink."""
    real = whole_gib(real_bytes)
    if declared_gib < real:
        raise RefusedError(
            f"{what} has {real} GiB and cannot shrink to {declared_gib} GiB",
            hint=f"declare {real} GiB or more; to make it smaller, copy the data to a new cluster",
        )
    return declared_gib - real
