"""The provider through its own Python SDK: the only modules that import it are this one and its parts.

The SDK is slow to import, so it is imported where it is used. Every call has a deadline; every failure is a
ProviderError, and only ProviderNotFoundError proves that something is not there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from npa.errors import NpaError, ProviderNotFoundError, ProviderUnknownError
from npa.render.nebius.capacity import Advice, Block, Project
from npa.render.nebius.quotas import Allowance
from npa.tools import nebius_errors, nebius_owned, nebius_records, nebius_session
from npa.tools.nebius_records import Access, Kind, Kubernetes, Resource, Token

if TYPE_CHECKING:
    from nebius.aio.request import Request
    from nebius.sdk import SDK

T = TypeVar("T")
DEADLINE = 30.0  # seconds for one call, its retries included
RETRIES = 2
MAX_PAGES = 1000
_SIDE_BY_SIDE = 8


@dataclass(frozen=True, slots=True)
class Survey:
    """What a preflight looks at, read side by side."""

    project: Project
    subnets: tuple[Resource, ...]
    allowances: tuple[Allowance, ...]
    blocks: tuple[Block, ...] = ()
    advice: tuple[Advice, ...] = ()


def connect(
    environ: Mapping[str, str] = os.environ, *, domain: str = "", deadline: float = DEADLINE
) -> Nebius:
    """Sign in as the environment says; raises ToolMissingError and ProviderDeniedError."""
    choice = nebius_session.choose(environ)
    return Nebius(nebius_session.open_sdk(choice, domain=domain, environ=environ), deadline=deadline)


class Nebius:
    """The provider's API. Its methods may be called from several threads."""

    def __init__(self, sdk: SDK, *, deadline: float = DEADLINE) -> None:
        self._sdk = sdk
        self._deadline = deadline

    def __enter__(self) -> Nebius:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connections."""
        self._sdk.sync_close(timeout=self._deadline)

    def token(self, *, deadline: float = nebius_session.SIGN_IN_DEADLINE) -> Token:
        """Return a token that is good now: asked for again, it is renewed where that is needed."""
        found = self._guard("sign in", "", lambda: self._sdk.get_token_sync(timeout=deadline))
        if found.is_empty():
            raise ProviderUnknownError("sign in", detail="an empty token")
        return Token(found.token, found.expiration)

    def survey(self, tenant: str, project: str, *, reserved: bool) -> Survey:
        """Read everything that a preflight looks at, side by side; reservations only where asked."""
        with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            found = pool.submit(self.project, project)
            subnets = pool.submit(self.subnets, project)
            allowances = pool.submit(self.allowances, tenant)
            blocks = pool.submit(self.capacity_block_groups, tenant) if reserved else None
            advice = pool.submit(self.resource_advice, tenant) if reserved else None
            return Survey(
                found.result(),
                subnets.result(),
                allowances.result(),
                blocks.result() if blocks else (),
                advice.result() if advice else (),
            )

    def tenants(self) -> tuple[Resource, ...]:
        """Return the tenants that these credentials see."""
        from nebius.api.nebius.iam import v2

        client = v2.TenantServiceClient(self._sdk)
        found = self._pages(
            "list tenants", lambda at: client.list(v2.ListTenantsRequest(page_token=at), **self._limits())
        )
        return tuple(nebius_records.resource("tenant", each.metadata) for each in found)

    def project(self, resource_id: str) -> Project:
        """Return a project."""
        from nebius.api.nebius.iam import v2

        client = v2.ProjectServiceClient(self._sdk)
        message = self._get(
            "read project",
            resource_id,
            lambda: client.get(v2.GetProjectRequest(id=resource_id), **self._limits()),
        )
        return nebius_records.project(message)

    def subnets(self, project: str) -> tuple[Resource, ...]:
        """Return a project's subnets, in the provider's order."""
        from nebius.api.nebius.vpc import v1

        client = v1.SubnetServiceClient(self._sdk)

        def page(at: str) -> Request[Any, Any]:
            return client.list(v1.ListSubnetsRequest(parent_id=project, page_token=at), **self._limits())

        found = self._pages("list subnets", page)
        return tuple(nebius_records.resource("subnet", each.metadata) for each in found)

    def allowances(self, tenant: str, region: str = "") -> tuple[Allowance, ...]:
        """Return every quota of a tenant, or those of one region."""
        from nebius.api.nebius.quotas import v1

        client = v1.QuotaAllowanceServiceClient(self._sdk)

        def page(at: str) -> Request[Any, Any]:
            request = v1.ListQuotaAllowancesRequest(parent_id=tenant, page_token=at)
            return client.list(request, **self._limits())

        found = (nebius_records.allowance(each) for each in self._pages("list quotas", page))
        return tuple(each for each in found if region in ("", each.region))

    def capacity_block_groups(self, tenant: str) -> tuple[Block, ...]:
        """Return every reservation of a tenant."""
        from nebius.api.nebius.capacity import v1

        client = v1.CapacityBlockGroupServiceClient(self._sdk)

        def page(at: str) -> Request[Any, Any]:
            request = v1.ListCapacityBlockGroupsRequest(parent_id=tenant, page_token=at)
            return client.list(request, **self._limits())

        return tuple(nebius_records.block(each) for each in self._pages("list reservations", page))

    def capacity_block_group(self, resource_id: str) -> Block | None:
        """Return one reservation, whoever has it; None where the provider says that this id is not there.

        What a reservation is called by is in no error, not even in its cause.
        """
        from nebius.api.nebius.capacity import v1

        client = v1.CapacityBlockGroupServiceClient(self._sdk)
        request = v1.GetCapacityBlockGroupRequest(id=resource_id)
        try:
            message = self._get(
                "read reservation", resource_id, lambda: client.get(request, **self._limits())
            )
        except ProviderNotFoundError:
            return None
        except NpaError as error:
            failure = error
        else:
            return nebius_records.block(message)
        raise type(failure)("read reservation", hint=failure.hint) from None

    def resource_advice(self, tenant: str) -> tuple[Advice, ...]:
        """Return what the provider says can be started now."""
        from nebius.api.nebius.capacity import v1

        client = v1.ResourceAdviceServiceClient(self._sdk)

        def page(at: str) -> Request[Any, Any]:
            request = v1.ListResourceAdviceRequest(parent_id=tenant, page_token=at)
            return client.list(request, **self._limits())

        return tuple(nebius_records.advice(each) for each in self._pages("list resource advice", page))

    def cluster(self, resource_id: str) -> Kubernetes:
        """Return a Kubernetes cluster."""
        from nebius.api.nebius.mk8s import v1

        client = v1.ClusterServiceClient(self._sdk)
        message = self._get(
            "read cluster",
            resource_id,
            lambda: client.get(v1.GetClusterRequest(id=resource_id), **self._limits()),
        )
        return nebius_records.kubernetes(message)

    def cluster_access(self, resource_id: str, *, private: bool = False) -> Access:
        """Return how to reach the API of exactly this cluster."""
        found = self.cluster(resource_id)
        endpoint = found.private_endpoint if private else found.public_endpoint
        if not endpoint or not found.ca:
            raise ProviderUnknownError("read cluster", resource=resource_id, detail="it has no endpoint yet")
        return Access(found.id, found.name, endpoint, found.ca, self.token())

    def owned(self, kind: Kind, resource_id: str) -> Resource:
        """Return a filesystem, an allocation or a cluster by its id."""
        message = self._get(
            f"read {kind}",
            resource_id,
            lambda: nebius_owned.get(self._sdk, kind, resource_id, self._limits()),
        )
        return nebius_records.resource(kind, message.metadata)

    def all_owned(self, kind: Kind, project: str) -> tuple[Resource, ...]:
        """Return every filesystem, allocation or cluster of a project."""

        def page(at: str) -> Request[Any, Any]:
            return nebius_owned.list_page(self._sdk, kind, project, at, self._limits())

        return tuple(
            nebius_records.resource(kind, each.metadata) for each in self._pages(f"list {kind}s", page)
        )

    def delete(self, kind: Kind, resource_id: str) -> None:
        """Ask for a filesystem, an allocation or a cluster to be deleted; `owned` says when it is gone."""
        request = nebius_owned.delete(self._sdk, kind, resource_id, self._limits())
        self._guard(f"delete {kind}", resource_id, request.wait)

    def _limits(self) -> dict[str, Any]:
        return {
            "timeout": self._deadline,
            "auth_timeout": self._deadline,
            "per_retry_timeout": self._deadline,
            "retries": RETRIES,
        }

    def _get(self, operation: str, resource_id: str, ask: Callable[[], Request[Any, Any]]) -> Any:
        """Return what has an id; an answer about anything else is no answer."""
        message = self._guard(operation, resource_id, lambda: ask().wait())
        if message.metadata.id != resource_id:
            raise ProviderUnknownError(
                operation, resource=resource_id, detail="the answer is about another id"
            )
        return message

    def _pages(self, operation: str, ask: Callable[[str], Request[Any, Any]]) -> tuple[Any, ...]:
        """Return everything on every page, or nothing at all: a list that breaks off is no list."""
        items: list[Any] = []
        seen = {""}
        at = ""
        for _ in range(MAX_PAGES):
            page = self._guard(operation, "", ask(at).wait)
            items += page.items
            at = page.next_page_token
            if not at:
                return tuple(items)
            if at in seen:
                break
            seen.add(at)
        raise ProviderUnknownError(operation, detail="the list does not end")

    def _guard(self, operation: str, resource: str, do: Callable[[], T]) -> T:
        """Do something of the SDK's; every way in which it can fail becomes ours."""
        from nebius.base.error import SDKError

        try:
            done = do()
        except (SDKError, OSError, ValueError, RuntimeError, TimeoutError) as error:
            raise nebius_errors.translate(error, operation, resource) from error
        # grpc hands out None for an answer that it could not decode, and only logs why.
        if done is None:
            raise ProviderUnknownError(operation, resource=resource, detail="not a message of the API")
        return done
