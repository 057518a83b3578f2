"""Who owns a drain: the reason says so, and nobody undoes another's."""

from __future__ import annotations

PREFIX = "npa: "


def ours(reason: str) -> bool:
    """Say whether npa set this reason; a reason that merely mentions npa is somebody else's."""
    return reason.startswith(PREFIX)


def leaving(why: str) -> str:
    """Return the reason of a node that is about to be stopped."""
    return PREFIX + why
