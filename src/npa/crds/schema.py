"""From a model to the structural schema by which the API server checks and completes objects.

Parts of the Kubernetes API itself are not spelled out: the API server takes them as they are, and refuses
them when a pod is made of them. So a definition stays small enough for `kubectl apply`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from inspect import cleandoc
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined, to_jsonable_python

from npa.crds.base import Cel, Part, Says, Schema, said
from npa.crds.parts import Condition

Words = dict[str, Any]

_OPEN: Words = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_PLAIN: dict[Any, str] = {str: "string", bool: "boolean", int: "integer"}


def of(model: type[Part]) -> Words:
    """Return the schema of a part: its fields, what they default to, and the rules between them."""
    words: Words = {
        "type": "object",
        "description": sentence(cleandoc(model.__doc__ or "")),
        "properties": {key: _field(each) for key, each in fields(model).items()},
    }
    required = [key for key, each in fields(model).items() if each.is_required()]
    if required:
        words["required"] = required
    if model.RULES:
        words["x-kubernetes-validations"] = _rules(model.RULES)
    if model.model_config.get("extra") == "allow":
        words["x-kubernetes-preserve-unknown-fields"] = True
    return words


@cache
def fields(model: type[Part]) -> dict[str, FieldInfo]:
    """Return the fields of a part by their keys."""
    return {each.alias or name: each for name, each in model.model_fields.items()}


@cache
def parts(model: type[Part]) -> dict[str, type[Part]]:
    """Return the parts that a part's fields are, list or map to, by their keys."""
    found = {key: part_in(each.annotation) for key, each in fields(model).items()}
    return {key: each for key, each in found.items() if each is not None}


def default(field: FieldInfo) -> Any:
    """Return what the API server writes where the field is not given; None where it writes nothing."""
    told, value = said(field).written, field.default
    if told is False or value is None or value is PydanticUndefined:
        return None
    if isinstance(value, Part):
        return value.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    if isinstance(value, tuple | dict) and not value and told is not True:
        return None
    return to_jsonable_python(value)


def part_in(annotation: Any) -> type[Part] | None:
    """Return the part that an annotation is, lists or maps to; None where it is none."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    found = (part_in(each) for each in get_args(annotation))
    return next((each for each in found if each is not None), None)


def _field(field: FieldInfo) -> Words:
    told = said(field)
    marks = [each for each in field.metadata if isinstance(each, Schema)]
    words = {**_type(field.annotation, marks), **_limits(field.metadata, field.annotation)}
    words["description"] = sentence(told.meaning)
    if (value := default(field)) is not None:
        words["default"] = value
    return {**words, **_lists(told, field.annotation)}


def _lists(told: Says, annotation: Any) -> Words:
    words: Words = {}
    if told.cel:
        words["x-kubernetes-validations"] = _rules(told.cel)
    if told.set_of:
        words["x-kubernetes-list-type"] = "set"
    if part_in(annotation) is Condition:
        words |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}
    return words


def _type(annotation: Any, marks: list[Schema]) -> Words:
    """Return what a schema says of a type; `marks` came with it."""
    origin, args = get_origin(annotation), get_args(annotation)
    if hasattr(annotation, "__metadata__"):  # Annotated within a list, a mapping or an optional
        inner = [each for each in annotation.__metadata__ if isinstance(each, Schema)]
        return _type(annotation.__origin__, [*inner, *marks])
    for mark in marks:
        if "anyOf" in mark.words:
            return dict(mark.words)
    if origin in (Union, UnionType):
        (held,) = (each for each in args if each is not NoneType)
        return _type(held, marks)
    if origin is tuple:
        return {"type": "array", "items": _type(args[0], [])}
    if origin is Literal:
        return {"type": "string", "enum": list(args)}
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return of(annotation)
    if origin is not None and issubclass(origin, Mapping):
        return (
            dict(_OPEN) if args[1] is Any else {"type": "object", "additionalProperties": _type(args[1], [])}
        )
    return {"type": _PLAIN[annotation], **{key: word for mark in marks for key, word in mark.words.items()}}


def _limits(metadata: list[Any], annotation: Any) -> Words:
    listed = get_origin(annotation) is tuple
    words: Words = {}
    for each in metadata:
        if isinstance(each, Ge) and each.ge not in (-(2**31), -(2**63)):
            words["minimum"] = each.ge
        elif isinstance(each, Le) and each.le not in (2**31 - 1, 2**63 - 1):
            words["maximum"] = each.le
        elif isinstance(each, MinLen):
            words["minItems" if listed else "minLength"] = each.min_length
        elif isinstance(each, MaxLen):
            words["maxLength"] = each.max_length
        elif pattern := getattr(each, "pattern", None):
            words["pattern"] = pattern
    return words


def _rules(rules: tuple[Cel, ...]) -> list[Words]:
    return [{"rule": each.rule, "message": each.message} for each in rules]


def sentence(text: str) -> str:
    """Return a text as a sentence; the names of Slurm's programs are written small."""
    first = text[:1] if text.startswith("slurm") else text[:1].upper()
    return f"{first}{text[1:]}{'' if text.endswith('.') else '.'}" if text else ""
