"""Every file of a cluster's Slurm, with who may read it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from npa.cluster.model import Cluster
from npa.slurm import cgroup, gres, mpi, plugstack, slurm_conf, slurmdbd, topology
from npa.slurm.runtime import Runtime

Audience = Literal["all", "daemons"]


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file in Slurm's configuration directory."""

    name: str
    text: str
    audience: Audience = "all"  # `daemons`: never where users' processes see it
    mode: int = 0o644


def render(cluster: Cluster, runtime: Runtime) -> tuple[ConfigFile, ...]:
    """Return the files by name; the same cluster gives the same bytes, in whatever order it was written."""
    cluster = replace(
        cluster,
        pools=tuple(sorted(cluster.pools, key=lambda pool: pool.name)),
        slurm_settings=tuple(sorted(cluster.slurm_settings, key=lambda setting: setting[0].lower())),
    )
    files = (
        ConfigFile("slurm.conf", slurm_conf.render(cluster, runtime)),
        ConfigFile("gres.conf", gres.render(cluster, runtime)),
        ConfigFile("cgroup.conf", cgroup.render(cluster, runtime)),
        ConfigFile("mpi.conf", mpi.render(cluster, runtime)),
        ConfigFile("plugstack.conf", plugstack.render(cluster, runtime)),
        ConfigFile(topology.name(cluster), topology.render(cluster, runtime)),
        # slurmdbd refuses to start when others may read its file.
        ConfigFile("slurmdbd.conf", slurmdbd.render(cluster, runtime), "daemons", 0o600),
    )
    return tuple(sorted((file for file in files if file.text), key=lambda file: file.name))
