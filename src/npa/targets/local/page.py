"""Reads what the page of a local cluster shows. Changes nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from npa.cluster.model import Cluster, Partition, Pool
from npa.health.assess import Report
from npa.page.facts import Facts, Group, Past, Topology
from npa.plan.history import History
from npa.render.local.layout import Layout
from npa.slurm import hostlist, job_detail, lookup, replies, topology, usage
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.targets import history
from npa.targets.local import gather
from npa.targets.local import record as records
from npa.tools.slurm import Slurm

ACCOUNTS_TIMEOUT = 60.0  # seconds: a month of a busy cluster is a hundred thousand jobs
NO_SLURMCTLD = Unknown("slurmctld is not running")


def facts(layout: Layout, report: Report, days: int) -> Facts:
    """Return what is there of a cluster and what its accounts say of the last days."""
    record = records.load(Path(layout.record))
    _, running = gather.processes(layout, report.name)
    slurm = gather.slurm_of(running)
    patient = gather.slurm_of(running, ACCOUNTS_TIMEOUT)
    now = datetime.now(UTC)
    return Facts(
        name=report.name,
        target=report.target,
        now=now,
        report=report,
        topology=_topology(record.cluster) if record else None,
        nodes=lookup.ask(lambda: replies.nodes(slurm.nodes())) if slurm else NO_SLURMCTLD,
        jobs=lookup.ask(lambda: job_detail.current(slurm.jobs())) if slurm else NO_SLURMCTLD,
        past=_past(patient, record.cluster.accounting, now, days)
        if record
        else Unknown("its record is gone"),
        history=_history(layout),
    )


def _past(slurm: Slurm | None, kept: bool, now: datetime, days: int) -> Lookup[Past]:
    if not kept:
        return Absent()
    if slurm is None:
        return NO_SLURMCTLD
    return lookup.ask(lambda: Past(now - timedelta(days=days), usage.past(slurm.past(days))))


def _history(layout: Layout) -> Lookup[History]:
    try:
        return Found(history.load(Path(layout.history)))
    except OSError as error:
        return Unknown(f"{layout.history}: {(error.strerror or str(error)).lower()}")


def _topology(cluster: Cluster) -> Topology:
    return Topology(
        controllers=cluster.controllers,
        logins=cluster.logins,
        others=tuple(each for each in (cluster.accounting_node, cluster.rest_node) if each),
        pools=tuple(Group(pool.name, pool.nodes, _has(pool)) for pool in cluster.pools),
        partitions=tuple(_partition(cluster, each) for each in cluster.partitions if not each.hidden),
        switches=tuple(
            Group(each.name, tuple(hostlist.expand(each.nodes)))
            for each in topology.switches(cluster)
            if each.nodes
        ),
    )


def _has(pool: Pool) -> str:
    gpus = f", {pool.machine.gpus} {pool.machine.gpu_type} GPUs" if pool.machine.gpus else ""
    memory = f"{pool.machine.memory_mib / 1024:.0f}G"
    elastic = ", while jobs want them" if pool.ephemeral else ""
    return f"{pool.machine.cpus} CPUs, {memory}{gpus}{elastic}"


def _partition(cluster: Cluster, partition: Partition) -> Group:
    chosen = [pool for pool in cluster.pools if not partition.pools or pool.name in partition.pools]
    told = ["default"] if partition.default else []
    if partition.max_time_minutes is not None:
        told.append(f"at most {partition.max_time_minutes} min")
    return Group(partition.name, tuple(node for pool in chosen for node in pool.nodes), ", ".join(told))
