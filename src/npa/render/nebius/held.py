"""What Terraform's state says an installation holds; pure. What cannot be read is refused, never skipped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from npa.errors import IdentityError, OwnershipError
from npa.render.nebius import volumes
from npa.render.nebius.sidecar import KINDS, Auxiliary, Sidecar
from npa.render.nebius.sidecar import Kind as AuxiliaryKind
from npa.render.objects import dig

CLUSTER = "nebius_mk8s_v1_cluster"
NODE_GROUP = "nebius_mk8s_v1_node_group"
WORKERS = "worker_v2"
FILESYSTEM = "nebius_compute_v1_filesystem"
_HINT = "make the state readable and run the same command again; nothing is deleted by name"

Mode = Literal["on-demand", "preemptible", "reserved", "unknown"]


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Worker nodes of one capacity mode. Which reservation they use is left out on purpose."""

    name: str
    pool: str  # the node set's label; "" where the state bears none
    nodes: int | None  # None: the state does not say
    mode: Mode


@dataclass(frozen=True, slots=True)
class Held:
    """What a state holds that must not be lost sight of."""

    cluster_id: str = ""
    cluster_name: str = ""  # the provider's
    auxiliaries: tuple[Auxiliary, ...] = ()
    node_groups: tuple[NodeGroup, ...] = ()
    lost: bool = True  # there is no state: what it held is not known


def read(state: Mapping[str, Any]) -> Held:
    """Return what a pulled state holds; raises IdentityError where it does not say it clearly."""
    resources = state.get("resources", [])
    if not isinstance(resources, list) or not all(isinstance(each, dict) for each in resources):
        raise IdentityError("Terraform's state has no readable list of resources", hint=_HINT)
    managed = [each for each in resources if each.get("mode") == "managed"]
    clusters = list(_instances(managed, CLUSTER))
    if len(clusters) > 1:
        raise IdentityError(f"Terraform's state holds {len(clusters)} clusters", hint=_HINT)
    identity = [_named(CLUSTER, each) for each in clusters] or [("", "")]
    return Held(
        cluster_id=identity[0][0],
        cluster_name=identity[0][1],
        auxiliaries=tuple(
            Auxiliary(kind, kind_type, *_named(kind_type, each))
            for kind_type, kind in KINDS.items()
            for each in _instances(managed, kind_type)
        ),
        node_groups=tuple(
            _group(each)
            for resource in managed
            if resource.get("name") == WORKERS
            for each in _instances([resource], NODE_GROUP)
        ),
        lost="serial" not in state,
    )


