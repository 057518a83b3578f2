"""What destroying a cluster reads, lists and deletes by id: one request for each kind of thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nebius.aio.request import Request
    from nebius.sdk import SDK

    from npa.tools.nebius_records import Kind


def get(sdk: SDK, kind: Kind, resource_id: str, limits: dict[str, Any]) -> Request[Any, Any]:
    """Return the request for one thing."""
    from nebius.api.nebius.compute import v1 as compute
    from nebius.api.nebius.mk8s import v1 as mk8s
    from nebius.api.nebius.vpc import v1 as vpc

    if kind == "filesystem":
        return compute.FilesystemServiceClient(sdk).get(
            compute.GetFilesystemRequest(id=resource_id), **limits
        )
    if kind == "allocation":
        return vpc.AllocationServiceClient(sdk).get(vpc.GetAllocationRequest(id=resource_id), **limits)
    if kind == "cluster":
        return mk8s.ClusterServiceClient(sdk).get(mk8s.GetClusterRequest(id=resource_id), **limits)
    raise ValueError(f"nothing of a cluster's: {kind}")


def list_page(sdk: SDK, kind: Kind, project: str, at: str, limits: dict[str, Any]) -> Request[Any, Any]:
    """Return the request for one page of a project's things."""
    from nebius.api.nebius.compute import v1 as compute
    from nebius.api.nebius.mk8s import v1 as mk8s
    from nebius.api.nebius.vpc import v1 as vpc

    if kind == "filesystem":
        files = compute.ListFilesystemsRequest(parent_id=project, page_token=at)
        return compute.FilesystemServiceClient(sdk).list(files, **limits)
    if kind == "allocation":
        addresses = vpc.ListAllocationsRequest(parent_id=project, page_token=at)
        return vpc.AllocationServiceClient(sdk).list(addresses, **limits)
    if kind == "cluster":
        clusters = mk8s.ListClustersRequest(parent_id=project, page_token=at)
        return mk8s.ClusterServiceClient(sdk).list(clusters, **limits)
    raise ValueError(f"nothing of a cluster's: {kind}")


def delete(sdk: SDK, kind: Kind, resource_id: str, limits: dict[str, Any]) -> Request[Any, Any]:
    """Return the request that has one thing deleted."""
    from nebius.api.nebius.compute import v1 as compute
    from nebius.api.nebius.mk8s import v1 as mk8s
    from nebius.api.nebius.vpc import v1 as vpc

    if kind == "filesystem":
        return compute.FilesystemServiceClient(sdk).delete(
            compute.DeleteFilesystemRequest(id=resource_id), **limits
        )
    if kind == "allocation":
        return vpc.AllocationServiceClient(sdk).delete(vpc.DeleteAllocationRequest(id=resource_id), **limits)
    if kind == "cluster":
        return mk8s.ClusterServiceClient(sdk).delete(mk8s.DeleteClusterRequest(id=resource_id), **limits)
    raise ValueError(f"nothing of a cluster's: {kind}")
