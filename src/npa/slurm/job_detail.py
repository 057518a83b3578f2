"""One job with all that says why it waits, runs or ended, of slurmctld's answer or of slurmdbd's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from npa.slurm import quantity, replies, wire
from npa.slurm.job_id import JobId, has_task
from npa.slurm.quantity import UNLIMITED, Gres
from npa.slurm.replies import Rows, SlurmJobReply


@dataclass(frozen=True, slots=True)
class Request:
    """What a job asks for; 0 and "" where it does not say."""

    nodes: int = 0
    cpus: int = 0  # altogether
    cpus_per_node: int = 0  # at least
    memory_per_node: int = 0  # MiB
    memory_per_cpu: int = 0  # MiB
    gres_per_node: tuple[Gres, ...] = ()
    features: str = ""
    required_nodes: str = ""  # a hostlist
    excluded_nodes: str = ""
    tres: str = ""  # in Slurm's own words: `cpu=2,mem=8G,node=2,gres/gpu=8`


@dataclass(frozen=True, slots=True)
class JobDetail:
    """A job, what it asked for, and how it came to be as it is."""

    job: SlurmJobReply
    array: int = 0  # number of the whole array, 0 where the job is in none
    task: int | None = None
    tasks: str = ""  # of an array: those that wait
    het: int = 0  # number of the whole heterogeneous job
    offset: int | None = None
    request: Request = field(default_factory=Request)
    description: str = ""  # more about its reason, in slurmctld's words
    qos: str = ""
    dependency: str = ""
    eligible_at: datetime | None = None
    restarts: int = 0
    failed_node: str = ""
    cancelled_by: str = ""  # of slurmdbd only
    output: str = ""  # where its stdout goes

    def is_meant(self, wanted: JobId) -> bool:
        """Say whether an id means this job, or one that it is a part of."""
        if wanted.task is not None:
            ours = self.task == wanted.task if self.task is not None else has_task(self.tasks, wanted.task)
            return self.array == wanted.number and ours
        if wanted.offset is not None:
            return self.het == wanted.number and self.offset == wanted.offset
        return wanted.number in (self.job.number, self.array, self.het)


def current(document: object) -> Rows[JobDetail]:
    """Return the jobs of `scontrol show job --json`."""
    return _details(document, replies.jobs, _current)


def accounted(document: object) -> Rows[JobDetail]:
    """Return the jobs of `sacct --json`."""
    return _details(document, replies.accounted, _accounted)


def with_accounts(job: JobDetail, past: JobDetail | None) -> JobDetail:
    """Return slurmctld's job with what only slurmdbd keeps."""
    return replace(job, cancelled_by=past.cancelled_by) if past else job


def _details(
    document: object,
    parse: Callable[[object], Rows[SlurmJobReply]],
    detail: Callable[[SlurmJobReply, Mapping[str, Any]], JobDetail],
) -> Rows[JobDetail]:
    """Read each row by itself: one that cannot be read becomes a problem and leaves the others alone."""
    whole = parse(document)
    assert isinstance(document, Mapping)  # or `parse` would have raised
    if not whole.problems and len(whole) == len(document["jobs"]):
        pairs = list(zip(whole, document["jobs"], strict=True))
    else:
        each = ((parse({"jobs": [row]}).rows, row) for row in document["jobs"])
        pairs = [(rows[0], row) for rows, row in each if rows]
    found, problems = [], list(whole.problems)
    for job, row in pairs:
        try:
            found.append(detail(job, row))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            problems.append(f"job {job.id}: {error}"[:300])
    return Rows(tuple(found), tuple(problems))


def _current(job: SlurmJobReply, row: Mapping[str, Any]) -> JobDetail:
    return JobDetail(
        job,
        array=wire.count(row.get("array_job_id")),
        task=_optional(row.get("array_task_id")),
        tasks=wire.text(row.get("array_task_string")),
        het=wire.count(row.get("het_job_id")),
        offset=_optional(row.get("het_job_offset")),
        request=_request(row),
        description=wire.text(row.get("state_description")),
        qos=wire.name(row.get("qos")),
        dependency=wire.text(row.get("dependency")),
        eligible_at=wire.moment(row.get("eligible_time")),
        restarts=wire.count(row.get("restart_cnt")),
        failed_node=wire.text(row.get("failed_node")),
        output=wire.name(row.get("stdout_expanded") or row.get("standard_output")),
    )


def _request(row: Mapping[str, Any]) -> Request:
    return Request(
        nodes=wire.count(row.get("node_count")),
        cpus=wire.count(row.get("cpus")),
        cpus_per_node=wire.count(row.get("minimum_cpus_per_node")),
        memory_per_node=wire.count(row.get("memory_per_node")),
        memory_per_cpu=wire.count(row.get("memory_per_cpu")),
        gres_per_node=_gres(wire.text(row.get("tres_per_node"))),
        features=wire.text(row.get("features")),
        required_nodes=wire.text(row.get("required_nodes")),
        excluded_nodes=wire.text(row.get("excluded_nodes")),
        tres=wire.text(row.get("tres_req_str")),
    )


def _accounted(job: SlurmJobReply, row: Mapping[str, Any]) -> JobDetail:
    array, het, times = row.get("array") or {}, row.get("het") or {}, row.get("time") or {}
    required, tres = row.get("required") or {}, row.get("tres") or {}
    return JobDetail(
        job,
        array=wire.count(array.get("job_id")),
        task=_optional(array.get("task_id")),
        tasks=wire.text(array.get("task")),
        het=wire.count(het.get("job_id")),
        offset=_optional(het.get("job_offset")),
        request=Request(
            cpus=wire.count(required.get("CPUs")),
            memory_per_node=wire.count(required.get("memory_per_node")),
            memory_per_cpu=wire.count(required.get("memory_per_cpu")),
            tres=_tres(tres.get("requested") or ()),
        ),
        qos=wire.name(row.get("qos")),
        eligible_at=wire.moment(times.get("eligible")),
        restarts=wire.count(row.get("restart_cnt")),
        failed_node=wire.text(row.get("failed_node")),
        cancelled_by=wire.name(row.get("kill_request_user")),
        output=wire.name(row.get("stdout_expanded") or row.get("stdout")),
    )


def _optional(value: object) -> int | None:
    found = wire.number(value)
    return None if found is UNLIMITED else found


def _gres(text: str) -> tuple[Gres, ...]:
    """Return the GRES of `gres/gpu:b200:4`, `gres:gpu:4` or `gpu:4`."""
    plain = ",".join(part.removeprefix("gres/").removeprefix("gres:") for part in text.split(","))
    return quantity.parse_gres(plain)


def _tres(listed: Any) -> str:
    """Return slurmdbd's list of TRES as slurmctld writes them; memory counts MiB in it."""
    counts = {
        "/".join(filter(None, (each["type"], each["name"]))): wire.count(each["count"])
        for each in listed
        if wire.number(each["count"]) is not None
    }
    return quantity.format_tres({name: count for name, count in counts.items() if count >= 0})
