"""What a value must look like for Slurm to take it; each function says what is wrong, or nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable

from npa.slurm import keys_values
from npa.slurm.keys import Kind
from npa.slurm.quantity import UNLIMITEDS, QuantityError, parse_time
from npa.spec import nearest

_MANUAL = "see slurm.conf(5) for what it may be"
Wrong = tuple[str, str]  # message, hint

_BITS = {"u16": 16, "u32": 32, "u64": 64}
# As strtoull(3) with base 0 reads it: `010` is 8. Slurm takes K as a suffix, except with 16 bits.
_INT = re.compile(r"\+?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)([kK]?)")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)")
_BOOLS = frozenset({"yes", "up", "true", "1", "no", "down", "false", "0"})
_WEIGHT = re.compile(r"[0-9]+(?:\.[0-9]+)?[KMGTP]?")
_SIZE = re.compile(r"([0-9]+)\s*([mMgGtT])(?:i?[bB])?")
_MIB = {"m": 1, "g": 1024, "t": 1024**2}


def fault(kind: Kind, value: str) -> Wrong | None:
    """Return why a value cannot be read as its kind."""
    if kind == "bool":
        return None if value.lower() in _BOOLS else (f"{value!r} is neither YES nor NO", "write YES or NO")
    if kind == "float":
        return (
            None if _FLOAT.fullmatch(value.rstrip("%")) else (f"{value!r} is not a number", "write a number")
        )
    return _integer_fault(kind, value) if kind in _BITS else None


def integer(value: str) -> int | None:
    """Return the number of a value, None for UNLIMITED and for what is no number."""
    found = _INT.fullmatch(value.strip())
    if found is None:
        return None
    digits = found[1]
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xX"
    return (int(digits, 8) if octal else int(digits, 0)) * (1024 if found[2] else 1)


def _integer_fault(kind: Kind, value: str) -> Wrong | None:
    if value.lower() in UNLIMITEDS:
        return None
    found, number = _INT.fullmatch(value.strip()), integer(value)
    most = 2 ** _BITS[kind] - 1
    if found is None or number is None or (found[2] and kind == "u16"):
        size = _SIZE.fullmatch(value)
        if size:
            return f"{value!r} is not a number", f"write it in MiB: {int(size[1]) * _MIB[size[2].lower()]}"
        if value.startswith("-"):
            return f"must be between 0 and {most}, is {value}", "write a number that is not negative"
        return f"{value!r} is not a number", "write a whole number"
    if number > most:
        return f"must be between 0 and {most}, is {value}", "write a smaller number"
    return None


def time_fault(value: str) -> Wrong | None:
    """Return why a value is no time limit."""
    try:
        known = value.lower() in UNLIMITEDS or value == "-1" or parse_time(value) is not None
    except QuantityError:
        known = False
    hint = "write minutes, `hours:minutes:seconds`, `days-hours`, or UNLIMITED"
    return None if known else (f"{value!r} is not a time", hint)


def word_fault(value: str, legal: Iterable[str], *, exact: bool = False) -> Wrong | None:
    """Return why a value is not one of the words, whose case is free unless `exact`."""
    legal = tuple(legal)
    if value in legal or (not exact and value.lower() in {word.lower() for word in legal}):
        return None
    return f"{value!r} is unknown", nearest.hint(value, legal) or _MANUAL


def plugin_fault(key: str, value: str, release_words: Iterable[str]) -> Wrong | None:
    """Return why a value names no plugin of its kind that is there."""
    prefix, short, several = keys_values.PLUGIN_OF[key]
    legal = tuple(release_words)
    if key in keys_values.NONE_ALONE.split() and value == "none":
        return None
    for word in value.split(",") if several else (value,):
        given, slash, name = word.partition("/")
        if not slash and short:
            given, name = prefix, word
        if given != prefix or name not in legal:
            full = [f"{prefix}/{each}" for each in legal]
            meant = f"{prefix}/{word}" if not slash and word in legal else word
            return f"there is no plugin {word!r}", nearest.hint(meant, full) or _MANUAL
    return None


def is_tres(word: str) -> bool:
    """Whether a word is a kind of trackable resource, as in `cpu` or `gres/gpu`."""
    known = keys_values.TRES_TYPES.split()
    low = word.lower()
    return any(low == each or (each.endswith("/") and low.startswith(each) and low != each) for each in known)


def weights_fault(value: str) -> Wrong | None:
    """Return why a value is no list of weights, as in `CPU=1.0,Mem=0.25G`."""
    for word in value.split(","):
        name, _, weight = word.partition("=")
        if not is_tres(name) or not _WEIGHT.fullmatch(weight):
            return f"{word!r} is no weight", "write `CPU=1.0,Mem=0.25G`"
    return None
