"""The way to a cluster's Kubernetes API, once the provider has said which cluster it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from npa.errors import NpaError, OwnershipError, ProviderDeniedError, ProviderNotFoundError
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.targets.nebius.ports import KubeApi, Provider
from npa.tools.kube import Access, Kube
from npa.tools.nebius_records import Kubernetes

Connect = Callable[[Access], KubeApi]

_T = TypeVar("_T")


def look_up(resource_id: str, read: Callable[[], _T]) -> Lookup[_T]:
    """Return what the provider says of an id; only its NotFound of that id is absence.

    Raises ProviderDeniedError: with these credentials nothing is learnt by asking again.
    """
    try:
        return Found(read())
    except ProviderDeniedError:
        raise
    except ProviderNotFoundError as error:
        if error.resource == resource_id:
            return Absent()
        return Unknown(f"the provider does not know {error.resource or 'something'}, which was not asked for")
    except NpaError as error:
        return Unknown(str(error))


def verified(found: Kubernetes, cluster_id: str, name: str, project_id: str) -> Kubernetes:
    """Return the cluster where it is the recorded one to the letter; raises OwnershipError."""
    for what, expected, got in (
        ("id", cluster_id, found.id),
        ("name", name, found.name),
        ("project", project_id, found.parent),
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
    private: bool = False,
    to: Connect = Kube,
) -> Lookup[KubeApi]:
    """Return the API of exactly this cluster; raises OwnershipError where the provider knows another."""
    found = look_up(cluster_id, lambda: provider.cluster(cluster_id))
    if not isinstance(found, Found):
        return found
    cluster = verified(found.value, cluster_id, name, project_id)
    endpoint = cluster.private_endpoint if private else cluster.public_endpoint
    if not endpoint or not cluster.ca:
        return Unknown(f"the provider has no endpoint for cluster {cluster_id} yet")
    return Found(to(Access(cluster_id, endpoint, cluster.ca, lambda: provider.token().value)))
