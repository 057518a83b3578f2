"""Where the daemons run: the few facts of a target that Slurm's files depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from npa.slurm.conf import Line

CgroupVersion = Literal["v1", "v2", "none"]


@dataclass(frozen=True, slots=True)
class PoolSite:
    """What a target says of the nodes of one pool besides, in place of ours where both say it."""

    settings: tuple[tuple[str, str], ...] = ()  # of the NodeName line
    gres: tuple[tuple[tuple[str, str], ...], ...] = ()  # lines of gres.conf


@dataclass(frozen=True, slots=True)
class PartitionSite:
    """A partition in a user's own words."""

    name: str
    pools: tuple[str, ...] = ()  # those without nodes are left out; empty: `settings` says which nodes
    settings: tuple[tuple[str, str], ...] = ()
    everything: bool = False  # every node


@dataclass(frozen=True, slots=True)
class Site:
    """What Slurm's files say besides on a target whose nodes come, go and have addresses of their own."""

    controller_address: str = ""  # where daemons find slurmctld; empty: by its name
    node_domain: str = ""  # workers are reached as `<node>.<domain>`; empty: by their names
    accounting_host: str = ""  # instead of the name of the accounting node
    settings: tuple[tuple[str, str], ...] = ()  # of slurm.conf, in place of ours; "": neither
    dbd_settings: tuple[tuple[str, str], ...] = ()  # of slurmdbd.conf, in place of ours
    pools: Mapping[str, PoolSite] = field(default_factory=dict)
    partitions: tuple[PartitionSite, ...] = ()  # instead of the cluster's
    mpi: tuple[tuple[str, str], ...] = ()  # of mpi.conf
    plugins: tuple[str, ...] = ()  # more lines of plugstack.conf
    retired: tuple[Line, ...] = ()  # of nodes that nobody asks for any more, and that still have to be named
    retired_gres: tuple[Line, ...] = ()  # of gres.conf, of the same nodes
    # Text of the user's own, put at the end as it is: it has to be checked before it is delivered. What it
    # sets is left out of what is ours.
    slurm_conf: str = ""
    cgroup_conf: str = ""


@dataclass(frozen=True, slots=True)
class Runtime:
    """Paths and abilities of the place where the daemons run.

    All paths are as seen by the daemons, which live in a root of their own; `jail` is where the users' root
    is mounted in it.
    """

    cgroup: CgroupVersion
    limits_swap: bool = False  # the machine has swap, and its kernel can hold a job to a share of it
    twin: bool = False  # nodes claim CPUs, memory and GPUs that the machine may not have
    jail: str = "/mnt/jail"
    jail_plugin: str = "/usr/lib/npa/spank_jail.so"
    etc: str = "/etc/slurm"
    state: str = "/var/lib/slurm/ctld"
    spool: str = "/var/spool/slurmd"
    log: str = "/var/log/slurm"
    run: str = "/run"
    site: Site = field(default_factory=Site)
