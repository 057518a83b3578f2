"""Asks Slurm to let go of nodes, and gives them back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from npa.errors import DestructiveError
from npa.plan.model import JobRef, Step
from npa.slurm import drains, hostlist, lookup, reasons, replies
from npa.slurm.lookup import Lookup
from npa.slurm.replies import SlurmNodeReply
from npa.targets.base import Options
from npa.targets.local import gather, waits
from npa.tools.slurm import Slurm

POLL = 0.5  # seconds
CANCEL = 60.0  # seconds for cancelled jobs to be gone
REGISTER = 30.0  # seconds for a node that has just started to tell slurmctld what it is


def drain(slurm: Slurm, step: Step, options: Options, note: Callable[[str], None]) -> None:
    """Drain the step's nodes and wait until no job runs on them.

    Jobs that outlast the wait are cancelled with `force`; without it the nodes are given back and
    DestructiveError is raised. A node that somebody drained already keeps their reason.
    """
    there = {node.name: node for node in gather.view(slurm).nodes}
    ours = [name for name in step.nodes if name in there and "DRAIN" not in there[name].state.flags]
    reason = reasons.leaving(step.reason)
    if ours:
        slurm.update_nodes(hostlist.compress(ours), "DRAIN", reason)
    left = _wait(slurm, step.nodes, options.wait_for_jobs, note)
    if left and options.ends_jobs(f"stop:{step.key.partition(':')[2]}"):
        slurm.cancel([job.id for job in left])
        left = _wait(slurm, step.nodes, CANCEL, note)
    if left:
        resume(slurm, ours, reason)
        raise DestructiveError(
            f"{_said(left)} still run on {step.subject}",
            [step.subject],
            hint="wait for them with `--wait-for-jobs 1h`, or end them with `--force`",
        )


def resume(slurm: Slurm, names: Sequence[str], reason: str = "") -> None:
    """Give back nodes that npa drained; the reason is read again right before, and another's drain stays.

    With a reason only nodes that bear exactly it are given back. A node whose state slurmctld does not know
    yet, because one of the two has just started, is waited for.
    """
    deadline = time.monotonic() + REGISTER
    left = tuple(names)
    while left:
        rows = replies.nodes(slurm.nodes())
        seen = {name: lookup.node(rows, name) for name in left}
        ours = [name for name in left if _may_resume(seen[name], reason)]
        if ours:
            slurm.update_nodes(hostlist.compress(ours), "RESUME")
        left = tuple(name for name in left if _unsettled(seen[name]))
        if left and time.monotonic() > deadline:
            return
        time.sleep(waits.POLL if left else 0)


def _may_resume(seen: Lookup[SlurmNodeReply], reason: str) -> bool:
    return drains.may_resume(seen, reason) if reason else drains.may_resume_ours(seen)


def _unsettled(seen: Lookup[SlurmNodeReply]) -> bool:
    return isinstance(seen, lookup.Found) and seen.value.state.unknown


def _wait(
    slurm: Slurm, names: Sequence[str], seconds: float, note: Callable[[str], None]
) -> tuple[JobRef, ...]:
    """Return the jobs that are still there when the time is up; none when they all have ended."""
    wanted = frozenset(names)
    deadline = time.monotonic() + seconds
    told: tuple[JobRef, ...] = ()
    while True:
        left = gather.view(slurm).running_on(wanted)
        if not left or time.monotonic() >= deadline:
            return left
        if left != told:
            note(f"waiting for {_said(left)}")
            told = left
        time.sleep(POLL)


def _said(jobs: Sequence[JobRef]) -> str:
    return "jobs " + ", ".join(f"{job.id} ({job.user}, {job.name})" for job in jobs)
