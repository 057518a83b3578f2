"""Tools that do what a test says: one that waits at each step, and one that fails."""

from __future__ import annotations

import threading
from typing import Annotated, Any, Literal

from pydantic import Field

from npa.agent.inputs import Input
from npa.agent.tool import Heard, Output, Tool
from npa.plan.model import Event
from npa.spec.base import says

PATIENCE = 120.0


class Named(Input):
    """What the fake tools take."""

    name: Annotated[str, says("what is changed"), Field(min_length=1)]


class Changed(Output):
    """What they answer."""

    schema_version: Literal["npa.tool.fake/v1"] = "npa.tool.fake/v1"
    name: str


class Gate:
    """A change of two steps: it waits after the first until the test opens the gate."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()

    def close(self) -> None:
        """Close it again, for another test."""
        self.reached.clear()
        self.opened.clear()

    def run(self, asked: Named, heard: Heard) -> Changed:
        """Do two steps."""
        heard(Event("started", "one", "step one"))
        self.reached.set()
        assert self.opened.wait(PATIENCE), "the test never opened the gate"
        heard(Event("started", "two", "step two"))
        return Changed(ok=True, name=asked.name)

    def tool(self) -> Tool[Any]:
        """Return the tool."""
        return Tool(
            "infra.fake.change",
            "Change something in two steps.",
            Named,
            Changed,
            self.run,
            effect="destroys",
            claims=lambda asked: (f"thing {asked.name}",),
        )


def failing(error: BaseException, *, claims: bool = False) -> Tool[Any]:
    """Return a tool that ends with an error."""

    def run(_: Named, __: Heard) -> Changed:
        raise error

    return Tool(
        "infra.fake.fail",
        "Fail.",
        Named,
        Changed,
        run,
        claims=lambda asked: (f"thing {asked.name}",) if claims else (),
    )
