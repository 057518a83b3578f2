"""The way to a cluster's Kubernetes API, once the provider has said which cluster it is."""

from __future__ import annotations

from collections.abc import Callable

from npa.errors import OwnershipError
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.targets.nebius.ports import KubeApi, Provider, ProviderCluster
from npa.tools.kube import Access, Kube

Connect = Callable[[Access], KubeApi]


def verified(found: ProviderCluster, cluster_id: str, name: str, project_id: str) -> ProviderCluster:
    """Return the cluster where it is the recorded one to the letter; raises OwnershipError."""
    for what, expected, got in (
        ("id", cluster_id, found.id),
        ("name", name, found.name),
        ("project", project_id, found.project_id),
    ):
        if expected and expected != got:
            raise OwnershipError(
                f"the provider's cluster has another {what} than the installation's record",
                expected=expected,
                found=got,
                hint="restore the record that belongs to this cluster; nothing is done by name",
            )
    return found


def connect(
    provider: Provider,
    cluster_id: str,
    name: str,
    project_id: str,
    *,
    timeout: float = 60.0,
    to: Connect = Kube,
) -> Lookup[KubeApi]:
    """Return the API of exactly this cluster; raises OwnershipError where the provider knows another."""
    found = provider.cluster(cluster_id, timeout)
    if not isinstance(found, Found):
        return found
    verified(found.value, cluster_id, name, project_id)
    access = provider.access(cluster_id, timeout)
    if isinstance(access, Absent):
        return Unknown(f"the provider has no endpoint for cluster {cluster_id}")
    if isinstance(access, Unknown):
        return access
    if access.value.cluster_id != cluster_id:
        raise OwnershipError(
            "the endpoint is another cluster's", expected=cluster_id, found=access.value.cluster_id
        )
    return Found(to(access.value))
