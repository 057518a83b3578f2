"""How a plan and its progress are told."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from npa.cli import screen
from npa.cli.options import Output

if TYPE_CHECKING:
    from npa.cli.progress import Listener
    from npa.plan.model import Plan


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
