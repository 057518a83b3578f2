"""mpi.conf: how Slurm starts the processes of MPI programs."""

from __future__ import annotations

from npa.cluster.model import Cluster
from npa.slurm import conf
from npa.slurm.runtime import Runtime


def render(cluster: Cluster, runtime: Runtime) -> str:  # noqa: ARG001  # one signature for every file
    """Return mpi.conf; "" where nothing is to be said, and Slurm's own defaults hold."""
    said = [pair for pair in runtime.site.mpi if pair[1]]
    return conf.text([conf.comment(conf.HEADER), *map(conf.line, said)]) if said else ""
