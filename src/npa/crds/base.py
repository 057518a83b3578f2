"""What all models of the API are made of: frozen parts, and fields that say what they mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

T = TypeVar("T")

QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
DURATION_PATTERN = (
    r"^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$"
)


@dataclass(frozen=True, slots=True)
class Cel:
    """A rule that the API server keeps by itself, in the Common Expression Language."""

    rule: str
    message: str


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """What the schema says of a type besides what Python says of it."""

    words: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Says:
    """What a field means, and what of it the schema has to know and Python does not."""

    meaning: str
    written: bool | None = None  # the API server writes the default; None: unless it is empty or none
    cel: tuple[Cel, ...] = ()
    set_of: bool = False  # a list without duplicates, merged by value


def says(
    meaning: str,
    *,
    alias: str = "",
    written: bool | None = None,
    cel: tuple[Cel, ...] = (),
    set_of: bool = False,
    **limits: Any,
) -> Any:
    """Describe a field; `limits` are pydantic's: ge, le, min_length, pattern."""
    told: Any = {"says": Says(meaning, written, cel, set_of)}
    named: dict[str, Any] = {"alias": alias} if alias else {}
    return Field(description=meaning, json_schema_extra=told, **named, **limits)


def _listed(value: object) -> object:
    # strict mode takes only a tuple for a tuple, and every reader of JSON makes lists
    return tuple(value) if isinstance(value, list) else value


def _int_or_string(value: object) -> object:
    # a union of types would report one problem for each member
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise PydanticCustomError("int_or_string_type", "a whole number or a string")
    return value


def _quantity(value: object) -> object:
    text = str(_int_or_string(value))
    if not re.fullmatch(QUANTITY_PATTERN[1:-1], text):
        raise PydanticCustomError("quantity", "a quantity")
    return value


def camel(name: str) -> str:
    """Return the key of an attribute: `k8s_node_filters` is `k8sNodeFilters`."""
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


Listed = BeforeValidator(_listed)
Items = Annotated[tuple[T, ...], Listed]
Raw = Mapping[str, Any]  # a part of the Kubernetes API itself, taken as it is
StringMap = Mapping[str, str]
NOTHING: dict[str, Any] = {}  # default of a mapping; pydantic copies it
Int32 = Annotated[int, Field(ge=-(2**31), le=2**31 - 1), Schema({"format": "int32"})]
Int64 = Annotated[int, Field(ge=-(2**63), le=2**63 - 1), Schema({"format": "int64"})]
Moment = Annotated[str, Schema({"format": "date-time"})]
IntOrString = Annotated[
    int | str,
    BeforeValidator(_int_or_string),
    Schema({"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
]
Quantity = Annotated[
    int | str,
    BeforeValidator(_quantity),
    Schema(
        {
            "x-kubernetes-int-or-string": True,
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "pattern": QUANTITY_PATTERN,
        }
    ),
]


class Part(BaseModel):
    """A part of an object: what the API does not know is left out, null is the same as not given."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", strict=True, alias_generator=camel, hide_input_in_errors=True
    )
    RULES: ClassVar[tuple[Cel, ...]] = ()

    @model_validator(mode="before")
    @classmethod
    def _null_is_not_given(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        return {key: held for key, held in value.items() if held is not None}


def said(field: Any) -> Says:
    """Return what a field of a model says of itself."""
    extra = field.json_schema_extra
    found = extra.get("says") if isinstance(extra, dict) else None
    return found if isinstance(found, Says) else Says("")
