"""What is written of a status: only what differs, and what the operator itself has to say; pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from npa.render.objects import Object, condition, dig

RECONCILED = "Reconciled"  # False while looking at an object fails; gone once it went well
_LONGEST = 2000  # characters of a message


def patch(found: object, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merge patch that makes a mapping exactly the wanted one; empty where it is already."""
    there = found if isinstance(found, Mapping) else {}
    changes: dict[str, Any] = {key: None for key in there if key not in wanted}
    for key, value in wanted.items():
        if isinstance(value, Mapping) and isinstance(there.get(key), Mapping):
            if inner := patch(there[key], value):
                changes[key] = inner
        elif key not in there or there[key] != value:
            changes[key] = value
    return changes


def wanted(found: Object, decided: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the status to write after a look that went well; None where it may stay as it is."""
    failed = condition(found, RECONCILED)
    if decided is None and failed is None:
        return None
    status = dict(decided if decided is not None else found.get("status") or {})
    rows = status.get("conditions")
    if isinstance(rows, list):
        status["conditions"] = [row for row in rows if row.get("type") != RECONCILED]
    return status


def failed(found: Object, reason: str, message: str, now: datetime) -> Mapping[str, Any] | None:
    """Return the status that says that looking at an object fails; None where it says so already."""
    old = condition(found, RECONCILED)
    message = message[:_LONGEST]
    if old is not None and (old.get("reason"), old.get("message")) == (reason, message):
        return None
    since = old.get("lastTransitionTime") if old is not None else None
    row = {
        "type": RECONCILED,
        "status": "False",
        "reason": reason,
        "message": message,
        "lastTransitionTime": since or now.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    rows = [each for each in dig(found, "status", "conditions") or () if each.get("type") != RECONCILED]
    return {**(found.get("status") or {}), "conditions": [*rows, row]}
