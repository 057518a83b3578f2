"""Values as HCL writes them in a `.tfvars` file, so that Terraform reads back exactly what was given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

Value = str | int | bool | None | Sequence["Value"] | Mapping[str, "Value"]

INDENT = "  "

# `${` and `%{` begin a template; only the sign right before the brace counts, however many come before it.
_TEMPLATE = re.compile(r"([$%])\{")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def string(text: str) -> str:
    """Return a quoted string in ASCII; raises ValueError for half a surrogate pair, which no text has.

    Terraform itself composes characters (NFC), so a decomposed one comes back composed.
    """
    doubled = _TEMPLATE.sub(r"\1\1{", text)
    return '"' + "".join(map(_character, doubled)) + '"'


def assignments(values: Mapping[str, Value]) -> str:
    """Return a whole file: one `name = value` for each entry, in their order."""
    return "".join(f"{_key(name)} = {_value(value, '')}\n" for name, value in values.items())


def _value(value: Value, indent: str) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return string(value)
    if isinstance(value, Mapping):
        return _block("{", (f"{_key(key)} = {_value(each, indent + INDENT)}" for key, each in value.items()),
                      "}", indent)  # fmt: skip
    return _block("[", (f"{_value(each, indent + INDENT)}," for each in value), "]", indent)


def _block(opening: str, lines: Iterator[str], closing: str, indent: str) -> str:
    inside = "".join(f"{indent}{INDENT}{line}\n" for line in lines)
    return f"{opening}\n{inside}{indent}{closing}" if inside else opening + closing


def _key(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"not a name in HCL: {name!r}")
    return name


def _character(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return character
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError("half a surrogate pair is no character")
    # HCL takes no pairs: a character beyond 16 bits has an escape of its own.
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
