"""What is known of a cluster: the last good answer to each question, and what was counted on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from npa.metrics import diag, history, jobs, nodes
from npa.metrics.family import Family
from npa.metrics.history import History
from npa.metrics.seen import Diagnosis, Job, Node
from npa.slurm.replies import Rows

Source = Literal["nodes", "jobs", "diag"]
SOURCES: tuple[Source, ...] = ("nodes", "jobs", "diag")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The last good answers; of what was never answered there is nothing, not even a zero."""

    nodes: Rows[Node] | None = None
    jobs: Rows[Job] | None = None
    diag: Diagnosis | None = None
    nodes_at: float = 0.0  # seconds since the epoch
    jobs_at: float = 0.0
    diag_at: float = 0.0
    history: History = field(default_factory=History)

    def read_at(self, source: Source) -> float | None:
        """Return when the last good answer was asked for; None where there was none."""
        known = {"nodes": self.nodes, "jobs": self.jobs, "diag": self.diag}[source]
        at = {"nodes": self.nodes_at, "jobs": self.jobs_at, "diag": self.diag_at}[source]
        return None if known is None else at


def with_nodes(before: Snapshot, found: Rows[Node], at: float) -> Snapshot:
    """Return the snapshot after an answer about nodes; an older one than is known changes nothing."""
    if before.nodes is not None and at <= before.nodes_at:
        return before
    return replace(before, nodes=found, nodes_at=at, history=history.advance(before.history, found, at))


def with_jobs(before: Snapshot, found: Rows[Job], at: float) -> Snapshot:
    """Return the snapshot after an answer about jobs."""
    if before.jobs is not None and at <= before.jobs_at:
        return before
    return replace(before, jobs=found, jobs_at=at)


def with_diag(before: Snapshot, found: Diagnosis, at: float) -> Snapshot:
    """Return the snapshot after an answer of slurmctld about itself."""
    if before.diag is not None and at <= before.diag_at:
        return before
    return replace(before, diag=found, diag_at=at)


def families(snapshot: Snapshot) -> Iterator[Family]:
    """Yield every figure that there is an answer for."""
    if snapshot.nodes is not None:
        yield from nodes.families(snapshot.nodes)
        yield from history.families(snapshot.history)
    if snapshot.jobs is not None:
        yield from jobs.families(snapshot.jobs, snapshot.jobs_at)
    if snapshot.diag is not None:
        yield from diag.families(snapshot.diag)
