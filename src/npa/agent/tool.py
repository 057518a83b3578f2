"""A Tool: what a program may call, with the schemas of what goes in and comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from npa.agent import schema
from npa.spec.base import Model

if TYPE_CHECKING:
    from npa.plan.model import Event

I = TypeVar("I", bound=Model)  # noqa: E741 - input
Heard = Callable[["Event"], None]
DEGRADED = 4


class Output(BaseModel):
    """What a tool answers: one document with a version, the same on every surface."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ok: bool


def _nothing(_: Any) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class Tool(Generic[I]):
    """One tool; `run` is a thin view of the api."""

    name: str  # `infra.soperator.plan`
    summary: str  # one line
    input: type[I]
    output: type[Output]
    run: Callable[[I, Heard], Output]
    effect: Literal["reads", "changes", "destroys"] = "reads"
    # What a call changes, in words: `cluster demo`. While it runs nothing else may change it. None: it only
    # looks and ends soon.
    claims: Callable[[I], tuple[str, ...]] = _nothing

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of what goes in."""
        return schema.of(self.input)

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """The JSON Schema of what comes out unless the call failed."""
        return schema.of(self.output)

    def describe(self) -> dict[str, Any]:
        """Return the tool as JSON has it."""
        return {
            "name": self.name,
            "summary": self.summary,
            "effect": self.effect,
            "input_schema": self.input_schema,
            "output_schema": self.output_schema,
        }
