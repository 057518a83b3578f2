"""gres.conf: which device files are the GPUs of a pool."""

from __future__ import annotations

from npa.cluster.model import Cluster, Pool
from npa.slurm import conf, hostlist
from npa.slurm.quantity import Gres
from npa.slurm.runtime import PoolSite, Runtime


def render(cluster: Cluster, runtime: Runtime) -> str:
    """Return gres.conf: one line per pool with GPUs, and only the header where there are none."""
    lines: list[conf.Line] = []
    for pool in cluster.pools:
        said = runtime.site.pools.get(pool.name, PoolSite()).gres
        if not pool.size:
            continue
        if said:
            names = hostlist.compress(pool.nodes)
            lines += [conf.line(("NodeName", names), *pairs) for pairs in said]
        elif pool.machine.gpus:
            lines.append(_devices(pool))
    return conf.text([conf.comment(conf.HEADER), *lines, *runtime.site.retired_gres])


def of(pool: Pool) -> tuple[Gres, ...]:
    """Return what a worker of the pool has, as its NodeName line says: the two must agree."""
    machine = pool.machine
    return (Gres("gpu", machine.gpu_type, machine.gpus),) if machine.gpus else ()


def _devices(pool: Pool) -> conf.Line:
    # Explicit files: AutoDetect beside them makes duplicates, and Count without File is ignored by slurmd.
    kind = [("Type", pool.machine.gpu_type)] if pool.machine.gpu_type else []
    files = hostlist.compress(f"/dev/nvidia{minor}" for minor in range(pool.machine.gpus))
    return conf.line(("NodeName", hostlist.compress(pool.nodes)), ("Name", "gpu"), *kind, ("File", files))
