"""Names after expansion: what a pod, a host or a Service would be called has to be a name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from npa.crds.nodeset import NodeSet
from npa.crds.rules.found import problem
from npa.crds.slurmcluster import SlurmCluster
from npa.errors import Problem

LABEL = 63  # characters of a host name, a label's value and a Service's name
# Kubernetes labels the pods of a StatefulSet with its name and ten characters besides.
WORKLOAD = LABEL - len("-1234567890")
LONGEST = "-login-headless-svc"
COMPONENTS = ("controller", "login", "accounting", "rest", "exporter")

_HOST = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_SERVICE = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")


def pods_can_be_named(cluster: SlurmCluster) -> Iterator[Problem]:
    """A cluster's name begins those of its workloads and Services, and is Slurm's ClusterName."""
    name = cluster.name
    most = min(WORKLOAD - len("-controller"), LABEL - len(LONGEST))
    if len(name) > most:
        text = f"has {len(name)} characters: `{name[:20]}…{LONGEST}` would be too long"
        yield problem("metadata.name", text, f"choose a name of at most {most} characters")
    if name and not _SERVICE.fullmatch(name):
        text = f"{name!r} cannot begin the name of a Service"
        yield problem("metadata.name", text, "use letters, digits and hyphens, a letter first, no dots")


def workers_can_be_named(nodeset: NodeSet) -> Iterator[Problem]:
    """A worker's name is that of its pod, its host and its Slurm node."""
    name = nodeset.name
    last = f"{name}-{max(0, nodeset.spec.replicas - 1)}"
    if len(last) > LABEL:
        text = f"its last worker would be `{last[:20]}…`, of {len(last)} characters"
        yield problem("metadata.name", text, f"shorten it by {len(last) - LABEL}")
    if name and not _HOST.fullmatch(name):
        text = f"{name!r} cannot begin a host name"
        yield problem("metadata.name", text, "use letters, digits and hyphens, no dots")
    if name == "all":
        text = "`ALL` is every node to Slurm, whatever its case"
        yield problem("metadata.name", text, "choose another name")


def names_are_apart(nodeset: NodeSet, cluster: str, siblings: Iterable[NodeSet]) -> Iterator[Problem]:
    """No worker is called as another pod or another NodeSet of the namespace."""
    name = nodeset.name
    service = f"{cluster}-nodeset-{name}-svc"
    if cluster and len(service) > LABEL:
        text = f"its Service would be `{service[:20]}…`, of {len(service)} characters"
        yield problem("metadata.name", text, f"shorten it by {len(service) - LABEL}")
    if cluster and name in {f"{cluster}-{component}" for component in COMPONENTS}:
        text = f"worker `{name}-0` would be called as a pod of cluster {cluster!r}"
        yield problem("metadata.name", text, "choose another name")
    for other in siblings:
        for outer, inner in ((other, nodeset), (nodeset, other)):
            if _is_worker(inner.name, outer):
                text = f"NodeSet {inner.name!r} is called as a worker of NodeSet {outer.name!r}"
                yield problem("metadata.name", text, "Slurm needs another name for each: rename one of them")


def _is_worker(name: str, of: NodeSet) -> bool:
    ordinal = name.removeprefix(f"{of.name}-") if name.startswith(f"{of.name}-") else ""
    return ordinal.isdecimal() and str(int(ordinal[:18])) == ordinal and int(ordinal) < of.spec.replicas
