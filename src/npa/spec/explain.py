"""The spec's fields in words and as JSON Schema; both are read from the models."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from npa.errors import UsageError
from npa.spec import nearest, shape
from npa.spec.model import Model, SoperatorSpec

DIALECT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class Explanation:
    """What one field of the spec is; the empty path is the whole spec."""

    path: str  # `workers[].fabric`
    type: str
    default: str  # as YAML writes it; empty where the field is required or is a mapping
    rule: str
    meaning: str
    required: bool = False
    children: tuple[str, ...] = ()  # paths of the fields below


def explain(path: str = "") -> Explanation:
    """Explain a field by its dotted path, indices optional; raise UsageError where there is none."""
    names = tuple(name for name in re.sub(r"\[[0-9]*\]", "", path).split(".") if name)
    if not names:
        meaning = _sentence(SoperatorSpec.__doc__)
        return Explanation("", "mapping", "", "", meaning, children=_children(SoperatorSpec, ""))
    field = shape.field(names)
    if field is None:
        raise _unknown(path, names)
    whole = _written(names)
    model = shape.model_in(field.annotation)
    outer = f"{whole}[]" if shape.is_list(field.annotation) else whole
    return Explanation(
        path=whole,
        type=_type(field.annotation),
        default=_default(field),
        rule=_rule(field),
        meaning=field.description or "",
        required=field.is_required(),
        children=_children(model, outer) if model else (),
    )


def json_schema(root: type[Model] = SoperatorSpec) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a spec, for editors; rules between fields are not in it."""
    schema = _plain(root.model_json_schema())
    assert isinstance(schema, dict)
    return {"$schema": DIALECT, **schema}


def _unknown(path: str, names: tuple[str, ...]) -> UsageError:
    good = 0
    while shape.field(names[: good + 1]) is not None:
        good += 1
    meant = nearest.hint(names[good], shape.keys(names[:good]))
    under = f" under {_written(names[:good])}" if good else ""
    return UsageError(f"{path[:80]}: the spec has no `{names[good][:60]}`{under}", hint=meant)


def _written(names: tuple[str, ...]) -> str:
    """Write names as a path, with `[]` after each list that is not the last."""
    parts = []
    for end in range(1, len(names) + 1):
        field = shape.field(names[:end])
        listed = field is not None and shape.is_list(field.annotation) and end < len(names)
        parts.append(names[end - 1] + ("[]" if listed else ""))
    return ".".join(parts)


def _children(model: type[Model], path: str) -> tuple[str, ...]:
    return tuple(f"{path}.{name}" if path else name for name in model.model_fields)


def _type(annotation: Any) -> str:
    """Name a type in YAML's words."""
    if shape.is_list(annotation):
        return f"list of {_type(get_args(annotation)[0])}s"
    if get_origin(annotation) is dict or shape.model_in(annotation):
        return "mapping"
    words = {str: "string", int: "integer", bool: "boolean", type(None): "null"}
    if annotation in words:
        return words[annotation]
    return " or ".join(each if isinstance(each, str) else _type(each) for each in get_args(annotation))


def _default(field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True, validated_data={})
    if field.is_required() or isinstance(default, Model):
        return ""
    return json.dumps(default)


def _rule(field: FieldInfo) -> str:
    extra = field.json_schema_extra
    return str(extra.get("x-rule", "")) if isinstance(extra, dict) else ""


def _sentence(doc: str | None) -> str:
    text = (doc or "").splitlines()[0].rstrip(".")
    return text[:1].lower() + text[1:]


def _plain(node: Any) -> Any:
    """Fold the rule in words into the description, which is what editors show."""
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if not isinstance(node, dict):
        return node
    node = {key: _plain(value) for key, value in node.items()}
    rule = node.pop("x-rule", "")
    if rule:
        node["description"] = f"{node.get('description', '')} ({rule})"
    return node
