"""What is there of a local cluster, as an Observation."""

from __future__ import annotations

from npa.health.observation import Daemon, Observation
from npa.render.local import nodes
from npa.render.local.world import World


def observe(name: str, world: World, full: tuple[str, ...] = ()) -> Observation:
    """Return what was gathered, against what was asked for when it was last deployed; pure."""
    record = world.record
    if record is None:
        return Observation(name, "local", "present" if world.lab else "absent")
    daemons = []
    elastic = record.cluster.elastic
    if elastic:
        daemons.append(Daemon("this machine", "power agent", "up" if world.agent else "down", world.agent))
    for node, wanted in nodes.daemons(record.cluster).items():
        running = world.nodes.get(node)
        if running is None and node in elastic:
            continue  # off, as it may be
        if running and not running.linked:
            daemons.append(Daemon(node, "link", "down"))
        for daemon in wanted:
            pid = running.daemons.get(daemon, 0) if running else 0
            daemons.append(Daemon(node, daemon, "up" if pid else "down", pid))
    return Observation(
        name=name,
        target="local",
        state="present" if world.lab else "stopped",
        expected_workers=record.cluster.workers,
        elastic=elastic,
        expected_cpus=sum(pool.size * pool.machine.cpus for pool in record.cluster.pools),
        expected_gpus=sum(pool.size * pool.machine.gpus for pool in record.cluster.pools),
        daemons=tuple(daemons),
        nodes=world.slurm.nodes if world.slurm else None,
        jobs=world.slurm.jobs if world.slurm else None,
        slurm_version=record.slurm_version,
        full=full,
        problems=(world.slurm_problem,) if world.slurm_problem and world.lab else (),
    )
