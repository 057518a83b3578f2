"""What all parts of the spec are made of: a strict frozen model, and fields that can explain themselves."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError


def says(meaning: str, rule: str = "", *, shown: bool = True, **schema: Any) -> Any:
    """Describe a field: what it means, the rule it keeps in words, and that rule in JSON Schema's words."""
    return Field(description=meaning, json_schema_extra={"x-rule": rule, **schema}, repr=shown)


def _listed(value: object) -> object:
    # Strict mode takes only a tuple for a tuple, and every reader of YAML or JSON makes lists.
    return tuple(value) if isinstance(value, list) else value


def _scalar(value: object) -> object:
    # A union of types would report one problem for each member, none of them in the user's words.
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise PydanticCustomError("setting_type", "a string or a whole number")
    return value


Listed = BeforeValidator(_listed)
Setting = Annotated[str | int, BeforeValidator(_scalar)]


class Model(BaseModel):
    """A frozen part of the spec: no unknown keys, no value taken for one of another type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)
