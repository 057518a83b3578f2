"""Asking before something is changed."""

from __future__ import annotations

from npa.cli import screen
from npa.errors import RefusedError


def agree(question: str, yes: bool) -> None:
    """Return once somebody agreed; raise RefusedError otherwise."""
    if yes:
        return
    if not screen.has_person():
        raise RefusedError("nobody to ask: this is no terminal", hint="add `--yes` to go on without asking")
    if not screen.asked(question):
        raise RefusedError("not agreed to, nothing was touched", hint="answer `y` to go on")
