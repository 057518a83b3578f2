"""Conditions of a status: what is so, since when, and what of it is news."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from npa.render.objects import Object, condition, dig

Truth = Literal["True", "False", "Unknown"]
APART = frozenset({"Reconciled"})  # conditions that are written by who runs the decisions
LONGEST = 2000  # characters of a message
_SHOWN = 10  # things that a message lists


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that is so, is not so, or could not be found out."""

    type: str
    status: Truth
    reason: str  # one word in CamelCase
    message: str = ""

    @property
    def holds(self) -> bool:
        """Whether it is so."""
        return self.status == "True"


def rows(found: Object, wanted: Iterable[Condition], now: float) -> list[dict[str, Any]]:
    """Return conditions as a status has them; each keeps the moment at which it last became so."""
    generation = dig(found, "metadata", "generation") or 0
    listed = []
    for each in wanted:
        old = condition(found, each.type)
        since = (
            old.get("lastTransitionTime") if old is not None and old.get("status") == each.status else None
        )
        listed.append(
            {
                "type": each.type,
                "status": each.status,
                "reason": each.reason,
                "message": each.message[:LONGEST],
                "observedGeneration": generation,
                "lastTransitionTime": since or moment(now),
            }
        )
    return listed


def news(found: Object, wanted: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return the conditions that say another thing than before."""
    changed = []
    for each in wanted:
        old = condition(found, each.type) or {}
        if (old.get("status"), old.get("reason"), old.get("message")) != (
            each.status,
            each.reason,
            each.message[:LONGEST],
        ):
            changed.append(each)
    return tuple(changed)


def said(found: Object, kind: str) -> Condition | None:
    """Return a condition as the object's status has it."""
    row = condition(found, kind)
    if row is None or row.get("status") not in ("True", "False", "Unknown"):
        return None
    return Condition(kind, row["status"], str(row.get("reason") or ""), str(row.get("message") or ""))


def some(lines: Iterable[str]) -> str:
    """Return the first of many lines, and how many more there are."""
    listed = list(lines)
    more = len(listed) - _SHOWN
    return "; ".join(listed[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def moment(seconds: float) -> str:
    """Return a moment as the API writes it."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def same(found: object, wanted: Mapping[str, Any]) -> bool:
    """Say whether a status is there already, whatever others say besides."""
    if not isinstance(found, Mapping):
        return False
    there = dict(found)
    listed = there.get("conditions")
    if isinstance(listed, list):
        there["conditions"] = [row for row in listed if row.get("type") not in APART]
    return there == dict(wanted)
