"""What a plan may not do unless somebody said so: end running work."""

from __future__ import annotations

from npa.errors import DestructiveError
from npa.plan.model import JobRef, Plan, Step
from npa.slurm import hostlist

ENDS_JOBS = frozenset({"stop", "remove"})
COMES_BY_ITSELF = frozenset({"start", "restart", "wait"})  # of a daemon that was still on its way up
HINT = "wait for the jobs with `--wait-for-jobs 1h`, or end them with `--force`"
DESTROY_HINT = "wait until the jobs have ended, or end them with `--force`"
SHOWN_JOBS = 5  # a message is read; the rest is in the plan


def check(plan: Plan, hint: str = HINT) -> None:
    """Raise DestructiveError when steps would end running jobs and nobody allowed it.

    Who plans with force marks such steps `kills_jobs`; without force the jobs are named and the mark is off.
    """
    refused = unallowed(plan)
    if refused:
        raise DestructiveError(
            "; ".join(_refusal(step) for step in refused),
            [step.key for step in refused],
            hint=hint,
        )


def unallowed(plan: Plan) -> tuple[Step, ...]:
    """Return the steps that would end jobs without leave."""
    return tuple(step for step in plan.steps if step.jobs and step.verb in ENDS_JOBS and not step.kills_jobs)


def still_agreed(now: Plan, agreed: Plan) -> bool:
    """Say whether doing `now` is doing what was agreed to.

    True where both are the same, and where `now` lacks nothing but starts of what has come up by itself.
    """
    if now == agreed:
        return True
    left = iter(agreed.steps)
    same = now.changes == agreed.changes and all(step in left for step in now.steps)
    gone = [step for step in agreed.steps if step not in now.steps]
    return same and all(step.verb in COMES_BY_ITSELF for step in gone)


def named(job: JobRef) -> str:
    """Name a job for people: `12 (alice, train)`."""
    return f"{job.id} ({_line(job.user)}, {_line(job.name)})"


def _refusal(step: Step) -> str:
    nodes = f" {hostlist.compress(step.nodes)}" if step.nodes else ""
    count = len(step.jobs)
    jobs = ", ".join(named(job) for job in step.jobs[:SHOWN_JOBS])
    more = f" and {count - SHOWN_JOBS} more" if count > SHOWN_JOBS else ""
    what = f"{count} running job{'s' * (count != 1)}"
    return f"{step.subject}: to {step.verb}{nodes} would end {what}: {jobs}{more}"


def _line(text: str) -> str:
    # Whoever submits a job chooses its name, line breaks included.
    return " ".join(text.split())
