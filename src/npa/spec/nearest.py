"""The legal word that a wrong one was most likely meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LISTED = 12  # more than this is no help on one line


def nearest(word: str, legal: Iterable[str]) -> str:
    """Return the closest legal word, or "" where none is close."""
    folded = {each.casefold(): each for each in legal}
    # Long words take quadratic time, and none of ours is long.
    found = difflib.get_close_matches(word[:80].casefold(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else ""


def hint(word: str, legal: Iterable[str]) -> str:
    """Return the hint for a word that is not legal: the one meant, else all of them."""
    legal = tuple(legal)
    meant = nearest(word, legal)
    if meant:
        return f"did you mean `{meant}`"
    return f"choose one of {', '.join(legal)}" if 0 < len(legal) <= _LISTED else ""
