"""Whose a node is, read from its name."""

from __future__ import annotations

import re
from collections.abc import Iterable

# An ordinal is written without padding, so `gpu-07` is no node of ours.
_ORDINAL = re.compile(r"0|[1-9][0-9]{0,8}")


def owner(node: str, pools: Iterable[str]) -> tuple[str, int] | None:
    """Return the pool and the ordinal of a worker, or None for a name that is no worker's.

    Pool names hold digits and hyphens themselves, so only the last hyphen splits, and only a known pool
    counts.
    """
    pool, hyphen, ordinal = node.rpartition("-")
    if not hyphen or not _ORDINAL.fullmatch(ordinal):
        return None
    return (pool, int(ordinal)) if pool in pools else None
