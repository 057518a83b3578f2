"""The claims of StatefulSets: their templates cannot be changed, and they themselves can only grow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from npa.reconcile.world import World
from npa.render.kube import quantity
from npa.render.objects import CLAIM, STATEFUL_SET, Object, dig, name_of

_FIXED = ("serviceName", "podManagementPolicy", "selector")


def kept(world: World, rendered: Iterable[Object]) -> Iterator[Object]:
    """Yield objects, StatefulSets with what cannot be changed of those that are there.

    A claim that is to be larger than it is comes besides.
    """
    for each in rendered:
        found = world.find(STATEFUL_SET.kind, name_of(each)) if each["kind"] == STATEFUL_SET.kind else None
        if found is None:
            yield each
            continue
        yield {**each, "spec": _spec(found, each["spec"])}
        yield from _grown(world, each)


def _spec(found: Object, wanted: Mapping[str, Any]) -> dict[str, Any]:
    fixed = {key: dig(found, "spec", key) for key in _FIXED}
    spec = {**wanted, **{key: value for key, value in fixed.items() if value is not None}}
    there = {dig(each, "metadata", "name"): each for each in dig(found, "spec", "volumeClaimTemplates") or ()}
    if "volumeClaimTemplates" in spec:
        spec["volumeClaimTemplates"] = [
            _as_it_is(there.get(each["metadata"]["name"]), each) for each in spec["volumeClaimTemplates"]
        ]
    return spec


def _as_it_is(found: Object | None, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    if found is None:
        return wanted
    return {**wanted, "spec": {key: dig(found, "spec", key) for key in wanted["spec"]}}


def _grown(world: World, wanted: Object) -> Iterator[Object]:
    sizes = {
        each["metadata"]["name"]: dig(each, "spec", "resources", "requests", "storage")
        for each in dig(wanted, "spec", "volumeClaimTemplates") or ()
    }
    for claim in world.of_kind(CLAIM.kind) if sizes else ():
        name = name_of(claim)
        volume, _, pod = name.partition("-")
        if volume not in sizes or pod.rpartition("-")[0] != name_of(wanted):
            continue
        have = dig(claim, "spec", "resources", "requests", "storage")
        if have is not None and quantity.amount(sizes[volume]) > quantity.amount(have):
            namespace = str(dig(wanted, "metadata", "namespace") or "")
            spec = {"resources": {"requests": {"storage": sizes[volume]}}}
            yield CLAIM.object(name, namespace, spec=spec)
