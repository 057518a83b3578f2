"""What slurmctld, slurmdbd and slurmrestd answer, as values.

`scontrol`, `squeue` and `sacct` with `--json` and the REST API give the same documents, from data parser
v0.0.40 to v0.0.45. Fields that are not known are ignored. A row that cannot be read becomes a problem and
leaves the others alone. A document that cannot be read raises UnknownError: no answer is not an empty one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Generic, TypeVar

from npa.errors import UnknownError
from npa.slurm import hostlist, wire
from npa.slurm.quantity import UNLIMITED, Amount
from npa.slurm.states import JobState, NodeState
from npa.slurm.wire import ExitCode

_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Rows(Generic[_Row]):
    """The rows that could be read, and what was wrong with each of the others."""

    rows: tuple[_Row, ...]
    problems: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[_Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class SlurmNodeReply:
    """A node as slurmctld describes it."""

    name: str
    state: NodeState
    reason: str = ""
    reason_user: str = ""
    reason_changed_at: datetime | None = None
    cpus: int = 0
    alloc_cpus: int = 0
    real_memory: int = 0  # MiB
    alloc_memory: int = 0  # MiB
    gres: str = ""
    gres_used: str = ""
    features: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    address: str = ""
    boot_time: datetime | None = None
    slurmd_start_time: datetime | None = None
    version: str = ""


@dataclass(frozen=True, slots=True)
class SlurmJobReply:
    """A job as slurmctld or slurmdbd describes it."""

    id: str  # as squeue prints it: `12`, `12_3`, `12_[4-9%2]`, `12+1`
    number: int  # the job's own number, which scancel takes for any of them
    user: str
    name: str
    state: JobState
    nodes: tuple[str, ...] = ()
    partition: str = ""
    wants: tuple[str, ...] = ()  # nodes that it names itself; of slurmctld only
    account: str = ""
    reason: str = ""  # why it waits; "" where nothing holds it
    time_limit: Amount = None  # minutes
    submitted_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None  # while it runs: when its time limit ends it
    exit_code: ExitCode | None = None
    tres: str = ""  # what it has, as in `cpu=4,mem=1G`; of slurmctld only


@dataclass(frozen=True, slots=True)
class Ping:
    """Whether a slurmctld answers."""

    host: str
    primary: bool
    responding: bool


def load(text: str | bytes) -> object:
    """Return a reply's JSON, decoded and not interpreted."""
    try:
        with wire.uncollected():
            decoded: object = json.loads(text)
    except ValueError as error:
        raise UnknownError(f"Slurm's answer is not JSON: {str(error)[:120]}") from error
    return decoded


def nodes(document: object) -> Rows[SlurmNodeReply]:
    """Return the nodes of `scontrol show nodes --json` or GET /slurm/…/nodes."""
    return rows(document, "nodes", _node)


def jobs(document: object) -> Rows[SlurmJobReply]:
    """Return the jobs of `squeue --json`, `scontrol show jobs --json` or GET /slurm/…/jobs."""
    return rows(document, "jobs", _job)


def accounted(document: object) -> Rows[SlurmJobReply]:
    """Return the jobs of `sacct --json` or GET /slurmdb/…/jobs."""
    return rows(document, "jobs", _accounted)


def pings(document: object) -> Rows[Ping]:
    """Return the controllers of `scontrol ping --json` or GET /slurm/…/ping."""
    return rows(document, "pings", _ping)


def diag(document: object) -> dict[str, int]:
    """Return every counter of `sdiag --json` or GET /slurm/…/diag that is set."""
    statistics = _answer(document, "statistics")
    if not isinstance(statistics, Mapping):
        raise UnknownError("Slurm's answer has no readable `statistics`")
    counters: dict[str, int] = {}
    for key, value in statistics.items():
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        if plain or (isinstance(value, Mapping) and "number" in value):
            amount = wire.number(value)
            counters.update({key: amount} if isinstance(amount, int) else {})
    return counters


def slurm_version(document: object) -> str:
    """Return the release that answered, `26.05.5`, or "" where the document does not say."""
    meta = document.get("meta") if isinstance(document, Mapping) else None
    slurm = meta.get("slurm", meta.get("Slurm")) if isinstance(meta, Mapping) else None
    release = slurm.get("release") if isinstance(slurm, Mapping) else None
    return release if isinstance(release, str) else ""


def _answer(document: object, key: str) -> Any:
    """Return what a document says under a key; raise UnknownError where it does not answer."""
    if not isinstance(document, Mapping):
        raise UnknownError(f"Slurm's answer is not an object but {type(document).__name__}")
    errors = document.get("errors")
    if errors:
        raise UnknownError(f"Slurm answered with an error: {_error(errors)}")
    if key not in document:
        raise UnknownError(f"Slurm's answer has no `{key}`")
    return document[key]


def _error(errors: object) -> str:
    first = errors[0] if isinstance(errors, list) else errors
    said = first.get("description") or first.get("error") if isinstance(first, Mapping) else None
    return str(said or first)[:200]


def rows(document: object, key: str, read: Callable[[Mapping[str, Any]], _Row]) -> Rows[_Row]:
    """Return the rows of a document's list; one that cannot be read becomes a problem."""
    listed = _answer(document, key)
    if not isinstance(listed, list):
        raise UnknownError(f"Slurm's answer has no list of {key}")
    with wire.uncollected():
        return _read(listed, key, read)


