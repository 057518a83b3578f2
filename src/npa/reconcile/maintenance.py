"""When all workers of a set leave, and whether their jobs are waited for."""

from __future__ import annotations

from npa.render.kube import names
from npa.render.objects import Object, dig

# anything else but `none` takes everything down
_RUNS_ON = frozenset({"", "none", "skipPopulateJail"})
# on a SlurmCluster or a NodeSet, `true`: jobs of workers that leave are not waited for
END_JOBS = f"{names.PREFIX}end-jobs"


def active(cluster: Object) -> bool:
    """Say whether a cluster is taken down for maintenance; its volumes stay."""
    mode = dig(cluster, "spec", "maintenance")
    return (mode if isinstance(mode, str) else "") not in _RUNS_ON


def leaving(cluster: Object, nodeset: Object | None) -> str:
    """Return why all workers of a set leave, or "" where they do not."""
    if dig(cluster, "metadata", "deletionTimestamp"):
        return "the cluster is being deleted"
    if nodeset is None or dig(nodeset, "metadata", "deletionTimestamp"):
        return "the NodeSet is deleted"
    if active(cluster):
        return f"maintenance: {dig(cluster, 'spec', 'maintenance')}"
    return ""


def ends_jobs(*objects: Object | None) -> bool:
    """Say whether somebody asked that jobs of leaving workers be ended."""
    return any(dig(each, "metadata", "annotations", END_JOBS) == "true" for each in objects)
