"""Where the daemons run: the few facts of a target that Slurm's files depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CgroupVersion = Literal["v1", "v2", "none"]


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
