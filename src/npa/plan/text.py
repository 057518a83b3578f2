"""A Plan for people: what will be done, why, and what it does to jobs."""

from __future__ import annotations

from collections.abc import Iterator

from npa.plan import guard
from npa.plan.model import Change, Plan, Step
from npa.slurm import hostlist

INDENT = " " * 6


def text(plan: Plan, next_command: str = "npa soperator deploy") -> str:
    """Return the plan as numbered steps; its last line names the next command unless that is empty."""
    return "\n".join(_lines(plan, next_command)) + "\n"


def counted(plan: Plan) -> str:
    """Say how much a plan does: `1 step`, `7 steps`."""
    return f"{len(plan.steps)} step{'s' * (len(plan.steps) != 1)}"


def _lines(plan: Plan, next_command: str) -> Iterator[str]:
    yield from (_change(change) for change in plan.changes)
    if plan.steps:
        yield f"plan for cluster {plan.cluster} on {plan.target}: {counted(plan)}"
        width = len(str(len(plan.steps)))
        for number, step in enumerate(plan.steps, start=1):
            yield f"  {number:{width}}. {step.verb} {step.subject}: {step.reason}"
            yield from _details(step)
    else:
        yield f"nothing to do: cluster {plan.cluster} is as asked"
    yield from (f"{what}: already as asked" for what in plan.unchanged)
    yield from (f"note: {note}" for note in plan.notes)
    if next_command:
        yield f"next: {next_command}"


def _change(change: Change) -> str:
    values = f"{change.old} -> {change.new}" if change.old and change.new else change.old or change.new
    return (
        f"change: {change.kind} {change.subject}: {change.field} {values} ({change.effect}: {change.reason})"
    )


def _details(step: Step) -> Iterator[str]:
    if step.nodes:
        yield f"{INDENT}nodes: {hostlist.compress(step.nodes)}"
    fate = _fate(step)
    yield from (f"{INDENT}{fate} {guard.named(job)}" for job in step.jobs)
    yield from (f"{INDENT}leaves pending job {guard.named(job)} without nodes" for job in step.pending)
    if step.jobs and step.verb in guard.ENDS_JOBS and not step.kills_jobs:
        yield f"{INDENT}to allow it: --force-step {step.key}"
    yield from (f"{INDENT}{line}".rstrip() for line in step.diff.splitlines())


def _fate(step: Step) -> str:
    if step.kills_jobs:
        return "ends job"
    if step.verb in guard.ENDS_JOBS:
        return "would end job"
    return "waits for job" if step.verb in ("drain", "wait") else "leaves running job"
