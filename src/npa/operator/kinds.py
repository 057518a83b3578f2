"""Which objects the operator keeps in sight, how much of each, and which cluster each belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from npa.operator.runtime.informer import Watch, without_managers
from npa.operator.runtime.store import name
from npa.render.kube import names
from npa.render.kube.mariadb import GRANT, MARIADB
from npa.render.objects import (
    ACTIVE_CHECK,
    CLAIM,
    CONFIG_MAP,
    CRON_JOB,
    DAEMON_SET,
    DEPLOYMENT,
    DISRUPTION_BUDGET,
    JAILED_CONFIG,
    JOB,
    NODE,
    NODE_CONFIGURATOR,
    NODE_SET,
    POD,
    POWER_STATE,
    SECRET,
    SERVICE,
    SLURM_CLUSTER,
    STATEFUL_SET,
    STORAGE_CLASS,
    Kind,
    Object,
    dig,
)

# What a cluster is made of bears this label; whatever else is in a namespace is none of our business.
SELECTOR = "app.kubernetes.io/name=slurmcluster"
INSTANCE = "app.kubernetes.io/instance"

OWNER = "owner of "  # in an index, in the place of a namespace
EVERY = "*"  # in an index, in the place of a cluster: all resources of ours in a namespace
UNNAMED = "?"  # cluster of a NodeSet that names none: the only one of its namespace

RESOURCES = (SLURM_CLUSTER, NODE_SET, ACTIVE_CHECK, JAILED_CONFIG, NODE_CONFIGURATOR, POWER_STATE)
CHILDREN = (
    POD,
    SERVICE,
    CONFIG_MAP,
    SECRET,
    CLAIM,
    STATEFUL_SET,
    DEPLOYMENT,
    DAEMON_SET,
    JOB,
    CRON_JOB,
)
# What belongs to nobody, and is read whole.
OF_ALL = (NODE, STORAGE_CLASS)
# What is rendered only where somebody installed it.
OPTIONAL = (
    DISRUPTION_BUDGET,  # of Kubernetes itself, from 1.21 on
    Kind("monitoring.coreos.com", "v1", "PodMonitor", "podmonitors"),
    Kind("monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors"),
    MARIADB,
    GRANT,
    Kind("security-profiles-operator.x-k8s.io", "v1alpha1", "AppArmorProfile", "apparmorprofiles"),
)


def _instance(found: Object) -> Any:
    return dig(found, "metadata", "labels", INSTANCE)


_OF: Mapping[Kind, Callable[[Object], Any]] = {
    SLURM_CLUSTER: lambda found: dig(found, "metadata", "name"),
    NODE_SET: lambda found: (
        dig(found, "spec", "clusterName")
        or dig(found, "metadata", "annotations", f"{names.PREFIX}parental-cluster-ref")
    ),
    ACTIVE_CHECK: lambda found: dig(found, "spec", "slurmClusterRefName"),
}


def cluster_of(kind: Kind, found: Object) -> str:
    """Return the name of the cluster, in its namespace, that an object says it belongs to; "" for none."""
    say = _OF.get(kind, _instance)
    return str(say(found) or (UNNAMED if kind == NODE_SET else ""))


def watches(namespaces: Iterable[str], kinds: Iterable[Kind]) -> tuple[Watch, ...]:
    """Return what is to be watched: each kind in each namespace, "" being all of them."""
    return tuple(
        Watch(kind, space, _selector(kind), _trim(kind), _index(kind))
        for kind in kinds
        for space in (sorted(set(namespaces)) or [""])
        if kind.namespaced or space == next(iter(sorted(set(namespaces))), "")
    )


def left(namespace: str, nodeset: str) -> tuple[str, str]:
    """Return the entry of the index for the pods and claims of a NodeSet, which may be gone."""
    return f"{namespace}/nodeset", nodeset


def _selector(kind: Kind) -> str:
    return "" if kind in RESOURCES or kind in OF_ALL else SELECTOR


def _index(kind: Kind) -> Callable[[Object], Iterable[tuple[str, str]]]:
    """Return the index of a kind: by namespace and cluster, and by the uids of whoever owns an object."""

    def entries(found: Object) -> Iterable[tuple[str, str]]:
        if cluster := cluster_of(kind, found):
            yield name(found)[0], cluster
        if kind in RESOURCES:
            yield name(found)[0], EVERY
        for owner in dig(found, "metadata", "ownerReferences") or ():
            yield OWNER, str(owner.get("uid"))
        if nodeset := dig(found, "metadata", "labels", names.NODE_SET):
            yield left(name(found)[0], str(nodeset))

    return entries


def _trim(kind: Kind) -> Callable[[Object], Object]:
    return node if kind == NODE else without_managers


def node(found: Object) -> Object:
    """Return what is read of a Kubernetes node: not its heartbeats, not what images it holds."""
    metadata, status = found["metadata"], found.get("status") or {}
    conditions = [
        {key: row[key] for key in ("type", "status", "reason", "message", "lastTransitionTime") if key in row}
        for row in status.get("conditions") or ()
    ]
    kept = ("name", "uid", "resourceVersion", "labels", "annotations", "deletionTimestamp")
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {key: metadata[key] for key in kept if key in metadata},
        "spec": found.get("spec") or {},
        "status": {
            "conditions": conditions,
            **{key: status[key] for key in ("capacity", "allocatable", "nodeInfo") if key in status},
        },
    }
