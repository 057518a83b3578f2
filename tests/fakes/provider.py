"""The provider on loopback: a gRPC server that speaks the SDK's own messages.

What it holds are messages in `Provider` by kind; how it misbehaves is one `Fault` for a method.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from nebius.api.google.rpc import Status
from nebius.api.nebius.capacity import v1 as capacity
from nebius.api.nebius.common import v1 as common
from nebius.api.nebius.compute import v1 as compute
from nebius.api.nebius.iam import v2 as iam
from nebius.api.nebius.mk8s import v1 as mk8s
from nebius.api.nebius.quotas import v1 as quotas
from nebius.api.nebius.vpc import v1 as vpc
from nebius.base.options import INSECURE
from nebius.base.protos.dynamic import REGISTRY
from nebius.base.resolver import Constant
from nebius.sdk import SDK


@dataclass(frozen=True)
class Fault:
    """How one method misbehaves."""

    code: grpc.StatusCode | None = None
    message: str = "no"
    missing: str | None = None  # id in the structured details; None: there are no details
    after: int = 0  # answer so many calls properly first
    times: int = 1_000_000
    garbage: bytes | None = None  # answer with these bytes
    endless: bool = False  # the same next page for ever
    other: str = ""  # answer about this id, whatever was asked


@dataclass(frozen=True)
class Kind:
    """One service: what it holds and the messages of its methods."""

    held: str
    module: Any
    one: str
    many: str

    def message(self, name: str) -> Any:
        return getattr(self.module, name.format(one=self.one, many=self.many))


SERVICES = {
    "nebius.iam.v2.ProjectService": Kind("projects", iam, "Project", "Projects"),
    "nebius.iam.v2.TenantService": Kind("tenants", iam, "Tenant", "Tenants"),
    "nebius.vpc.v1.SubnetService": Kind("subnets", vpc, "Subnet", "Subnets"),
    "nebius.vpc.v1.NetworkService": Kind("networks", vpc, "Network", "Networks"),
    "nebius.vpc.v1.AllocationService": Kind("allocations", vpc, "Allocation", "Allocations"),
    "nebius.compute.v1.FilesystemService": Kind("filesystems", compute, "Filesystem", "Filesystems"),
    "nebius.mk8s.v1.ClusterService": Kind("clusters", mk8s, "Cluster", "Clusters"),
    "nebius.quotas.v1.QuotaAllowanceService": Kind("quotas", quotas, "QuotaAllowance", "QuotaAllowances"),
    "nebius.capacity.v1.CapacityBlockGroupService": Kind(
        "blocks", capacity, "CapacityBlockGroup", "CapacityBlockGroups"
    ),
    "nebius.capacity.v1.ResourceAdviceService": Kind("advice", capacity, "ResourceAdvice", "ResourceAdvice"),
}


@dataclass
class Provider:
    """What the provider holds, and how it behaves."""

    held: dict[str, list[Any]] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)  # `ClusterService/Get`
    latency: float = 0.0
    page_size: int = 1000
    calls: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)  # what callers signed in with
    address: str = ""

    def sdk(self, token: str = "good") -> SDK:
        """Return the real SDK, told to find everything here."""
        return SDK(
            credentials=token,
            resolver=Constant(self.address),
            options=[(INSECURE, True)],
            user_agent_prefix="npa-tests",
        )

    def answer(self, path: str, body: bytes, context: grpc.ServicerContext) -> bytes:
        """Answer one call."""
        service, method = path.strip("/").split("/")
        name = f"{service.rpartition('.')[2]}/{method}"
        self.calls.append(name)
        given = dict(context.invocation_metadata())
        self.tokens.append(str(given.get("authorization", "")).removeprefix("Bearer "))
        time.sleep(self.latency)
        fault = self._fault(name)
        if fault.garbage is not None:
            return fault.garbage
        if fault.code is not None:
            _abort(context, fault.code, fault.message, fault.missing)
        kind = SERVICES[service]
        answers: dict[str, Callable[..., Any]] = {
            "Get": self._get,
            "List": self._list,
            "Delete": self._delete,
            "Create": self._create,
        }
        answer = answers[method]
        encoded: bytes = answer(kind, body, context, fault).SerializeToString()
        return encoded

    def _fault(self, name: str) -> Fault:
        fault = self.faults.get(name, Fault())
        count = self.calls.count(name)
        return fault if fault.after < count <= fault.after + fault.times else Fault()

    def _get(self, kind: Kind, body: bytes, context: grpc.ServicerContext, fault: Fault) -> Any:
        asked = kind.message("Get{one}Request").FromString(body).id
        return self._find(kind, fault.other or asked, context)

    def _find(self, kind: Kind, asked: str, context: grpc.ServicerContext) -> Any:
        for each in self.held.get(kind.held, ()):
            if each.metadata.id == asked:
                return each
        _abort(context, grpc.StatusCode.NOT_FOUND, "no such thing", asked)
        raise AssertionError("abort raises")

    def _delete(self, kind: Kind, body: bytes, context: grpc.ServicerContext, _: Fault) -> Any:
        asked = kind.message("Delete{one}Request").FromString(body).id
        found = self._find(kind, asked, context)
        self.held[kind.held].remove(found)
        return common.Operation(id="operation-1", resource_id=asked, status=Status(code=0))

    def _create(self, kind: Kind, body: bytes, _: grpc.ServicerContext, __: Fault) -> Any:
        asked = kind.message("Create{one}Request").FromString(body)
        key = f"vpc{kind.one.lower()}-{self.calls.count(f'{kind.one}Service/Create')}"
        made = metadata(key, asked.metadata.parent_id, asked.metadata.name)
        self.held.setdefault(kind.held, []).append(kind.message("{one}")(metadata=made, spec=asked.spec))
        return common.Operation(id="operation-1", resource_id=key, status=Status(code=0))

    def _list(self, kind: Kind, body: bytes, _: grpc.ServicerContext, fault: Fault) -> Any:
        request = kind.message("List{many}Request").FromString(body)
        parent = getattr(request, "parent_id", "")
        held = [
            each
            for each in self.held.get(kind.held, ())
            if parent in ("", each.metadata.parent_id) or not each.metadata.parent_id
        ]
        start = int(request.page_token or 0)
        end = start + self.page_size
        following = "0" if fault.endless else str(end) if end < len(held) else ""
        return kind.message("List{many}Response")(items=held[start:end], next_page_token=following)


def _abort(context: grpc.ServicerContext, code: grpc.StatusCode, message: str, missing: str | None) -> None:
    details: list[Any] = []
    if missing is not None:
        error = common.ServiceError(
            service="fake", code="NotFound", resource_not_found=common.ResourceNotFound(resource_id=missing)
        )
        details.append(REGISTRY.pack_any(error))
    status = Status(code=code.value[0], message=message, details=details)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(code, message)


class _Handlers(grpc.GenericRpcHandler):
    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def service(self, handler_call_details: Any) -> Any:
        path = handler_call_details.method
        if path.strip("/").split("/")[0] not in SERVICES:
            return None
        return grpc.unary_unary_rpc_method_handler(
            lambda body, context: self._provider.answer(path, body, context)
        )


@contextmanager
def serve(provider: Provider) -> Iterator[Provider]:
    """Have a provider listen on a free port of this machine."""
    with ThreadPoolExecutor(16) as pool:
        server = grpc.server(pool)
        server.add_generic_rpc_handlers((_Handlers(provider),))
        provider.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        try:
            yield provider
        finally:
            server.stop(grace=None).wait()


def metadata(key: str, parent: str = "", name: str = "") -> common.ResourceMetadata:
    """Return what everything with an id has."""
    return common.ResourceMetadata(id=key, parent_id=parent, name=name)


def allowance(
    name: str, limit: int | None, usage: int = 0, *, unit: str = "count", tenant: str = "tenant-1"
) -> quotas.QuotaAllowance:
    """Return a quota record as the provider writes it."""
    state = quotas.QuotaAllowanceStatus.UsageState
    return quotas.QuotaAllowance(
        metadata=metadata(f"quota-{name}", tenant, name),
        spec=quotas.QuotaAllowanceSpec(limit=limit, region="eu-north1"),
        status=quotas.QuotaAllowanceStatus(
            state=quotas.QuotaAllowanceStatus.State.STATE_ACTIVE,
            usage=usage,
            unit=unit,
            usage_state=state.USAGE_STATE_USED if usage else state.USAGE_STATE_NOT_USED,
        ),
    )


def block(key: str, *, limit: int, usage: int, tenant: str = "tenant-1") -> capacity.CapacityBlockGroup:
    """Return a reservation of H200 GPUs."""
    status = capacity.CapacityBlockGroupStatus
    return capacity.CapacityBlockGroup(
        metadata=metadata(key, tenant, "night-shift"),
        status=status(
            region="eu-north1",
            resource_affinity=capacity.ResourceAffinity(
                compute_v1=capacity.ResourceAffinityComputeV1(fabric="fabric-3", platform="gpu-h200-sxm")
            ),
            state=status.State.STATE_ACTIVE,
            current_limit=limit,
            usage=usage,
            usage_state=status.UsageState.USAGE_STATE_USED
            if usage
            else status.UsageState.USAGE_STATE_NOT_USED,
        ),
    )


def cluster(
    key: str,
    *,
    project: str = "project-1",
    endpoint: str = "https://k8s.example:443",
    name: str = "soperator-quick",
) -> mk8s.Cluster:
    """Return a running Kubernetes cluster."""
    return mk8s.Cluster(
        metadata=metadata(key, project, name),
        status=mk8s.ClusterStatus(
            state=mk8s.ClusterStatus.State.RUNNING,
            control_plane=mk8s.ControlPlaneStatus(
                version="1.34",
                endpoints=mk8s.ControlPlaneStatusEndpoints(public_endpoint=endpoint),
                auth=mk8s.ControlPlaneStatusAuth(cluster_ca_certificate="-----BEGIN CERTIFICATE-----"),
            ),
        ),
    )


def advised(available: int, *, fresh: bool = True) -> capacity.ResourceAdvice:
    """Return a statement on how many H200 nodes can be started in reservations."""
    availability = capacity.ResourceAdviceStatus.Availability
    state = availability.DataState.DATA_STATE_FRESH if fresh else availability.DataState.DATA_STATE_STALE
    preset = capacity.ComputeInstanceDetails.Preset(name="8gpu-128vcpu-1600gb")
    return capacity.ResourceAdvice(
        metadata=metadata("advice-1", "tenant-1"),
        spec=capacity.ResourceAdviceSpec(
            region="eu-north1",
            fabric="fabric-3",
            compute_instance=capacity.ComputeInstanceDetails(platform="gpu-h200-sxm", preset=preset),
        ),
        status=capacity.ResourceAdviceStatus(reserved=availability(data_state=state, available=available)),
    )


def project(key: str = "project-1", *, tenant: str = "tenant-1", region: str = "eu-north1") -> iam.Project:
    """Return a project."""
    return iam.Project(metadata=metadata(key, tenant, "lab"), spec=iam.ProjectSpec(region=region))


def several(kind: Any, ids: Iterable[str], parent: str) -> list[Any]:
    """Return things of which only the id matters."""
    return [kind(metadata=metadata(each, parent, f"name-of-{each}")) for each in ids]
