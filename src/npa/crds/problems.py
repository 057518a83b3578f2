"""What a model refuses, in the words of whoever wrote the object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from npa.errors import Problem

_WANTED = {
    "string_type": "a string",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "int_or_string_type": "a whole number or a string",
}
_SHOWN = 60  # characters of a value in a message


def of(error: ValidationError, value: object) -> list[Problem]:
    """Return one problem for everything that a model refused, each with its path."""
    found = [
        _problem(each["type"], each["loc"], each.get("ctx", {}), value)
        for each in error.errors(include_url=False, include_input=False)
    ]
    return list(dict.fromkeys(found))


def dotted(loc: Sequence[str | int]) -> str:
    """Return a path as users write it: `spec.volumeSources[1].name`."""
    path = ""
    for part in loc:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def _problem(kind: str, loc: tuple[str | int, ...], context: Mapping[str, Any], value: object) -> Problem:
    at, held = dotted([part for part in loc if part != "[key]"]), _look_up(value, loc)
    if kind == "missing":
        return Problem(0, 0, at, "is required", f"give `{loc[-1]}` a value")
    if kind == "literal_error":
        return Problem(0, 0, at, f"{_what(held)} is none of its values", f"choose {context['expected']}")
    if kind in ("too_short", "string_too_short"):
        least = context.get("min_length", 1)
        return Problem(0, 0, at, "must not be empty", f"give at least {least}")
    if kind == "string_pattern_mismatch":
        return Problem(
            0, 0, at, f"{_what(held)} is not written as it has to be", f"it has to match {context['pattern']}"
        )
    if kind in ("greater_than_equal", "less_than_equal"):
        limit = context.get("ge", context.get("le"))
        word = "at least" if "ge" in context else "at most"
        return Problem(0, 0, at, f"{_what(held)} is out of its range", f"it has to be {word} {limit}")
    if kind == "quantity":
        return Problem(0, 0, at, f"{_what(held)} is no quantity", "write a number and a unit such as Gi")
    wanted = _WANTED.get(kind, "another value")
    return Problem(0, 0, at, f"must be {wanted}, not {_what(held)}", f"give {wanted}")


def _look_up(value: Any, loc: tuple[str | int, ...]) -> Any:
    for part in loc:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _what(value: object) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return f"{value[:_SHOWN]!r}"
    return str(value)[:_SHOWN] if isinstance(value, int | float) else f"a {type(value).__name__}"
