"""What is there of a local cluster, as it was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from npa.cluster.model import Cluster
from npa.health.answers import SlurmView


@dataclass(frozen=True, slots=True)
class Record:
    """What is written down about a cluster, because nothing else would remember it."""

    name: str
    created: str  # RFC 3339, UTC
    image: str  # digest of the image that the jail began as
    rootfs: str
    slurm_version: str
    cgroups: Mapping[str, str]  # controller -> the lab's group
    addresses: Mapping[str, str]
    cluster: Cluster  # as it was last asked for
    # slurmctld, slurmdbd -> digest of the files it last read
    loaded: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Running:
    """A node that lives."""

    pid: int  # of its first process
    fingerprint: str
    daemons: Mapping[str, int]  # name -> PID, of those that run
    stopped: Mapping[str, int] = field(default_factory=dict)  # as `daemons`, but halted by a signal
    linked: bool = True  # has its routes to the others, and they theirs to it


@dataclass(frozen=True, slots=True)
class World:
    """What was found; `slurm` and `users` are None where they could not be read, which never means none."""

    record: Record | None
    image_cached: bool = False
    agent: int = 0  # PID of the power agent; 0 where it is not running
    lab: int = 0  # PID of the lab's first process; 0 where it is not running
    nodes: Mapping[str, Running] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)  # of those that npa manages
    slurm: SlurmView | None = None
    slurm_problem: str = ""  # why `slurm` is None
    users: frozenset[str] | None = None  # accounts in the jail
