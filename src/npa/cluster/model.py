"""The Cluster: what a spec means, with every default, name and size decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

CapacityMode = Literal["on-demand", "preemptible", "reserved"]
TargetName = Literal["local", "kubernetes", "nebius"]
Origin = Literal["spec", "option", "facts", "default"]  # option: the command line

CONTROLLER = "controller"
ACCOUNTING = "accounting"
LOGIN = "login"
REST = "rest"
# Nodes of the control plane are called `<role>-<ordinal>`, so no worker pool may take one of these names.
ROLES = (CONTROLLER, ACCOUNTING, LOGIN, REST)


@dataclass(frozen=True, slots=True)
class Machine:
    """The shape of one worker as Slurm is told."""

    cpus: int
    memory_mib: int
    gpus: int = 0
    gpu_type: str = ""  # GRES type, as in `gpu:b200:8`; empty without GPUs


@dataclass(frozen=True, slots=True)
class Pool:
    """Workers of one shape and one name prefix: one Slurm NodeSet.

    A pool of the spec is usually one Pool; a GB300 pool becomes one per rack, `train-rack0`, `train-rack1`.
    """

    name: str
    origin: str  # the pool's name in the spec
    size: int
    machine: Machine
    platform: str
    preset: str
    fabric: str = ""  # InfiniBand fabric; empty where nodes do not cluster
    features: tuple[str, ...] = ()
    capacity: CapacityMode = "on-demand"
    ephemeral: bool = False  # nodes are powered up for jobs, and down when idle

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the workers, in order: `gpu-0`, `gpu-1`, …"""
        return tuple(f"{self.name}-{ordinal}" for ordinal in range(self.size))


@dataclass(frozen=True, slots=True)
class Partition:
    """A Slurm partition over whole pools."""

    name: str
    pools: tuple[str, ...]  # effective pool names; empty means every node
    default: bool = False
    hidden: bool = False
    max_time_minutes: int | None = None  # None: no limit
    priority_tier: int = 10
    oversubscribe: bool = True


@dataclass(frozen=True, slots=True)
class User:
    """A person who logs in: one account in the jail, so the same on every node."""

    name: str
    uid: int
    ssh_public_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster with nothing left to decide, on whatever target."""

    name: str
    target: TargetName
    pools: tuple[Pool, ...]
    partitions: tuple[Partition, ...]
    region: str = ""
    users: tuple[User, ...] = ()
    root_keys: tuple[str, ...] = ()  # OpenSSH public keys of root on the login nodes
    accounting: bool = False
    rest: bool = False
    slurm_version: str = "26.05"
    slurm_settings: tuple[tuple[str, str], ...] = ()  # extra slurm.conf settings, in the order written
    controllers: tuple[str, ...] = ("controller-0",)
    logins: tuple[str, ...] = ("login-0",)
    origins: Mapping[str, Origin] = field(default_factory=dict)  # dotted path -> who decided it

    @property
    def workers(self) -> tuple[str, ...]:
        """Every worker's name, pool by pool."""
        return tuple(node for pool in self.pools for node in pool.nodes)

    @property
    def elastic(self) -> frozenset[str]:
        """Names of the workers that are there only while Slurm wants them."""
        return frozenset(node for pool in self.pools if pool.ephemeral for node in pool.nodes)

    @property
    def accounting_node(self) -> str:
        """The node of slurmdbd and its database, or "" without accounting."""
        return f"{ACCOUNTING}-0" if self.accounting else ""

    @property
    def rest_node(self) -> str:
        """The node of slurmrestd, or "" without REST."""
        return f"{REST}-0" if self.rest else ""