def filesystem_sizes(state: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the name and the real size in bytes of each filesystem whose size the state knows."""
    resources = [each for each in state.get("resources", []) if dig(each, "mode") == "managed"]
    for attributes in _instances(resources, FILESYSTEM):
        found = (volumes.in_bytes(unit, attributes.get(unit)) for unit in volumes.UNITS)
        size = next((each for each in found if each is not None), None)
        if size is not None:
            yield str(attributes.get("name", "")), size


@dataclass(frozen=True, slots=True)
class Identity:
    """Exactly what a destroy is about."""

    cluster_id: str
    cluster_name: str
    project_id: str
    auxiliaries: tuple[tuple[AuxiliaryKind, str], ...]
    state_lost: bool


def identify(sidecar: Sidecar, held: Held) -> Identity:
    """Return what is to be destroyed, by persisted ids alone.

    Raises OwnershipError where the record and the state contradict each other, or neither has an id.
    """
    for what, recorded, found in (
        ("id", sidecar.cluster_id, held.cluster_id),
        ("name", sidecar.provider_cluster_name, held.cluster_name),
    ):
        if recorded and found and recorded != found:
            raise OwnershipError(
                f"the record and Terraform's state name another cluster ({what})",
                expected=recorded,
                found=found,
                hint="restore the state that belongs to this record; nothing is deleted by name",
            )
    cluster_id = sidecar.cluster_id or held.cluster_id
    recorded_ids = (*sidecar.filesystem_ids, *sidecar.allocation_ids)
    if held.lost and not cluster_id and not recorded_ids:
        raise OwnershipError(
            "neither the record nor Terraform's state has the id of anything",
            expected="a persisted id",
            found="none",
            hint="nothing is deleted by name; look for what is left in the provider's console",
        )
    owned: tuple[tuple[AuxiliaryKind, str], ...] = (
        *(("filesystem", id_) for id_ in sidecar.filesystem_ids),
        *(("allocation", id_) for id_ in sidecar.allocation_ids),
        *((each.kind, each.id) for each in held.auxiliaries),
    )
    return Identity(
        cluster_id,
        sidecar.provider_cluster_name or held.cluster_name,
        sidecar.project_id,
        tuple(dict.fromkeys(owned)),
        state_lost=held.lost,
    )


def foreign(plan: object, identity: Identity, *, empty: bool = False) -> Iterator[str]:
    """Yield what is wrong with a saved destroy plan: anything but the end of what is recorded as ours.

    `empty` is Terraform's own word, by its exit code, that nothing changes: only then may there be no list.
    """
    if not isinstance(plan, Mapping):
        yield "the plan is not a JSON object"
        return
    if plan.get("errored") is not False:
        yield "the plan did not end well"
    changes = plan.get("resource_changes", [] if empty else None)
    if not isinstance(changes, list):
        yield "the plan has no list of changes"
        return
    ours = {identity.cluster_id, *(id_ for _, id_ in identity.auxiliaries)}
    for row in changes:
        actions, address = dig(row, "change", "actions"), str(dig(row, "address"))
        if actions not in (["delete"], ["no-op"], ["read"]):
            yield f"{address}: {actions!r} is no part of a destroy"
        elif actions == ["delete"] and dig(row, "type") in (CLUSTER, *KINDS):
            found = dig(row, "change", "before", "id")
            if found not in ours:
                yield f"{address}: its id is not one of those recorded"


def _instances(resources: list[dict[str, Any]], wanted: str) -> Iterator[Mapping[str, Any]]:
    for resource in resources:
        if resource.get("type") != wanted:
            continue
        instances = resource.get("instances")
        if not isinstance(instances, list):
            raise IdentityError(f"Terraform's state: {wanted} has no list of instances", hint=_HINT)
        for each in instances:
            attributes = dig(each, "attributes")
            if not isinstance(attributes, Mapping):
                raise IdentityError(f"Terraform's state: a {wanted} has no attributes", hint=_HINT)
            yield attributes


def _named(kind: str, attributes: Mapping[str, Any]) -> tuple[str, str]:
    id_, name = attributes.get("id"), attributes.get("name")
    if not isinstance(id_, str) or not id_ or not isinstance(name, str) or not name:
        raise IdentityError(f"Terraform's state: a {kind} lacks its id or its name", hint=_HINT)
    return id_, name


def _group(attributes: Mapping[str, Any]) -> NodeGroup:
    template = attributes.get("template")
    count = attributes.get("fixed_node_count")
    labels = dig(template, "metadata", "labels")
    pool = labels.get("slurm.nebius.ai/nodeset") if isinstance(labels, Mapping) else None
    name = str(attributes.get("name") or "")
    return NodeGroup(
        name,
        # Groups of a pool are numbered; the label alone knows a pool `gpu-1` from group 1 of `gpu`.
        pool if isinstance(pool, str) else re.sub(r"-[0-9]+$", "", name),
        count if isinstance(count, int) and not isinstance(count, bool) else None,
        _mode(template),
    )


def _mode(template: object) -> Mode:
    if not isinstance(template, Mapping):
        return "unknown"
    policy = dig(template, "reservation_policy", "policy")
    preemptible = template.get("preemptible") is not None
    if policy == "STRICT":
        return "unknown" if preemptible else "reserved"
    if policy not in (None, "", "FORBID"):
        return "unknown"  # AUTO: each node may be either
    return "preemptible" if preemptible else "on-demand"
