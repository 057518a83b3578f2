"""What slurmrestd answered, as far as figures are made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from npa.slurm import hostlist, quantity, replies, wire
from npa.slurm.quantity import QuantityError
from npa.slurm.replies import Rows
from npa.slurm.states import JobState, NodeState

_MICRO = 1e-6


@dataclass(frozen=True, slots=True)
class Node:
    """A node as slurmctld describes it."""

    name: str
    state: NodeState
    cpus: int = 0
    alloc_cpus: int = 0
    effective_cpus: int = 0
    memory: int = 0  # MiB, as all of them
    alloc_memory: int = 0
    free_memory: int | None = None  # of the machine; None until slurmd said
    reserved_memory: int = 0  # of the daemons (MemSpecLimit)
    gpus: int = 0
    partitions: tuple[str, ...] = ()
    reason: str = ""
    reason_user: str = ""
    reason_at: datetime | None = None
    reservation: str = ""
    comment: str = ""
    address: str = ""
    instance: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A job as slurmctld or slurmdbd describes it."""

    number: int
    state: JobState
    name: str = ""
    reason: str = ""
    user: str = ""
    user_id: str = ""  # empty where accounting was asked, which does not know it
    mail: str = ""
    partition: str = ""
    output: str = ""
    error: str = ""
    array: str = ""
    task: str = ""
    submitted_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None  # while it runs: when its time limit ends it
    nodes: tuple[str, ...] = ()
    cpus: int | None = None  # None where nobody said
    memory: int | None = None  # MiB


@dataclass(frozen=True, slots=True)
class Calls:
    """How often slurmctld was called, and for how long it answered."""

    count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What slurmctld counts of itself since its counters were reset."""

    threads: int | None = None
    by_type: Mapping[str, Calls] | None = None
    by_user: Mapping[tuple[str, str], Calls] | None = None  # (name, uid)


def nodes(document: object) -> Rows[Node]:
    """Return the nodes of GET /slurm/…/nodes; UnknownError where it is no answer."""
    return replies.rows(document, "nodes", _node)


def jobs(document: object) -> Rows[Job]:
    """Return the jobs of GET /slurm/…/jobs."""
    return replies.rows(document, "jobs", _job)


def accounted(document: object) -> Rows[Job]:
    """Return the jobs of GET /slurmdb/…/jobs."""
    return replies.rows(document, "jobs", _accounted)


def diagnosis(document: object) -> Diagnosis:
    """Return what GET /slurm/…/diag says."""
    counters = replies.diag(document)
    assert isinstance(document, Mapping)  # or `diag` would have raised
    statistics = document["statistics"]
    types = statistics.get("rpcs_by_message_type")
    users = statistics.get("rpcs_by_user")
    return Diagnosis(
        threads=counters.get("server_thread_count"),
        by_type={wire.name(row["message_type"]): _calls(row) for row in types or ()},
        by_user={(wire.name(row["user"]), str(row["user_id"])): _calls(row) for row in users or ()},
    )


def _calls(row: Mapping[str, Any]) -> Calls:
    return Calls(wire.count(row["count"]), wire.count(row["total_time"]) * _MICRO)


def _node(row: Mapping[str, Any]) -> Node:
    cpus, free = wire.count(row["cpus"]), wire.number(row.get("free_mem"))
    return Node(
        name=_required(row, "name"),
        state=NodeState.parse(row),
        cpus=cpus,
        alloc_cpus=wire.count(row["alloc_cpus"]),
        effective_cpus=wire.count(row.get("effective_cpus")) or cpus,
        memory=wire.count(row["real_memory"]),
        alloc_memory=wire.count(row["alloc_memory"]),
        free_memory=free if isinstance(free, int) else None,
        reserved_memory=wire.count(row.get("specialized_memory")),
        gpus=quantity.gpus(quantity.parse_gres(wire.text(row.get("gres")))),
        partitions=wire.words(row.get("partitions")),
        reason=wire.name(row.get("reason")),
        reason_user=wire.text(row.get("reason_set_by_user")),
        reason_at=wire.moment(row.get("reason_changed_at")),
        reservation=wire.name(row.get("reservation")),
        comment=wire.name(row.get("comment")),
        address=wire.text(row.get("address")),
        instance=wire.text(row.get("instance_id")),
    )


def _job(row: Mapping[str, Any]) -> Job:
    held = _tres(row.get("tres_alloc_str")) or _tres(row.get("tres_req_str"))
    user = str(row.get("user_id", ""))
    return Job(
        number=wire.count(row["job_id"]),
        state=JobState.parse(row["job_state"]),
        name=wire.name(row.get("name")),
        reason=wire.text(row.get("state_reason")),
        user=wire.name(row.get("user_name")) or user,
        user_id=user,
        mail=wire.text(row.get("mail_user")),
        partition=wire.name(row.get("partition")),
        output=wire.text(row.get("standard_output")),
        error=wire.text(row.get("standard_error")),
        array=_set(row.get("array_job_id")),
        task=_task(row.get("array_task_id")),
        submitted_at=wire.moment(row.get("submit_time")),
        started_at=wire.moment(row.get("start_time")),
        ended_at=wire.moment(row.get("end_time")),
        nodes=tuple(hostlist.expand(wire.text(row.get("nodes")))),
        cpus=held.get("cpu"),
        memory=held.get("mem"),
    )


def _accounted(row: Mapping[str, Any]) -> Job:
    state, times, array = row["state"], row.get("time") or {}, row.get("array") or {}
    held = _listed(row.get("tres") or {})
    return Job(
        number=wire.count(row["job_id"]),
        state=JobState.parse(state["current"]),
        name=wire.name(row.get("name")),
        reason=wire.text(state.get("reason")),
        user=wire.name(row.get("user")),
        partition=wire.name(row.get("partition")),
        output=wire.text(row.get("stdout")),
        error=wire.text(row.get("stderr")),
        array=_set(array.get("job_id")),
        task=_task(array.get("task_id")),
        submitted_at=wire.moment(times.get("submission")),
        started_at=wire.moment(times.get("start")),
        ended_at=wire.moment(times.get("end")),
        nodes=tuple(hostlist.expand(wire.text(row.get("nodes")))),
        cpus=held.get("cpu"),
        memory=held.get("mem"),
    )


def _listed(tres: Mapping[str, Any]) -> dict[str, int]:
    """Return CPUs and MiB that a job has, or asks for while it waits."""
    for which in ("allocated", "requested"):
        found = {row.get("type"): wire.count(row.get("count")) for row in tres.get(which) or ()}
        if found:
            return {key: found[key] for key in ("cpu", "mem") if key in found}
    return {}


def _tres(value: object) -> dict[str, int]:
    """Return what of a TRES text is a count; a unit that is not known leaves all of it unsaid."""
    try:
        return quantity.parse_tres(wire.text(value))
    except QuantityError:
        return {}


def _set(value: object) -> str:
    """Return the number of an array; 0 is none."""
    found = wire.number(value)
    return str(found) if isinstance(found, int) and found else ""


def _task(value: object) -> str:
    found = wire.number(value)
    return str(found) if isinstance(found, int) else ""


def _required(row: Mapping[str, Any], key: str) -> str:
    value = row[key]
    if not isinstance(value, str) or not value:
        raise ValueError(f"no {key}")
    return value
