"""What slurmrestd is asked, and how its answers become what is known; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from npa.metrics import seen, snapshot
from npa.metrics.seen import Job
from npa.metrics.snapshot import Snapshot, Source
from npa.slurm.replies import Rows
from npa.tools.slurmrest import API


@dataclass(frozen=True, slots=True)
class Options:
    """How the exporter asks."""

    interval: float = 30.0  # seconds between two questions to a source
    most: int = 1  # questions to one source that may be open at once
    accounting: bool = False  # jobs are those of slurmdbd
    lookback: float = 3600.0  # seconds: how long ago the oldest of them ended
    api: str = API


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer makes of what was known, and how much of it could not be read."""

    take: Callable[[Snapshot], Snapshot]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One question; `read` takes the document and when it was asked for, and may raise UnknownError."""

    path: str
    read: Callable[[object, float], Answer]
    query: Mapping[str, str] = field(default_factory=dict)


def question(source: Source, options: Options, now: float) -> Question:
    """Return what a source is asked."""
    if source == "jobs" and options.accounting:
        since = {"start_time": str(int(now - options.lookback))}
        return Question(f"slurmdb/{options.api}/jobs", _accounted, since)
    reads = {"nodes": _nodes, "jobs": _jobs, "diag": _diag}
    return Question(f"slurm/{options.api}/{source}", reads[source])


def _nodes(document: object, at: float) -> Answer:
    found = seen.nodes(document)
    return Answer(lambda known: snapshot.with_nodes(known, found, at), found.problems)


def _jobs(document: object, at: float) -> Answer:
    return _of_jobs(seen.jobs(document), at)


def _accounted(document: object, at: float) -> Answer:
    return _of_jobs(seen.accounted(document), at)


def _of_jobs(found: Rows[Job], at: float) -> Answer:
    return Answer(lambda known: snapshot.with_jobs(known, found, at), found.problems)


def _diag(document: object, at: float) -> Answer:
    found = seen.diagnosis(document)
    return Answer(lambda known: snapshot.with_diag(known, found, at))
