"""What is around workers: the headless Services by which they are called, and what holds off evictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npa.crds.nodeset import NodeSet
from npa.render.kube import names
from npa.render.objects import DISRUPTION_BUDGET, SERVICE

_OUT_OF_REACH = 1_000_000


def service_name(cluster: str, nodeset: str) -> str:
    """Name of the headless Service of one set."""
    return f"{cluster}-nodeset-{nodeset}-svc"


def umbrella(cluster: str, namespace: str) -> dict[str, Any]:
    """Return the Service of all workers of a cluster."""
    return _headless(
        names.umbrella(cluster),
        namespace,
        names.labels(cluster, "nodeset"),
        names.selector(cluster, "worker"),
        names.SLURMD_PORT,
    )


def of_set(nodeset: NodeSet, cluster: str) -> dict[str, Any]:
    """Return the Service of one set."""
    extra = {names.NODE_SET: nodeset.name}
    return _headless(
        service_name(cluster, nodeset.name),
        nodeset.namespace,
        names.labels(cluster, "nodeset", **extra),
        {**names.selector(cluster, "worker"), **extra},
        nodeset.spec.slurmd.port,
    )


def budget_name(cluster: str, nodeset: str) -> str:
    """Name of the budget of one set."""
    return f"{cluster}-nodeset-{nodeset}"


def budget(nodeset: NodeSet, cluster: str) -> dict[str, Any]:
    """Return the budget by which nobody evicts a worker: the operator moves it when its jobs have ended.

    Its number is out of reach: `maxUnavailable: 0` would need an owner that Kubernetes can count by.
    """
    extra = {names.NODE_SET: nodeset.name}
    spec = {
        "minAvailable": _OUT_OF_REACH,
        "selector": {"matchLabels": {**names.selector(cluster, "worker"), **extra}},
    }
    rendered = DISRUPTION_BUDGET.object(budget_name(cluster, nodeset.name), nodeset.namespace, spec=spec)
    rendered["metadata"]["labels"] = names.labels(cluster, "nodeset", **extra)
    return rendered


def _headless(
    name: str, namespace: str, labels: Mapping[str, str], selector: Mapping[str, str], port: int
) -> dict[str, Any]:
    spec = {
        "clusterIP": "None",
        # a worker is called before it is ready: that is how it becomes so
        "publishNotReadyAddresses": True,
        "selector": dict(selector),
        "ports": [{"name": "slurmd", "port": port, "targetPort": port, "protocol": "TCP"}],
    }
    rendered = SERVICE.object(name, namespace, spec=spec)
    rendered["metadata"]["labels"] = dict(labels)
    return rendered
