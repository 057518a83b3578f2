"""An Observation: what is there now, as it was read; nothing in it is a judgement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from npa.plan.model import JobRef
from npa.slurm.states import NodeState


@dataclass(frozen=True, slots=True)
class Daemon:
    """A process that should run on a node."""

    node: str
    name: str  # slurmctld, slurmd, mariadbd, …
    state: Literal["up", "down", "unknown"]
    pid: int = 0  # on this machine; 0 where it is not running


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """A node as slurmctld sees it."""

    name: str
    state: NodeState
    reason: str = ""
    cpus: int = 0
    memory_mib: int = 0
    gres: str = ""
    cpus_allocated: int = 0
    partitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """What was found of one cluster.

    `nodes` and `jobs` are None where Slurm's answer could not be read: unknown, not none.
    """

    name: str
    target: str
    state: Literal["absent", "stopped", "present"]
    expected_workers: tuple[str, ...] = ()
    elastic: frozenset[str] = frozenset()  # of the workers, those that are there only while they are wanted
    expected_cpus: int = 0
    expected_gpus: int = 0
    daemons: tuple[Daemon, ...] = ()
    nodes: tuple[SlurmNode, ...] | None = None
    jobs: tuple[JobRef, ...] | None = None
    slurm_version: str = ""
    full: tuple[str, ...] = ()  # folders of the daemons on a disk without room
    problems: tuple[str, ...] = ()  # reads that failed, in words
