"""What Terraform's state says a cluster has: the provider counts it as used, so it is not needed again.

Only what the state says for certain is credited. What it says unclearly about a reservation is refused: a
node too many credited is a node too few reserved.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeGuard

from npa.errors import IdentityError
from npa.render.nebius import inventory
from npa.render.nebius.capacity import Owned
from npa.render.nebius.held import CLUSTER, NODE_GROUP, WORKERS
from npa.render.nebius.inventory import Disks, Filesystem, Inventory, Machines
from npa.render.objects import dig
from npa.spec import catalog
from npa.spec.model import SoperatorSpec, WorkerPoolSpec

SLURM = "helm_release"  # once one is there, so are the volumes of Slurm's own services
FILESYSTEM = "nebius_compute_v1_filesystem"
ALLOCATION = "nebius_vpc_v1_allocation"
_GROUPS = {
    "system nodes": "system",
    "controller": "controller",
    "login node": "login",
    "accounting node": "accounting",
}
_HINT = "make Terraform's state readable and run the same command again"


def reserved(state: Mapping[str, Any]) -> tuple[Owned, ...]:
    """Return the GPUs of the cluster's own STRICT nodes; raises IdentityError where that is not clear."""
    found = []
    for attributes in _attributes(state, NODE_GROUP, WORKERS):
        policy = dig(attributes, "template", "reservation_policy")
        if dig(policy, "policy") != "STRICT":
            continue
        ids = dig(policy, "reservation_ids")
        if not isinstance(ids, list) or len(ids) != 1 or not isinstance(ids[0], str) or not ids[0]:
            raise IdentityError("a reserved node group in the state has not one reservation", hint=_HINT)
        shape = _shape(attributes)
        count = attributes.get("fixed_node_count")
        if shape is None or not shape.gpus or not _is_count(count):
            raise IdentityError("a reserved node group in the state has no known size", hint=_HINT)
        found.append(Owned(ids[0], shape.name, count * shape.gpus))
    return tuple(found)


def inventory_of(state: Mapping[str, Any], spec: SoperatorSpec, *, cached: Collection[str] = ()) -> Inventory:
    """Return what of a spec is there already.

    `cached` are the pools that had disks for images when they were last applied: the state does not know.
    """
    machines = tuple(_machines(state, spec))
    there = {pool: sum(each.count for each in machines if each.what == f"pool {pool!r}") for pool in cached}
    plane = inventory.of_control_plane(spec)
    applied = bool(_attributes(state, SLURM))
    return Inventory(
        machines=machines,
        disks=(*(plane.disks if applied else ()), *_caches(spec, there)),
        filesystems=tuple(_filesystems(state, plane)),
        clusters=min(1, len(_attributes(state, CLUSTER))),
        addresses=min(plane.addresses, len(_attributes(state, ALLOCATION))),
    )


def _machines(state: Mapping[str, Any], spec: SoperatorSpec) -> Iterator[Machines]:
    for group in inventory.of_control_plane(spec).machines:
        here = _attributes(state, NODE_GROUP, _GROUPS[group.what])
        yield replace(group, count=min(group.count, _count(here, group)), grown=0)
    workers = _attributes(state, NODE_GROUP, WORKERS)
    for pool in spec.workers:
        (group,) = inventory.of_pool(pool).machines
        here = tuple(each for each in workers if _is_of(pool, each))
        count = min(group.count, _count(here, group))
        # Nodes of a fabric are there only after its GPU cluster.
        yield replace(group, count=count, fabric=group.fabric if count else "")


def _filesystems(state: Mapping[str, Any], plane: Inventory) -> Iterator[Filesystem]:
    """Yield the filesystems that are there, with no more than the size that they have."""
    found = _attributes(state, FILESYSTEM)
    for each in plane.filesystems:
        ending = "-" + each.what.replace(" ", "-")
        sizes = [dig(own, "size_gibibytes") for own in found if str(dig(own, "name")).endswith(ending)]
        if len(sizes) == 1 and _is_count(sizes[0]):
            yield replace(each, gib=min(each.gib, sizes[0]))


def _count(groups: Collection[Mapping[str, Any]], wanted: Machines) -> int:
    """Return how many machines of exactly the wanted shape node groups have at least."""
    total = 0
    for each in groups:
        shape = _shape(each)
        count = each.get("fixed_node_count")
        if not _is_count(count):
            count = dig(each, "autoscaling", "min_node_count")
        same = (dig(each, "template", "resources", "platform"), shape and shape.name)
        if _is_count(count) and same == (wanted.platform, wanted.preset):
            total += count
    return total


def _is_of(pool: WorkerPoolSpec, attributes: Mapping[str, Any]) -> bool:
    """Whether a node group is of a pool and paid for in the same way."""
    labels = dig(attributes, "template", "metadata", "labels")
    nodeset = labels.get("slurm.nebius.ai/nodeset") if isinstance(labels, Mapping) else None
    strict = dig(attributes, "template", "reservation_policy", "policy") == "STRICT"
    preemptible = dig(attributes, "template", "preemptible") is not None
    mode = "reserved" if strict else "preemptible" if preemptible else "on-demand"
    return nodeset in [name for name, _ in pool.racks] and mode == pool.capacity_mode


def _caches(spec: SoperatorSpec, there: Mapping[str, int]) -> Iterator[Disks]:
    for pool in spec.workers:
        for disk in inventory.of_pool(pool).disks:
            yield replace(disk, count=there.get(pool.name, 0))


def _attributes(state: Mapping[str, Any], kind: str, name: str = "") -> tuple[Mapping[str, Any], ...]:
    resources = state.get("resources", [])
    if not isinstance(resources, list):
        raise IdentityError("Terraform's state has no readable list of resources", hint=_HINT)
    found = []
    for resource in resources:
        if dig(resource, "mode") != "managed" or dig(resource, "type") != kind:
            continue
        if name and dig(resource, "name") != name:
            continue
        instances = dig(resource, "instances")
        if not isinstance(instances, list):
            raise IdentityError(f"Terraform's state: {kind} has no list of instances", hint=_HINT)
        found += [dig(each, "attributes") for each in instances]
    if not all(isinstance(each, Mapping) for each in found):
        raise IdentityError(f"Terraform's state: a {kind} has no attributes", hint=_HINT)
    return tuple(found)


def _shape(attributes: Mapping[str, Any]) -> catalog.Preset | None:
    platform = dig(attributes, "template", "resources", "platform")
    return catalog.preset(str(platform), str(dig(attributes, "template", "resources", "preset")))


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
