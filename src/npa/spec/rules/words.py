"""What is wrong with a word, told by the character that makes it so."""

from __future__ import annotations

import re
import unicodedata

SHOWN = 80  # characters of a word that a message repeats

# Controls, line and paragraph separators, lone surrogates: what would end or garble a line of a file.
_UNPRINTABLE = frozenset({"Cc", "Zl", "Zp", "Cs"})


def shown(word: str) -> str:
    """Return a word as messages quote it, escaped and cut."""
    return repr(word if len(word) <= SHOWN else f"{word[:SHOWN]}…")


def character(one: str) -> str:
    """Return how messages name a character: by code point, so that look-alikes can be told apart."""
    name = unicodedata.name(one, "")
    face = f"{one!r} " if one.isascii() and one.isprintable() else ""
    return f"{face}U+{ord(one):04X}{f' {name}' if name and not face else ''}"


def fault(word: str, pattern: str, legal: str, longest: int = 0) -> str:
    """Say why a word does not match its pattern, whose characters are all `legal`; "" where it does.

    `longest` 0 leaves the length to another rule.
    """
    if not word:
        return "is empty"
    strange = re.sub(f"[{legal}]", "", word)
    if strange:
        return f"{shown(word)} holds {character(strange[0])}"
    if 0 < longest < len(word):
        return f"{shown(word)} has {len(word)} characters, at most {longest} are allowed"
    if re.fullmatch(pattern, word):
        return ""
    if len(word) == 1:
        return (
            f"{shown(word)} is too short" if re.fullmatch(pattern, word * 2) else f"{shown(word)} is no name"
        )
    first = re.fullmatch(pattern, word[0] * 2) is None
    where, which = ("begins", word[0]) if first else ("ends", word[-1])
    return f"{shown(word)} {where} with {character(which)}"


def unprintable(text: str) -> str:
    """Return the first character that would break or garble a line, or ""."""
    return next((one for one in text if unicodedata.category(one) in _UNPRINTABLE), "")