def _read(listed: list[Any], key: str, read: Callable[[Mapping[str, Any]], _Row]) -> Rows[_Row]:
    found: list[_Row] = []
    problems: list[str] = []
    for index, row in enumerate(listed):
        try:
            found.append(read(row))
        # ValueError covers QuantityError and HostlistError; the others are fields of another shape.
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            who = row.get("name") or row.get("job_id") if isinstance(row, Mapping) else None
            problems.append(f"{key}[{index}] ({who}): {error}"[:300])
    return Rows(tuple(found), tuple(problems))


def _node(row: Mapping[str, Any]) -> SlurmNodeReply:
    return SlurmNodeReply(
        name=_required(row, "name"),
        state=NodeState.parse(row),
        reason=wire.name(row.get("reason")),
        reason_user=wire.name(row.get("reason_set_by_user")),
        reason_changed_at=wire.moment(row.get("reason_changed_at")),
        cpus=wire.count(row.get("cpus")),
        alloc_cpus=wire.count(row.get("alloc_cpus")),
        real_memory=wire.count(row.get("real_memory")),
        alloc_memory=wire.count(row.get("alloc_memory")),
        gres=wire.text(row.get("gres")),
        gres_used=wire.text(row.get("gres_used")),
        features=wire.words(row.get("features")),
        partitions=wire.words(row.get("partitions")),
        address=wire.text(row.get("address")),
        boot_time=wire.moment(row.get("boot_time")),
        slurmd_start_time=wire.moment(row.get("slurmd_start_time")),
        version=wire.text(row.get("version")),
    )


def _job(row: Mapping[str, Any]) -> SlurmJobReply:
    number = _number(row)
    return SlurmJobReply(
        id=_job_id(number, row),
        number=number,
        user=wire.name(row.get("user_name")) or str(row.get("user_id", "")),
        name=wire.name(row.get("name")),
        state=_state(row["job_state"]),
        nodes=tuple(hostlist.expand(wire.text(row.get("nodes")))),
        wants=tuple(hostlist.expand(wire.text(row.get("required_nodes")))),
        partition=wire.name(row.get("partition")),
        account=wire.text(row.get("account")),
        reason=wire.text(row.get("state_reason")),
        time_limit=wire.number(row.get("time_limit")),
        submitted_at=wire.moment(row.get("submit_time")),
        started_at=wire.moment(row.get("start_time")),
        ended_at=wire.moment(row.get("end_time")),
        exit_code=wire.exit_code(row.get("exit_code")),
        tres=wire.text(row.get("tres_alloc_str")),
    )


def _state(said: object) -> JobState:
    """Return a job's state; thousands of jobs share a few."""
    words = tuple(said) if isinstance(said, list) else ()
    return _known(words) if words and all(type(each) is str for each in words) else JobState.parse(said)


@lru_cache(maxsize=256)
def _known(words: tuple[str, ...]) -> JobState:
    return JobState.parse(list(words))


def _accounted(row: Mapping[str, Any]) -> SlurmJobReply:
    number = _number(row)
    state, times = row["state"], row.get("time") or {}
    array, het = row.get("array") or {}, row.get("het") or {}
    identity = {
        "array_job_id": array.get("job_id"),
        "array_task_id": array.get("task_id"),
        "array_task_string": array.get("task"),
        "het_job_id": het.get("job_id"),
        "het_job_offset": het.get("job_offset"),
    }
    return SlurmJobReply(
        id=_job_id(number, identity),
        number=number,
        user=wire.name(row.get("user")),
        name=wire.name(row.get("name")),
        state=JobState.parse(state["current"]),
        nodes=tuple(hostlist.expand(wire.text(row.get("nodes")))),
        partition=wire.name(row.get("partition")),
        account=wire.text(row.get("account")),
        reason=wire.text(state.get("reason")),
        time_limit=wire.number(times.get("limit")),
        submitted_at=wire.moment(times.get("submission")),
        started_at=wire.moment(times.get("start")),
        ended_at=wire.moment(times.get("end")),
        exit_code=wire.exit_code(row.get("exit_code")),
    )


def _job_id(number: int, row: Mapping[str, Any]) -> str:
    """Return the id as squeue prints it."""
    array, het = wire.number(row.get("array_job_id")), wire.number(row.get("het_job_id"))
    task = wire.number(row.get("array_task_id"))
    if array and array is not UNLIMITED:
        if task is not None:
            return f"{array}_{task}"
        waiting = wire.text(row.get("array_task_string"))
        return f"{array}_[{waiting}]" if waiting else str(array)
    return f"{het}+{wire.count(row.get('het_job_offset'))}" if het else str(number)


def _ping(row: Mapping[str, Any]) -> Ping:
    # Before v0.0.43: `pinged: UP` and `mode: primary`.
    responding = row["responding"] if "responding" in row else row["pinged"] == "UP"
    primary = row["primary"] if "primary" in row else row.get("mode") == "primary"
    return Ping(_required(row, "hostname"), primary is True, responding is True)


def _required(row: Mapping[str, Any], key: str) -> str:
    value = row[key]
    if not isinstance(value, str) or not value:
        raise ValueError(f"no {key}")
    return value


def _number(row: Mapping[str, Any]) -> int:
    number = wire.count(row["job_id"])
    if number < 1:
        raise ValueError("no job_id")
    return number
