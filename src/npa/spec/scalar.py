"""One scalar of YAML: what it is, without turning it into something else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.resolver import Resolver

MAX_INT = 1 << 63
_RESOLVER: Any = Resolver()
TAG = "tag:yaml.org,2002:"
_DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]*)")
# Strings to YAML 1.1, as PyYAML reads it, and numbers to YAML 1.2: `1e3`, `0o17`.
_NUMBER_ELSEWHERE = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|0o[0-7]+")


@dataclass(frozen=True, slots=True)
class Odd:
    """A scalar that is no string, whole number, boolean or null; no field takes one."""

    text: str
    kind: str


def scalar(event: yaml.ScalarEvent) -> tuple[Any, tuple[str, ...]]:
    """Return what a scalar is, and (message, hint) where it cannot be read."""
    text = event.value
    if event.tag not in (None, "!"):
        if event.tag == f"{TAG}str":
            return text, ()
        return Odd(text, "the tagged value"), (f"tag `{event.tag}` is not read", "remove the tag")
    # The C parser has its own word for an unquoted style; both set the first flag for one.
    if not event.implicit[0]:
        return text, ()
    kind = str(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False))).removeprefix(TAG)
    if kind == "null":
        return None, ()
    if kind == "bool":
        return text.lower() in ("yes", "true", "on"), ()
    if kind == "int":
        return _whole(text), ()
    if kind == "timestamp":
        return Odd(text, "the date"), ()
    if kind == "float" or _NUMBER_ELSEWHERE.fullmatch(text):
        return Odd(text, "the number"), ()
    return text, ()


def _whole(text: str) -> int | Odd:
    if not _DECIMAL.fullmatch(text):
        # Octal, hexadecimal, base 60 or with underscores: seldom what was meant.
        return Odd(text, "the number")
    if len(text) > 20 or abs(int(text)) >= MAX_INT:
        return Odd(text, "a number too large,")
    return int(text)
