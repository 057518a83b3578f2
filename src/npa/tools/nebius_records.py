"""The provider's messages as values. They are decoded here and given a meaning elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from npa.errors import ProviderUnknownError
from npa.render.nebius.capacity import Advice, Block, Project
from npa.render.nebius.quotas import Allowance

if TYPE_CHECKING:
    from nebius.api.nebius.capacity.v1 import CapacityBlockGroup, ResourceAdvice
    from nebius.api.nebius.common.v1 import ResourceMetadata
    from nebius.api.nebius.iam.v2 import Project as ProjectMessage
    from nebius.api.nebius.mk8s.v1 import Cluster as ClusterMessage
    from nebius.api.nebius.quotas.v1 import QuotaAllowance

Kind = Literal["tenant", "subnet", "cluster", "filesystem", "allocation"]


@dataclass(frozen=True, slots=True)
class Token:
    """A token of the provider's; it prints as `***`."""

    value: str = field(repr=False)
    expires: datetime | None = None

    def __str__(self) -> str:
        return "***"


@dataclass(frozen=True, slots=True)
class Resource:
    """Something at the provider that has an id."""

    kind: Kind
    id: str
    name: str
    parent: str


@dataclass(frozen=True, slots=True)
class Kubernetes:
    """One managed Kubernetes cluster."""

    id: str
    name: str
    parent: str  # its project
    state: str
    version: str
    public_endpoint: str
    private_endpoint: str
    ca: str = field(repr=False)  # PEM


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach one cluster's API: for a private kubeconfig that is bound to its id."""

    cluster: str
    name: str
    endpoint: str  # https://…
    ca: str = field(repr=False)  # PEM
    token: Token


def resource(kind: Kind, metadata: ResourceMetadata) -> Resource:
    """Decode what everything with an id has; raises ProviderUnknownError where it has none."""
    if not metadata.id:
        raise ProviderUnknownError(f"read {kind}", detail="a record without an id")
    return Resource(kind, metadata.id, metadata.name, metadata.parent_id)


def project(message: ProjectMessage) -> Project:
    """Decode a project."""
    return Project(message.metadata.id, message.metadata.parent_id, message.spec.region)


def allowance(message: QuotaAllowance) -> Allowance:
    """Decode a quota; raises ProviderUnknownError where it has no name: it could be any."""
    metadata, spec, status = message.metadata, message.spec, message.status
    if not metadata.name:
        raise ProviderUnknownError("list quotas", detail="a record without a name")
    return Allowance(
        name=metadata.name,
        scope=metadata.parent_id,
        region=spec.region,
        limit=spec.limit,
        usage=status.usage,
        unit=status.unit,
        state=status.state.name,
        usage_state=status.usage_state.name,
        usage_percentage=status.usage_percentage,
    )


def block(message: CapacityBlockGroup) -> Block:
    """Decode a reservation; raises ProviderUnknownError where it has no id."""
    metadata, status = message.metadata, message.status
    if not metadata.id:
        raise ProviderUnknownError("list reservations", detail="a record without an id")
    affinity = status.resource_affinity.compute_v1
    return Block(
        id=metadata.id,
        name=metadata.name,
        parent=metadata.parent_id,
        state=status.state.name,
        region=status.region,
        platform=affinity.platform if affinity else "",
        fabric=affinity.fabric if affinity else "",
        limit=status.current_limit,
        usage=status.usage,
        usage_percentage=status.usage_percentage,
        usage_state=status.usage_state.name,
    )


def advice(message: ResourceAdvice) -> Advice:
    """Decode a statement on what can be started in reservations."""
    spec, reserved = message.spec, message.status.reserved
    instance = spec.compute_instance
    return Advice(
        platform=instance.platform if instance else "",
        preset=instance.preset.name if instance else "",
        region=spec.region,
        fabric=spec.fabric,
        available=reserved.available,
        data_state=reserved.data_state.name,
    )


def kubernetes(message: ClusterMessage) -> Kubernetes:
    """Decode a cluster."""
    plane = message.status.control_plane
    return Kubernetes(
        id=message.metadata.id,
        name=message.metadata.name,
        parent=message.metadata.parent_id,
        state=message.status.state.name,
        version=plane.version,
        public_endpoint=plane.endpoints.public_endpoint,
        private_endpoint=plane.endpoints.private_endpoint,
        ca=plane.auth.cluster_ca_certificate,
    )
