"""Where components run: the named filters of a SlurmCluster."""

from __future__ import annotations

from collections.abc import Iterator

from npa.crds.rules.found import components, problem
from npa.crds.slurmcluster import SlurmCluster
from npa.errors import Problem


def names_are_unique(cluster: SlurmCluster) -> Iterator[Problem]:
    """A filter's name means one filter."""
    seen: set[str] = set()
    for index, each in enumerate(cluster.spec.k8s_node_filters):
        if each.name in seen:
            text = f"there is another filter {each.name!r}"
            yield problem(f"spec.k8sNodeFilters[{index}].name", text, "give each a name of its own")
        seen.add(each.name)


def named_ones_exist(cluster: SlurmCluster) -> Iterator[Problem]:
    """A component that runs names a filter that there is, or none."""
    known = [each.name for each in cluster.spec.k8s_node_filters]
    named = {at: node.k8s_node_filter_name for at, node in components(cluster)}
    named["spec.populateJail"] = cluster.spec.populate_jail.k8s_node_filter_name
    for at, name in named.items():
        if name and name not in known:
            hint = f"choose one of {', '.join(known)}" if known else "add it to `k8sNodeFilters`"
            yield problem(f"{at}.k8sNodeFilterName", f"there is no filter {name!r}", hint)


def both_must_hold(cluster: SlurmCluster) -> Iterator[str]:
    """Yield a warning for a filter that says twice where pods run."""
    for each in cluster.spec.k8s_node_filters:
        if each.node_selector and each.affinity and each.affinity.get("nodeAffinity"):
            yield f"filter {each.name!r} has both affinity and nodeSelector: a node has to meet both"
