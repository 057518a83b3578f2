"""The order in which daemons get another image: slurmdbd, then slurmctld, then its clients.

Slurm speaks to older peers, not to newer ones (Slurm's upgrade guide), so whoever serves goes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from npa.reconcile.world import World
from npa.render.kube import names
from npa.render.objects import DEPLOYMENT, STATEFUL_SET, Object, dig, name_of

_LABEL = "app.kubernetes.io/component"
_SERVED_BY: Mapping[str, str] = {
    "controller": "accounting",
    "login": "controller",
    "rest": "controller",
    "exporter": "controller",
}
_WORKLOADS = (STATEFUL_SET.kind, DEPLOYMENT.kind)


@dataclass(frozen=True, slots=True)
class Ordered:
    """What may be written now, and what waits for whom."""

    wanted: tuple[Object, ...]
    waits: tuple[str, ...] = ()


def ordered(world: World, cluster: str, wanted: Iterable[Object]) -> Ordered:
    """Leave out the workloads whose new image is not their turn yet; what is there stays as it is."""
    every = tuple(wanted)
    workloads = {_component(each): each for each in every if each["kind"] in _WORKLOADS}
    held = {}
    for component, each in workloads.items():
        server = _SERVED_BY.get(component, "")
        if server in workloads and _moves(world, each) and not _arrived(world, workloads[server]):
            name = names.workload(cluster, server)  # type: ignore[arg-type]  # one of the components above
            held[name_of(each)] = f"{name_of(each)} gets its new image after {name}"
    return Ordered(
        tuple(each for each in every if each["kind"] not in _WORKLOADS or name_of(each) not in held),
        tuple(held.values()),
    )


def _moves(world: World, wanted: Object) -> bool:
    found = world.find(str(wanted["kind"]), name_of(wanted))
    return found is not None and _images(found) != _images(wanted)


def _arrived(world: World, server: Object) -> bool:
    """Say whether a workload runs what is wanted of it, and nothing else."""
    found = world.find(str(server["kind"]), name_of(server))
    if found is None or _images(found) != _images(server):
        return False
    wanted = dig(found, "spec", "replicas") or 0
    status = dig(found, "status") or {}
    current = (status.get("observedGeneration") or 0) >= (dig(found, "metadata", "generation") or 0)
    return bool(
        current
        and (status.get("updatedReplicas") or 0) >= wanted
        and (status.get("readyReplicas") or 0) >= wanted
    )


def _images(workload: Object) -> list[str]:
    listed = dig(workload, "spec", "template", "spec", "containers") or ()
    return [str(each.get("image")) for each in listed]


def _component(found: Object) -> str:
    return str(dig(found, "metadata", "labels", _LABEL) or "")
