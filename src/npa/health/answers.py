"""slurmctld's answer about nodes and jobs, as plans and reports need it; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from npa.errors import UnknownError
from npa.health.observation import SlurmNode
from npa.plan.model import JobRef
from npa.slurm import replies
from npa.slurm.states import JobState


@dataclass(frozen=True, slots=True)
class SlurmView:
    """slurmctld's answer."""

    nodes: tuple[SlurmNode, ...]
    jobs: tuple[JobRef, ...]

    def node(self, name: str) -> SlurmNode | None:
        """Return one node; None where slurmctld does not know it."""
        return next((node for node in self.nodes if node.name == name), None)

    def running_on(self, names: frozenset[str]) -> tuple[JobRef, ...]:
        """Return the jobs that would end with any of these nodes; one that completes has ended already."""
        return tuple(job for job in self.running if names.intersection(job.nodes))

    @property
    def running(self) -> tuple[JobRef, ...]:
        """Every job that holds nodes and has not ended."""
        return tuple(job for job in self.jobs if job.nodes and not JobState.parse(job.state).terminal)

    def waiting_for(self, names: frozenset[str]) -> tuple[JobRef, ...]:
        """Return the pending jobs that can run on none but these nodes."""
        members: dict[str, set[str]] = {}
        for node in self.nodes:
            for partition in node.partitions:
                members.setdefault(partition, set()).add(node.name)
        return tuple(job for job in self.jobs if not job.nodes and _only_on(job, names, members))


def _only_on(job: JobRef, names: frozenset[str], members: Mapping[str, set[str]]) -> bool:
    if job.wants:
        return names.issuperset(job.wants)
    nodes = {node for partition in job.partition.split(",") for node in members.get(partition, ())}
    return bool(nodes) and names.issuperset(nodes)


def view(nodes: object, jobs: object) -> SlurmView:
    """Return what `scontrol show nodes --json` and `squeue --json` said.

    Raises UnknownError, for one row that cannot be read as well: it may be a job on a node that looks idle.
    """
    read_nodes, read_jobs = replies.nodes(nodes), replies.jobs(jobs)
    for problem in (*read_nodes.problems, *read_jobs.problems):
        raise UnknownError(f"a part of Slurm's answer could not be read: {problem}")
    return SlurmView(
        tuple(
            SlurmNode(
                name=node.name,
                state=node.state,
                reason=node.reason,
                cpus=node.cpus or 0,
                memory_mib=node.real_memory or 0,
                gres=node.gres,
                cpus_allocated=node.alloc_cpus or 0,
                partitions=node.partitions,
            )
            for node in read_nodes.rows
        ),
        tuple(
            JobRef(
                id=job.id,
                user=job.user,
                name=job.name,
                state=str(job.state),
                nodes=job.nodes,
                partition=job.partition,
                wants=job.wants,
            )
            for job in read_jobs.rows
        ),
    )
