"""Whether what runs is as it should be: ready, not yet, not there, or nobody can say."""

from __future__ import annotations

from dataclasses import dataclass

from npa.reconcile.conditions import Condition, Truth
from npa.reconcile.world import World
from npa.render.objects import Kind, Object, dig, name_of


@dataclass(frozen=True, slots=True)
class State:
    """How a workload is."""

    status: Truth
    reason: str
    message: str
    ready: int = 0

    def condition(self, kind: str) -> Condition:
        """Return it as a condition."""
        return Condition(kind, self.status, self.reason, self.message)


def look(world: World, kind: Kind, name: str, component: str) -> State:
    """Return how a StatefulSet or Deployment is."""
    if kind.kind in world.unread:
        return State("Unknown", "Unknown", f"{kind.plural} could not be read")
    found = world.find(kind.kind, name)
    if found is None:
        return State("False", "NotAvailable", f"{kind.kind} {name} is not there yet")
    want = _number(found, "spec", "replicas")
    have = _number(found, "status", "readyReplicas")
    generation = _number(found, "metadata", "generation")  # none: it was never written
    current = 0 < generation <= _number(found, "status", "observedGeneration")
    updated = _number(found, "status", "updatedReplicas")
    if not current:
        return State("False", "NotAvailable", f"{kind.kind} {name} has not been looked at yet", have)
    if have < want:
        why = trouble(world, component)
        text = f"{have} of {want} pods are ready" + (f": {why}" if why else "")
        return State("False", "NotAvailable", text, have)
    if updated < want:
        return State(
            "True", "Available", f"{have} of {want} pods are ready, {want - updated} are older", have
        )
    return State("True", "Available", f"{have} of {want} pods are ready", have)


def pods(world: World, component: str) -> tuple[Object, ...]:
    """Return the pods of a component, by name."""
    label = "app.kubernetes.io/component"
    return tuple(
        found for found in world.of_kind("Pod") if dig(found, "metadata", "labels", label) == component
    )


def trouble(world: World, component: str) -> str:
    """Return why a component's pods are not ready, as far as they say."""
    for pod in pods(world, component):
        why = _unready(pod)
        if why:
            return f"{name_of(pod)}: {why}"
    return ""


def _unready(pod: Object) -> str:
    for key in ("initContainerStatuses", "containerStatuses"):
        for row in dig(pod, "status", key) or ():
            waiting = dig(row, "state", "waiting") or {}
            if waiting.get("reason") in (None, "PodInitializing", "ContainerCreating"):
                continue
            ended = dig(row, "lastState", "terminated") or {}
            last = str(ended.get("message") or waiting.get("message") or "").strip().splitlines()
            return f"{row.get('name')}: {waiting.get('reason')}" + (f" ({last[-1][:200]})" if last else "")
    for row in dig(pod, "status", "conditions") or ():
        if row.get("type") == "PodScheduled" and row.get("status") == "False":
            return str(row.get("message") or row.get("reason") or "")[:200]
    return ""


def _number(found: Object, *path: str) -> int:
    value = dig(found, *path)
    return value if isinstance(value, int) else 0
