"""How a plan and its progress are told."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from npa.cli import screen
from npa.cli.options import Output

if TYPE_CHECKING:
    from npa.cli.progress import Listener
    from npa.health.assess import Report
    from npa.plan.model import Plan

DEGRADED = 4  # the exit code of a cluster that is there and not well


def plan(made: Plan, following: str, output: Output) -> None:
    """Answer with a plan and the command that does it."""
    from npa.plan import codec, text

    if output == "json":
        screen.document(codec.encode(made))
    else:
        screen.data(text.text(made, following))


def plan_text(text: str, output: Output) -> None:
    """Show the plan; in JSON mode stdout is kept for the one document."""
    (screen.progress if output == "json" else screen.data)(text)


def ending(agreed: Plan) -> str:
    """Say in a question how many jobs would end."""
    count = len(agreed.killed_jobs)
    return f" and end {count} running job{'s' * (count != 1)}" if count else ""


def progress(agreed: Plan) -> AbstractContextManager[Listener]:
    """Return what shows the events of a plan."""
    from npa.cli import progress

    return progress.shown(agreed)


def report(version: str, agreed: Plan, found: Report, output: Output) -> None:
    """Tell how well a cluster is after a plan was carried out."""
    from npa.health import text
    from npa.plan import codec

    if output == "text":
        screen.data(text.text(found))
        return
    document: dict[str, Any] = {
        "schema_version": version,
        "ok": found.ok,
        "plan": codec.encode(agreed),
        "report": text.to_dict(found),
        "next_command": found.next_command,
    }
    screen.document(document)
