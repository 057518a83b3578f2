"""Who is to look again when an object changes; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from npa.reconcile.decision import Decision
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.kube import names
from npa.render.objects import CLAIM, NODE, NODE_SET, POD, SLURM_CLUSTER, Kind, Object, dig, name_of

Decide = Callable[[World, str, Settings], Decision]


class Key(NamedTuple):
    """What is looked at: by which controller, and which object."""

    controller: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.controller} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Controller:
    """A decision, and the kind of object that it is about."""

    name: str
    kind: Kind
    decide: Decide
    reads: frozenset[Kind] | None = None  # besides its own kind; None: everything, Slurm's answers among it

    def concerned(self, kind: Kind) -> bool:
        """Whether a change of an object of a kind may change the decision."""
        return self.reads is None or kind == self.kind or kind in self.reads


# A worker's pod concerns its NodeSet and the cluster; every other part of a cluster all of its controllers.
def changed(
    controllers: Iterable[Controller],
    kind: Kind,
    found: Object,
    cluster: str,
    of_cluster: Callable[[Kind, str, str], Iterable[str]],
) -> Iterator[Key]:
    """Yield the keys that a changed object wakes; `cluster` is the one that it belongs to, "" for none.

    `of_cluster` gives the names of a kind's objects that belong to a cluster (namespace, name).
    """
    namespace = str(dig(found, "metadata", "namespace") or "")
    nodeset = dig(found, "metadata", "labels", names.NODE_SET) if kind in (POD, CLAIM) else None
    for controller in controllers:
        if not controller.concerned(kind):
            continue
        if kind == controller.kind:
            yield Key(controller.name, namespace, name_of(found))
        if not cluster:
            yield from _owner(controller, namespace, found)
        elif nodeset and controller.kind == NODE_SET:
            yield Key(controller.name, namespace, str(nodeset))
        elif controller.kind == SLURM_CLUSTER:
            yield Key(controller.name, namespace, cluster)
        else:
            for name in of_cluster(controller.kind, namespace, cluster):
                yield Key(controller.name, namespace, name)


def _owner(controller: Controller, namespace: str, found: Object) -> Iterator[Key]:
    """Yield the keys of those who own an object that belongs to no cluster."""
    for owner in dig(found, "metadata", "ownerReferences") or ():
        if owner.get("kind") == controller.kind.kind:
            yield Key(controller.name, namespace, str(owner.get("name")))


def matters(old: Object | None, new: Object | None, kind: Kind) -> bool:
    """Say whether a change of a Kubernetes node concerns anybody: most are of what it has free."""
    if kind != NODE or old is None or new is None:
        return True
    return _of_node(old) != _of_node(new)


def _of_node(found: Object) -> tuple[object, ...]:
    metadata: Mapping[str, object] = found["metadata"]
    conditions = dig(found, "status", "conditions") or ()
    states = tuple((row.get("type"), row.get("status"), row.get("reason")) for row in conditions)
    return metadata.get("labels"), metadata.get("annotations"), found.get("spec"), states
