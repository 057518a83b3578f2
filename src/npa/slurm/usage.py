"""What jobs used of a cluster over time, and how many waited, as accounting tells it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from npa.slurm import replies, wire
from npa.slurm.replies import Rows, SlurmJobReply
from npa.slurm.states import JobState


@dataclass(frozen=True, slots=True)
class PastJob:
    """A job that accounting knows, with what it had; it may be waiting or running still."""

    id: str
    state: JobState
    user: str = ""
    submitted_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    cpus: int = 0
    gpus: int = 0


@dataclass(frozen=True, slots=True)
class Bucket:
    """The averages of one span of time."""

    begins: datetime
    cpus: float  # in use
    gpus: float
    waiting: float  # jobs


def past(document: object) -> Rows[PastJob]:
    """Return the jobs of `sacct --json`; a row that cannot be read becomes a problem."""
    whole = replies.accounted(document)
    assert isinstance(document, Mapping)  # or `accounted` would have raised
    if not whole.problems and len(whole) == len(document["jobs"]):
        pairs = list(zip(whole, document["jobs"], strict=True))
    else:
        each = ((replies.accounted({"jobs": [row]}).rows, row) for row in document["jobs"])
        pairs = [(rows[0], row) for rows, row in each if rows]
    found: list[PastJob] = []
    problems = list(whole.problems)
    for job, row in pairs:
        try:
            found.append(_past(job, row))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            problems.append(f"job {job.id}: {error}"[:300])
    return Rows(tuple(found), tuple(problems))


def _past(job: SlurmJobReply, row: Mapping[str, Any]) -> PastJob:
    cpus, gpus = _allocated(row)
    return PastJob(job.id, job.state, job.user, job.submitted_at, job.started_at, job.ended_at, cpus, gpus)


def _allocated(row: Mapping[str, Any]) -> tuple[int, int]:
    """Return the CPUs and GPUs that a job has or had."""
    cpus, typed, untyped = 0, 0, 0
    for each in (row.get("tres") or {}).get("allocated") or ():
        kind, name, count = each.get("type"), each.get("name") or "", wire.count(each.get("count"))
        if kind == "cpu":
            cpus = count
        elif kind == "gres" and name == "gpu":
            untyped = count
        elif kind == "gres" and name.startswith("gpu:"):
            typed += count  # the same ones again, by type
    return cpus, untyped or typed


def over_time(
    jobs: Iterable[PastJob], since: datetime, until: datetime, buckets: int = 84
) -> tuple[Bucket, ...]:
    """Return the averages of spans of equal length; a job counts with its share of each span."""
    if until <= since or buckets < 1:
        return ()
    span = (until - since) / buckets
    seconds = span / timedelta(seconds=1)
    sums = [[0.0, 0.0, 0.0] for _ in range(buckets)]
    for job in jobs:
        for begins, ends, amounts in _shares(job, until):
            first = max(0, int((begins - since) / span))
            for index in range(first, buckets):
                start = since + span * index
                if ends <= start:
                    break
                inside = (min(ends, start + span) - max(begins, start)) / timedelta(seconds=1)
                for place, amount in enumerate(amounts):
                    sums[index][place] += max(0.0, inside) * amount
    return tuple(
        Bucket(since + span * index, *(total / seconds for total in each)) for index, each in enumerate(sums)
    )


def _shares(job: PastJob, until: datetime) -> Iterator[tuple[datetime, datetime, tuple[float, float, float]]]:
    """Yield when a job waited and when it ran."""
    over = job.state.terminal
    if job.started_at:
        # while it runs its end is its time limit's
        ended = job.ended_at if over and job.ended_at else until
        yield job.started_at, min(ended, until), (job.cpus, job.gpus, 0.0)
    if job.submitted_at:
        left = job.started_at or (job.ended_at if over else None) or (job.submitted_at if over else until)
        yield job.submitted_at, min(left, until), (0.0, 0.0, 1.0)
