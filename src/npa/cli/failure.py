"""An exception as people and programs read it, and its exit code."""

from __future__ import annotations

from typing import Any

from npa.api.failure import described
from npa.cli import screen

__all__ = ["described", "tell"]


def tell(error: BaseException, *, as_json: bool, debug: bool) -> int:
    """Print an error, as one JSON document on stdout too where asked, and return the exit code."""
    if debug:
        import traceback

        screen.progress("".join(traceback.format_exception(error)).rstrip())
    document, code = described(error)
    screen.progress("\n".join(_lines(document["error"])))
    if as_json:
        screen.document(document)
    return code


def _lines(body: dict[str, Any]) -> list[str]:
    """Return the text of an error: each thing that is wrong, and what to do about it."""
    told = [(each["text"], each["hint"]) for each in body["problems"]]
    told = told or [(each["message"], each["hint"]) for each in body.get("lacks", ())]
    told = told or [(body["message"], body["hint"])]
    lines = []
    for what, fix in told:
        lines.append(f"error: {what}")
        if fix:
            lines.append(f"hint: {fix}")
    return lines
