"""Networks and subnets of a project: listed, made and deleted by id."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from npa.tools import nebius_session
from npa.tools.nebius import DEADLINE, Nebius

if TYPE_CHECKING:
    from nebius.aio.request import Request

OPERATION = 300.0  # seconds until the provider has done what it was asked for
_POLL = 1.0

Named = tuple[tuple[str, str], ...]


def connect(environ: Mapping[str, str] = os.environ, *, deadline: float = DEADLINE) -> Networks:
    """Sign in as the environment says; raises ToolMissingError and ProviderDeniedError."""
    choice = nebius_session.choose(environ)
    return Networks(nebius_session.open_sdk(choice, domain="", environ=environ), deadline=deadline)


class Networks(Nebius):
    """The provider's API with what makes and deletes networks."""

    def subnets_of(self, project_id: str) -> Named:
        """Return (id, name) of every subnet of a project."""
        return tuple((each.id, each.name) for each in self.subnets(project_id))

    def networks_of(self, project_id: str) -> Named:
        """Return (id, name) of every network of a project."""
        from nebius.api.nebius.vpc import v1

        client = v1.NetworkServiceClient(self._sdk)

        def page(at: str) -> Request[Any, Any]:
            return client.list(v1.ListNetworksRequest(parent_id=project_id, page_token=at), **self._limits())

        found = self._pages("list networks", page)
        return tuple((each.metadata.id, each.metadata.name) for each in found)

    def make_network(self, project_id: str, name: str) -> str:
        """Make a network with the provider's own pools of addresses; returns its id once it is there."""
        from nebius.api.nebius.vpc import v1

        request = v1.CreateNetworkRequest(metadata=_metadata(project_id, name), spec=v1.NetworkSpec())
        client = v1.NetworkServiceClient(self._sdk)
        return self._made("make network", lambda: client.create(request, **self._limits()))

    def make_subnet(self, project_id: str, network_id: str, name: str) -> str:
        """Make a subnet with its network's pools of addresses; returns its id once it is there."""
        from nebius.api.nebius.vpc import v1

        spec = v1.SubnetSpec(network_id=network_id)
        request = v1.CreateSubnetRequest(metadata=_metadata(project_id, name), spec=spec)
        client = v1.SubnetServiceClient(self._sdk)
        return self._made("make subnet", lambda: client.create(request, **self._limits()))

    def delete_subnet(self, resource_id: str) -> None:
        """Delete a subnet, and wait until it is gone."""
        from nebius.api.nebius.vpc import v1

        client = v1.SubnetServiceClient(self._sdk)
        request = v1.DeleteSubnetRequest(id=resource_id)
        self._finished("delete subnet", resource_id, lambda: client.delete(request, **self._limits()))

    def delete_network(self, resource_id: str) -> None:
        """Delete a network, and wait until it is gone."""
        from nebius.api.nebius.vpc import v1

        client = v1.NetworkServiceClient(self._sdk)
        request = v1.DeleteNetworkRequest(id=resource_id)
        self._finished("delete network", resource_id, lambda: client.delete(request, **self._limits()))

    def _made(self, what: str, ask: Callable[[], Request[Any, Any]]) -> str:
        return str(self._finished(what, "", ask).resource_id)

    def _finished(self, what: str, resource_id: str, ask: Callable[[], Request[Any, Any]]) -> Any:
        """Have the provider do something, and return its operation once it has ended."""
        operation = self._guard(what, resource_id, lambda: ask().wait())
        self._guard(what, resource_id, lambda: operation.sync_wait(interval=_POLL, timeout=OPERATION) or True)
        return operation


def _metadata(project_id: str, name: str) -> Any:
    from nebius.api.nebius.common import v1

    return v1.ResourceMetadata(parent_id=project_id, name=name)
