"""Figures of jobs: what each is, has, and runs on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from npa.metrics import family
from npa.metrics.family import Family, Labels
from npa.metrics.nodes import MIB
from npa.metrics.seen import Job

_INFO = (
    *("job_id", "job_state", "job_state_reason", "slurm_partition", "job_name"),
    *("user_name", "user_mail", "user_id", "standard_error", "standard_output"),
    *("array_job_id", "array_task_id", "submit_time", "start_time", "end_time", "finished_time"),
)
_JOB = ("job_id",)


def families(jobs: Iterable[Job], now: float) -> Iterator[Family]:
    """Yield every figure of the jobs; `now` is when they were read."""
    listed = tuple(jobs)
    yield family.gauge(
        "slurm_job_info", "1 for each job, with its state.", _INFO, ((_info(j), 1.0) for j in listed)
    )
    yield family.gauge(
        "slurm_node_job",
        "1 for each node that a job has.",
        ("job_id", "node_name", "nodeset_name"),
        (
            ((str(j.number), node, _pool(node)), 1.0)
            for j in listed
            if j.state.holds_nodes
            for node in j.nodes
        ),
    )
    lasted = ((j, _lasted(j, now)) for j in listed)
    yield family.gauge(
        "slurm_job_duration_seconds",
        "How long a job ran, up to now or to its end.",
        _JOB,
        (((str(j.number),), seconds) for j, seconds in lasted if seconds is not None),
    )
    yield family.gauge(
        "slurm_job_cpus",
        "CPUs that a job has, or asks for.",
        _JOB,
        (((str(j.number),), float(j.cpus)) for j in listed if j.cpus is not None),
    )
    yield family.gauge(
        "slurm_job_memory_bytes",
        "Memory that a job has, or asks for.",
        _JOB,
        (((str(j.number),), float(j.memory * MIB)) for j in listed if j.memory is not None),
    )


def _info(job: Job) -> Labels:
    return (
        str(job.number),
        job.state.base,
        job.reason,
        job.partition,
        job.name,
        job.user,
        job.mail,
        job.user_id,
        job.error,
        job.output,
        job.array,
        job.task,
        _moment(job.submitted_at),
        _moment(job.started_at),
        _moment(job.ended_at),
        _moment(job.ended_at) if job.state.terminal else "",
    )


def _moment(at: datetime | None) -> str:
    return "" if at is None else str(int(at.timestamp()))


def _lasted(job: Job, now: float) -> float | None:
    """Return how long a job ran; None for one that has not begun, or of which nobody knows the end."""
    if job.started_at is None or job.state.pending:
        return None
    over = job.state.terminal
    if over and job.ended_at is None:
        return None
    end = job.ended_at.timestamp() if over and job.ended_at else now
    return max(0.0, end - job.started_at.timestamp())


def _pool(node: str) -> str:
    """Return the NodeSet of a node, which is named `<set>-<number>`."""
    name, _, number = node.rpartition("-")
    return name if number.isdecimal() else ""
