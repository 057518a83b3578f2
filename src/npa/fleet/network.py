"""A project's shared network: made once, written down before and after each step, deleted when unused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Protocol, get_args

from npa.errors import ProviderNotFoundError, RefusedError

SCHEMA = "npa.fleet.network/v1"
Phase = Literal["making", "ready", "deleting"]


@dataclass(frozen=True, slots=True)
class Network:
    """A network that this fleet made, or began to."""

    project: str  # the project's key
    project_id: str
    name: str  # at the provider, unique in the project
    phase: Phase
    network_id: str = ""
    subnet_id: str = ""


class Provider(Protocol):
    """What is asked of the provider; absence is proven by ProviderNotFoundError alone."""

    def subnets_of(self, project_id: str) -> tuple[tuple[str, str], ...]:
        """Return (id, name) of every subnet of a project."""

    def networks_of(self, project_id: str) -> tuple[tuple[str, str], ...]:
        """Return (id, name) of every network of a project."""

    def make_network(self, project_id: str, name: str) -> str:
        """Make a network and return its id."""

    def make_subnet(self, project_id: str, network_id: str, name: str) -> str:
        """Make a subnet and return its id."""

    def delete_subnet(self, resource_id: str) -> None:
        """Delete a subnet."""

    def delete_network(self, resource_id: str) -> None:
        """Delete a network."""


Save = Callable[[Network], None]


def subnet(
    project: str, project_id: str, fleet: str, known: Network | None, provider: Provider, save: Save
) -> str:
    """Return the subnet that a project's clusters share; where there is none, make and write down one.

    One that is there is used and stays somebody else's. Raises RefusedError where an interrupted run may have
    left more than one thing of the name that it was making.
    """
    if known is None:
        found = provider.subnets_of(project_id)
        if found:
            return _preferred(found)
        name = f"{fleet}-{project}"[:50].rstrip("-")
        _require_unused(name, project_id, provider)
        known = Network(project, project_id, f"{name}-net", "making")
        save(known)
    if known.phase == "ready":
        return known.subnet_id
    known = _still_there(known, provider)
    if not known.network_id:
        made = _one(provider.networks_of(project_id), known.name)
        known = replace(known, network_id=made or provider.make_network(project_id, known.name))
        save(known)
    if not known.subnet_id:
        made = _one(provider.subnets_of(project_id), _subnet_name(known))
        known = replace(
            known,
            subnet_id=made or provider.make_subnet(project_id, known.network_id, _subnet_name(known)),
        )
    save(replace(known, phase="ready"))
    return known.subnet_id


def delete(known: Network, provider: Provider, save: Save, forget: Callable[[str], None]) -> None:
    """Delete a network that nothing uses any more, subnet first; safe to repeat."""
    if known.phase != "deleting":
        known = replace(known, phase="deleting")
        save(known)
    # A run that was killed between making and writing down left only the name.
    subnet_id = known.subnet_id or _one(provider.subnets_of(known.project_id), _subnet_name(known))
    network_id = known.network_id or _one(provider.networks_of(known.project_id), known.name)
    for resource_id, remove in ((subnet_id, provider.delete_subnet), (network_id, provider.delete_network)):
        if resource_id:
            try:
                remove(resource_id)
            except ProviderNotFoundError:
                continue
    forget(known.project)


def encode(network: Network) -> dict[str, Any]:
    """Return a network as JSON has it."""
    return {"schema": SCHEMA, **asdict(network)}


def decode(found: dict[str, Any], where: str) -> Network:
    """Return the network that `encode` wrote; raise RefusedError for anything else."""
    fields = dict(found)
    try:
        if fields.pop("schema") != SCHEMA or fields["phase"] not in get_args(Phase):
            raise ValueError("another schema")
        network = Network(**fields)
        if not all(isinstance(each, str) for each in fields.values()):
            raise ValueError("a value of another kind")
    except (KeyError, TypeError, ValueError) as error:
        raise RefusedError(
            f"{where} is not a record of this version of npa: {error!r}",
            hint="restore it, or use the version that wrote it; nothing is assumed in its place",
        ) from error
    return network


def _still_there(known: Network, provider: Provider) -> Network:
    """Return what was begun without the ids of what an interrupted delete took away already."""
    networks = {key for key, _ in provider.networks_of(known.project_id)}
    subnets = {key for key, _ in provider.subnets_of(known.project_id)}
    return replace(
        known,
        phase="making",
        network_id=known.network_id if known.network_id in networks else "",
        subnet_id=known.subnet_id if known.subnet_id in subnets else "",
    )


def _preferred(found: tuple[tuple[str, str], ...]) -> str:
    """Return the provider's default subnet, else that of the lowest id, so that every run takes the same."""
    return min(found, key=lambda each: ("default" not in each[1], each[0]))[0]


def _require_unused(name: str, project_id: str, provider: Provider) -> None:
    if _one(provider.networks_of(project_id), f"{name}-net"):
        raise RefusedError(
            f"project {project_id} has a network {name}-net that this fleet has not written down",
            hint="name its subnet with `subnet_id`, or delete it",
        )


def _one(found: tuple[tuple[str, str], ...], name: str) -> str:
    """Return the id of the only thing of a name; "" where there is none."""
    ids = [key for key, called in found if called == name]
    if len(ids) > 1:
        raise RefusedError(
            f"there are {len(ids)} things called {name}: {', '.join(ids)}",
            hint="delete those that nothing uses; which is ours cannot be told",
        )
    return ids[0] if ids else ""


def _subnet_name(network: Network) -> str:
    return f"{network.name.removesuffix('-net')}-subnet"
