"""What is done for one NodeConfigurator: a DaemonSet, and a status that says how many nodes have it."""

from __future__ import annotations

from typing import Any

from npa.crds import nodeconfigurator as crd
from npa.errors import SpecError
from npa.reconcile import conditions, nodeset_status
from npa.reconcile.conditions import Condition
from npa.reconcile.decision import Decision, Deletion
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.kube import differs, node_configurator
from npa.render.objects import DAEMON_SET, NODE_CONFIGURATOR, Object, dig

AVAILABLE = "Available"


def decide(world: World, name: str, settings: Settings) -> Decision:
    """Return the next move for a NodeConfigurator."""
    found = world.find(NODE_CONFIGURATOR.kind, name)
    if found is None or dig(found, "metadata", "deletionTimestamp"):
        return Decision()
    if DAEMON_SET.kind in world.unread:
        return Decision(again_in=settings.poll)
    try:
        parsed = crd.parse(found)
    except SpecError as error:
        refused = Condition(AVAILABLE, "False", "InvalidSpec", str(error))
        return Decision(status=_status(found, refused, world.now))
    there = world.find(DAEMON_SET.kind, f"{name}-ds")
    container = node_configurator.chosen(parsed)
    if container is None:
        nothing = Condition(
            AVAILABLE, "False", "NothingEnabled", "neither the rebooter nor a container is enabled"
        )
        return Decision(delete=_gone(there), status=_status(found, nothing, world.now))
    if container.image is None:
        unnamed = Condition(AVAILABLE, "False", "NoImage", "no image is named, and there is none of ours")
        return Decision(status=_status(found, unnamed, world.now))
    wanted = differs.pending([node_configurator.render(parsed, container)], world.find)
    return Decision(apply=wanted, status=_status(found, _available(there), world.now))


def _available(there: Object | None) -> Condition:
    if there is None:
        return Condition(AVAILABLE, "False", "NotAvailable", "its DaemonSet is not there yet")
    want = int(dig(there, "status", "desiredNumberScheduled") or 0)
    ready = int(dig(there, "status", "numberReady") or 0)
    text = f"{ready} of {want} nodes have it"
    if ready < want or dig(there, "status", "observedGeneration") != dig(there, "metadata", "generation"):
        return Condition(AVAILABLE, "False", "NotAvailable", text)
    return Condition(AVAILABLE, "True", AVAILABLE, text)


def _gone(there: Object | None) -> tuple[Deletion, ...]:
    if there is None:
        return ()
    metadata = there["metadata"]
    namespace = str(metadata.get("namespace") or "")
    return (Deletion(DAEMON_SET, namespace, str(metadata["name"]), str(metadata.get("uid") or "")),)


def _status(found: Object, said: Condition, now: float) -> dict[str, Any] | None:
    old = dig(found, "status") or {}
    generation = dig(found, "metadata", "generation") or 0
    rows = conditions.rows(found, [said, nodeset_status.ignored_fields(found)], now)
    status = {**old, "observedGeneration": generation, "conditions": rows}
    return None if conditions.same(old, status) else status
