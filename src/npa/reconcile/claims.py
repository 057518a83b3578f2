"""The claims of StatefulSets: what asks for them cannot be changed in place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from npa.reconcile.decision import Deletion
from npa.reconcile.world import World
from npa.render.objects import STATEFUL_SET, Object, dig, name_of

_FIXED = ("serviceName", "podManagementPolicy", "selector")


def kept(world: World, rendered: Iterable[Object]) -> Iterator[Object]:
    """Yield objects, StatefulSets with what cannot be changed of those that are there.

    One that asks for other volumes than the one that is there waits until that one is gone.
    """
    for each in rendered:
        found = _there(world, each)
        if found is None:
            yield each
        elif _volumes(found) == _volumes(each):
            yield {**each, "spec": _spec(found, each["spec"])}


def replaced(world: World, rendered: Iterable[Object]) -> Iterator[Deletion]:
    """Yield the StatefulSets that ask for other volumes than are wanted now; pods and claims stay.

    The one that comes after takes its pods over, and starts them anew with the volumes that it asks for.
    """
    for each in rendered if STATEFUL_SET.kind not in world.unread else ():
        found = _there(world, each)
        if found is None or _volumes(found) == _volumes(each) or dig(found, "metadata", "deletionTimestamp"):
            continue
        namespace, uid = (str(dig(found, "metadata", key) or "") for key in ("namespace", "uid"))
        yield Deletion(STATEFUL_SET, namespace, name_of(found), uid, orphan=True)


def _there(world: World, wanted: Object) -> Object | None:
    return world.find(STATEFUL_SET.kind, name_of(wanted)) if wanted["kind"] == STATEFUL_SET.kind else None


def _volumes(found: Object) -> frozenset[str]:
    listed = dig(found, "spec", "volumeClaimTemplates") or ()
    return frozenset(str(dig(each, "metadata", "name")) for each in listed)


def _spec(found: Object, wanted: Mapping[str, Any]) -> dict[str, Any]:
    fixed = {key: dig(found, "spec", key) for key in _FIXED}
    spec = {**wanted, **{key: value for key, value in fixed.items() if value is not None}}
    there = {dig(each, "metadata", "name"): each for each in dig(found, "spec", "volumeClaimTemplates") or ()}
    if "volumeClaimTemplates" in spec:
        spec["volumeClaimTemplates"] = [
            _as_it_is(there[each["metadata"]["name"]], each) for each in spec["volumeClaimTemplates"]
        ]
    return spec


def _as_it_is(found: Object, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**wanted, "spec": {key: dig(found, "spec", key) for key in wanted["spec"]}}
