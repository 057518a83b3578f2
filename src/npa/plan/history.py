"""What was done to a cluster and when: a line of JSON for each beginning and each end of a plan.

The beginning is written before the first step, so that a command that was killed is told from one that never
ran. A line that cannot be read hides no other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Literal

from npa.plan.model import Plan

SCHEMA = "npa.soperator.history/v1"
KEEP = 200  # plans
SHOWN_STEPS = 40
LONGEST = 400  # characters of an error

# unfinished: it was killed, or goes on
Result = Literal["done", "failed", "stopped", "refused", "unfinished"]
RESULTS: tuple[Result, ...] = ("done", "failed", "stopped", "refused", "unfinished")


@dataclass(frozen=True, slots=True)
class Applied:
    """One plan that was applied."""

    id: str  # unique in the cluster's history
    verb: str  # deploy, repair
    began: datetime
    steps: tuple[str, ...]  # verb and subject of the first ones
    count: int  # of all steps
    result: Result = "unfinished"
    done: int = 0  # steps that ended well
    seconds: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """What could be read, oldest first."""

    plans: tuple[Applied, ...] = ()
    broken: int = 0  # lines


def begun(identity: str, verb: str, plan: Plan, now: datetime) -> Applied:
    """Return the entry of a plan that is about to be applied."""
    said = tuple(f"{step.verb} {step.subject}"[:LONGEST] for step in plan.steps[:SHOWN_STEPS])
    return Applied(identity, verb, now, said, len(plan.steps))


def ended(entry: Applied, result: Result, done: int, now: datetime, error: str = "") -> Applied:
    """Return the entry once it is over."""
    seconds = max(0.0, (now - entry.began).total_seconds())
    return replace(entry, result=result, done=done, seconds=round(seconds, 1), error=error[:LONGEST])


def line(entry: Applied) -> str:
    """Return an entry as the file has it."""
    document = {"schema": SCHEMA, **asdict(entry), "began": entry.began.isoformat()}
    return json.dumps(document, separators=(",", ":"))


def parse(lines: Iterable[str]) -> History:
    """Return the plans; a later line about one replaces the earlier."""
    found: dict[str, Applied] = {}
    broken = 0
    for each in lines:
        if not each.strip():
            continue
        try:
            entry = _decode(json.loads(each))
        except (ValueError, TypeError, KeyError, AttributeError):
            broken += 1
            continue
        found[entry.id] = entry
    return History(tuple(sorted(found.values(), key=lambda entry: entry.began)), broken)


def kept(history: History, keep: int = KEEP) -> Sequence[str]:
    """Return the lines of the newest plans, one each."""
    return [line(entry) for entry in history.plans[-keep:]]


def _decode(found: dict[str, Any]) -> Applied:
    if found["schema"] != SCHEMA or found["result"] not in RESULTS:
        raise ValueError("another schema")
    began = datetime.fromisoformat(found["began"])
    seconds = found["seconds"]
    if began.tzinfo is None or not all(isinstance(found[key], str) for key in ("id", "verb", "error")):
        raise ValueError("not ours")
    return Applied(
        id=found["id"],
        verb=found["verb"],
        began=began,
        steps=tuple(str(step) for step in found["steps"]),
        count=int(found["count"]),
        result=found["result"],
        done=int(found["done"]),
        seconds=None if seconds is None else float(seconds),
        error=found["error"],
    )
