"""Plain values to the typed spec, with every value of a wrong type told in the user's words."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from npa.spec import nearest, shape
from npa.spec.finding import Finding
from npa.spec.model import SELECTORS, Model
from npa.spec.scalar import Odd

Loc = tuple[str | int, ...]
M = TypeVar("M", bound=Model)

_WANTED = {
    "string_type": "a string",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "setting_type": "a string or a whole number",
}
# Stand in for required values that are missing or wrong; no rule's finding about them is shown.
_STAND_INS: dict[str, Any] = {"name": "", "workers": [], "projects": []}


@dataclass(frozen=True, slots=True)
class Decoded(Generic[M]):
    """As much of a spec as could be read: `spec` holds stand-ins at the `unread` paths."""

    spec: M | None
    findings: tuple[Finding, ...] = ()
    unread: frozenset[str] = frozenset()


def decode(value: Any, texts: dict[str, str], root: type[M]) -> Decoded[M]:
    """Decode plain values as a model; `texts` maps a path to how its scalar was written."""
    if not isinstance(value, dict):
        hint = "begin with `name: <name>`"
        return Decoded(None, (Finding("", f"must be a mapping, not {_what(value, '')}", hint),))
    try:
        return Decoded(root.model_validate(value))
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=True)
    value = copy.deepcopy(value)
    findings, unread = [], set()
    for each in errors:
        loc = each["loc"]
        path = dotted(loc)
        findings.append(_finding(each["type"], loc, _look_up(value, loc), texts.get(path, ""), root))
        if each["type"] != "extra_forbidden":
            unread.add(path)
    for each in errors:
        _stand_in(value, each["loc"], each["type"])
    try:
        spec = root.model_validate(value)
    except ValidationError:
        spec = None
    return Decoded(spec, tuple(findings), frozenset(unread))


def dotted(loc: Loc) -> str:
    """Return a location as users write it: `workers[1].fabric`."""
    path = ""
    for part in loc:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def _look_up(value: Any, loc: Loc) -> Any:
    for part in loc:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _finding(kind: str, loc: Loc, value: Any, text: str, root: type[Model]) -> Finding:
    path, last = dotted(loc), str(loc[-1])
    if kind == "missing":
        return Finding(path, "is required", f"add `{last}`")
    if kind == "extra_forbidden":
        return Finding(path, f"unknown key `{last[:60]}`", _meant(loc, root), on_key=True)
    if kind == "literal_error":
        legal = ("local", "kubernetes", "nebius")
        shown = f"`{value[:60]}`" if isinstance(value, str) else _what(value, text)
        return Finding(path, f"{shown} is no target", nearest.hint(str(value), legal))
    wanted = _WANTED.get(kind, "another value")
    if last in SELECTORS:
        # What selects a reservation is never shown, not even where it is wrong.
        return Finding(path, f"must be {wanted}", "quote it, or remove the line")
    return Finding(path, f"must be {wanted}, not {_what(value, text)}", _fix(kind, value, text))


def _meant(loc: Loc, root: type[Model]) -> str:
    names = tuple(part for part in loc[:-1] if isinstance(part, str))
    return nearest.hint(str(loc[-1]), shape.keys(names, root))


def _what(value: Any, text: str) -> str:
    """Say what a value is: `the number `1.30``."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = text or (value.text if isinstance(value, Odd) else str(value))
    if isinstance(value, Odd):
        kind = value.kind
    elif isinstance(value, bool):
        kind = "the boolean"
    elif isinstance(value, int | float):
        kind = "the number"
    elif isinstance(value, str):
        kind = "the string"
    else:
        return f"a {type(value).__name__}"
    return f"{kind} `{text[:60]}`" if text else kind.rstrip(",")


def _fix(kind: str, value: Any, text: str) -> str:
    if value is None:
        return "write `{}`, or remove the line" if "model" in kind else "give a value, or remove the line"
    if kind == "string_type" and not isinstance(value, dict | list | str):
        text = text or (value.text if isinstance(value, Odd) else str(value))
        return f'quote it: "{text[:60]}"'
    if kind in ("int_type", "bool_type") and isinstance(value, str):
        plain = value.strip()
        if plain.isdecimal() or plain in ("true", "false"):
            return f"remove the quotes: {plain[:60]}"
    if kind == "int_type" and isinstance(value, Odd | float | bool):
        return "write plain decimal digits"
    if "model" in kind:
        return "write it as a mapping: `{...}`"
    if kind == "tuple_type":
        return "write it as a list: `[...]`"
    return ""


def _stand_in(value: Any, loc: Loc, kind: str) -> None:
    """Take a wrong value out, or put a stand-in where one must be."""
    parent, last = _look_up(value, loc[:-1]), loc[-1]
    if isinstance(parent, list) and isinstance(last, int):
        parent[last] = {"name": ""} if "model" in kind else ""
    elif isinstance(parent, dict):
        parent.pop(last, None)
        if kind != "extra_forbidden" and last in _STAND_INS:
            parent[last] = copy.copy(_STAND_INS[str(last)])
