"""What of a cluster goes: the objects of components that are switched off. Data and their Secrets stay."""

from __future__ import annotations

from collections.abc import Iterator

from npa.reconcile import database
from npa.reconcile.decision import Deletion
from npa.reconcile.world import World
from npa.render.kube import exporter, isolation, login, mariadb, monitors, names, volumes
from npa.render.kube.context import Context
from npa.render.kube.exporter import POD_MONITOR
from npa.render.kube.mariadb import GRANT, MARIADB
from npa.render.kube.monitors import SERVICE_MONITOR
from npa.render.objects import (
    CONFIG_MAP,
    DEPLOYMENT,
    DISRUPTION_BUDGET,
    SECRET,
    SERVICE,
    STATEFUL_SET,
    Kind,
    Object,
    dig,
)

Named = tuple[Kind, str]


def decide(world: World, context: Context) -> Iterator[Deletion]:
    """Yield what is there and not wanted any more; of what could not be read nothing goes."""
    for kind, name in (*_components(context), *_databases(world, context), *_parts(context)):
        found = world.find(kind.kind, name) if kind.kind not in world.unread else None
        if found is not None and _ours(found, context) and not dig(found, "metadata", "deletionTimestamp"):
            yield Deletion(kind, context.namespace, name, str(dig(found, "metadata", "uid") or ""))


def _components(context: Context) -> Iterator[Named]:
    nodes, name = context.spec.slurm_nodes, context.name
    if not nodes.accounting.enabled:
        yield from _of(context, "accounting", STATEFUL_SET)
        yield SECRET, names.dbd_config(name)
    if not nodes.rest.enabled:
        yield from _of(context, "rest", DEPLOYMENT)
    if not nodes.exporter.enabled or exporter.lacks(context)[0]:
        yield DEPLOYMENT, exporter.workload(name)
        yield SERVICE, names.service(name, "exporter")
        yield POD_MONITOR, exporter.monitor(context)


def _databases(world: World, context: Context) -> Iterator[Named]:
    """Yield mariadb-operator's objects where accounting is kept elsewhere; the volume with its data stays."""
    used = context.spec.slurm_nodes.accounting.enabled and context.database == "operated"
    if not used and not database.unread(world, context):
        yield GRANT, mariadb.name(context.name)
        yield MARIADB, mariadb.name(context.name)


def _parts(context: Context) -> Iterator[Named]:
    if not context.spec.slurm_nodes.controller.open_metrics.enabled:
        yield SERVICE_MONITOR, monitors.name(context)
    if not isolation.enabled(context):
        yield CONFIG_MAP, isolation.name(context)
    if login.size(context) < 2:
        yield DISRUPTION_BUDGET, names.workload(context.name, "login")
    for component, text in _limits(context):
        if not text.strip():
            yield CONFIG_MAP, volumes.limits_name(context, component)


def _of(context: Context, component: names.Component, kind: Kind) -> tuple[Named, ...]:
    return (
        (kind, names.workload(context.name, component)),
        (SERVICE, names.service(context.name, component)),
        (CONFIG_MAP, volumes.limits_name(context, component)),
    )


def _limits(context: Context) -> Iterator[tuple[names.Component, str]]:
    nodes = context.spec.slurm_nodes
    yield "controller", nodes.controller.slurmctld.security_limits_config
    yield "login", nodes.login.sshd.security_limits_config
    if nodes.accounting.enabled:
        yield (
            "accounting",
            nodes.accounting.slurmdbd.security_limits_config if nodes.accounting.slurmdbd else "",
        )
    if nodes.rest.enabled:
        yield "rest", nodes.rest.rest.security_limits_config if nodes.rest.rest else ""


def _ours(found: Object, context: Context) -> bool:
    """Say whether an object is the cluster's own: somebody else's of the same name is left alone."""
    owners = dig(found, "metadata", "ownerReferences") or ()
    return any(each.get("uid") == context.cluster.metadata.uid for each in owners)
