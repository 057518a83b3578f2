"""What the fleet's commands print for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

import typer

from npa.cli import screen
from npa.cli.options import Output

if TYPE_CHECKING:
    from npa.fleet.plan import FleetPlan, Item
    from npa.fleet.result import Outcome, Result

_LONGEST = 100


def plan_text(plan: FleetPlan, *, details: bool, following: str = "") -> str:
    """Return a plan: a line for each cluster, and where asked each of its steps."""
    from npa.health import text

    head = ("PROJECT", "CLUSTER", "TARGET", plan.verb.upper())
    rows = [(each.claim.project, each.claim.cluster, each.claim.target, _doing(each)) for each in plan.items]
    lines = list(text.table([head, *rows]))
    if details:
        for each in plan.items:
            lines += ["", f"{each.claim.label}:"]
            lines += [f"  {line}" for line in (each.planned.lines if each.planned else ("not planned",))]
    lines += [f"note: {each}" for each in plan.caveats]
    for claim in plan.extra:
        lines.append(f"note: {claim.label} is recorded and not in the file: nothing is done to it")
    if following:
        lines.append(f"next: {following}")
    return "\n".join(lines)


def _doing(item: Item) -> str:
    steps = item.planned.steps if item.planned else None
    if item.planned is None:
        what = "refused"
    elif steps is None:
        what = "as the file says"
    elif steps == 0:
        what = "nothing to do"
    else:
        what = f"{steps} step{'s' * (steps != 1)}"
    ends = len(item.planned.plan.killed_jobs) if item.planned and item.planned.plan else 0
    jobs = f", ends {ends} running job{'s' * (ends != 1)}" if ends else ""
    return f"{what}{jobs}{f' ({item.note})' if item.note else ''}"


def result_text(result: Result) -> str:
    """Return how it ended: a line for each cluster, what went wrong in full, and the sum."""
    from npa.health import text

    head = ("PROJECT", "CLUSTER", "TARGET", "STATUS", "")
    rows = [
        (each.claim.project, each.claim.cluster, each.claim.target, each.status, _brief(each.message))
        for each in result.outcomes
    ]
    lines = list(text.table([head, *rows]) if rows else ())
    lines += _wrong(result.outcomes)
    lines += [f"network of {each.project}: {each.message}" for each in result.networks]
    for name, why in result.unreadable:
        lines.append(f"record of {name}: {why}")
    lines.append(summed(result))
    if result.next_command:
        lines.append(f"next: {result.next_command}")
    return "\n".join(lines)


def summed(result: Result) -> str:
    """Say how many clusters ended in which way."""
    from npa.fleet.result import counts

    told = ", ".join(f"{number} {status}" for status, number in counts(result.outcomes).items())
    return f"fleet {result.fleet}: {told or 'no clusters'}"


def _wrong(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for each in outcomes:
        if not each.ok and each.hint:
            yield f"{each.claim.label}: {each.message}"
            yield f"  hint: {each.hint}"


def _brief(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def many(count: int, what: str) -> str:
    """Say how many there are."""
    return f"{count} {what}{'s' * (count != 1)}"


def end(result: Result, output: Output) -> NoReturn:
    """Print how a command ended, and exit as that says."""
    if output == "json":
        screen.document(result.public())
    else:
        screen.data(result_text(result))
    raise typer.Exit(result.exit_code)
