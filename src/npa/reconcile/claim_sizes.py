"""How large claims are: as asked, where their StorageClass lets them grow; smaller never."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from npa.reconcile.conditions import Condition, Truth, some
from npa.reconcile.world import World
from npa.render.kube import names, quantity
from npa.render.objects import CLAIM, STATEFUL_SET, STORAGE_CLASS, Object, dig, name_of

SIZED = "VolumesSized"
_ORDER = ("CannotShrink", "CannotGrow", "Unknown", "Growing")  # what a condition says first


@dataclass(frozen=True, slots=True)
class Sized:
    """The claims that are to grow now, and how all of them are."""

    condition: Condition
    apply: tuple[Object, ...] = ()


NONE = Sized(Condition(SIZED, "True", "AsAsked", ""))


@dataclass(frozen=True, slots=True)
class _Verdict:
    reason: str  # "": as asked
    text: str = ""
    grown: Object | None = None


def decide(world: World, wanted: Iterable[tuple[str, object]]) -> Sized:
    """Return what becomes of claims: their names, and how large they are to be; one not there is left out."""
    if CLAIM.kind in world.unread:
        return Sized(Condition(SIZED, "Unknown", "Unknown", "claims could not be read"))
    verdicts = [each for each in _verdicts(world, wanted) if each.reason]
    grown = tuple(each.grown for each in verdicts if each.grown is not None)
    if not verdicts:
        return NONE
    verdicts.sort(key=lambda each: _ORDER.index(each.reason))
    reason = verdicts[0].reason
    status: Truth = "Unknown" if reason == "Unknown" else "False"
    return Sized(Condition(SIZED, status, reason, some(each.text for each in verdicts)), grown)


def of_sets(world: World, rendered: Iterable[Object]) -> Iterator[tuple[str, object]]:
    """Yield the claims that StatefulSets have made, and how large they are to be."""
    there = sorted(name_of(each) for each in world.of_kind(CLAIM.kind))
    for each in rendered:
        for template in dig(each, "spec", "volumeClaimTemplates") or ():
            if each["kind"] == STATEFUL_SET.kind:
                begin = f"{dig(template, 'metadata', 'name')}-{name_of(each)}-"
                size = dig(template, "spec", "resources", "requests", "storage")
                yield from ((name, size) for name in there if _ordinal(name, begin))


def of_workers(world: World, nodeset: str, templates: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the claims of a NodeSet's workers; `templates` are the sizes by the volumes' names."""
    for found in world.of_kind(CLAIM.kind) if templates else ():
        if dig(found, "metadata", "labels", names.NODE_SET) == nodeset:
            name = name_of(found)
            sizes = (size for volume, size in templates.items() if _ordinal(name, f"{volume}-{nodeset}-"))
            yield from ((name, size) for size in sizes)


def _ordinal(name: str, begin: str) -> bool:
    return name.startswith(begin) and name[len(begin) :].isdecimal()


def _verdicts(world: World, wanted: Iterable[tuple[str, object]]) -> Iterator[_Verdict]:
    for name, size in wanted:
        found = world.find(CLAIM.kind, name)
        if found is not None and not dig(found, "metadata", "deletionTimestamp"):
            yield _verdict(world, found, size)


def _verdict(world: World, claim: Object, size: object) -> _Verdict:
    """Return what becomes of one claim."""
    name, have = name_of(claim), dig(claim, "spec", "resources", "requests", "storage")
    least, most = _amount(have), _amount(size)
    if least is None or most is None:
        return _Verdict("")
    if most < least:
        text = f"{name}: {size} are asked for and {have} are there: a volume is never made smaller"
        return _Verdict("CannotShrink", text)
    if most > least:
        return _grown(world, claim, name, have, size)
    real = dig(claim, "status", "capacity", "storage")
    capacity = _amount(real)
    if capacity is not None and capacity < most:
        return _Verdict("Growing", f"{name}: grows from {real} to {have}{_pending(claim)}")
    return _Verdict("")


def _grown(world: World, claim: Object, name: str, have: object, size: object) -> _Verdict:
    what = f"{name}: {size} are asked for and {have} are there"
    if dig(claim, "status", "phase") != "Bound":
        return _Verdict("Growing", f"{what}: it grows once it has a volume")
    called = dig(claim, "spec", "storageClassName")
    if not called:
        return _Verdict("CannotGrow", f"{what}: it has no StorageClass, so nobody can make it larger")
    if STORAGE_CLASS.kind in world.unread:
        return _Verdict("Unknown", f"{what}: StorageClasses could not be read")
    found = world.find(STORAGE_CLASS.kind, str(called))
    if found is None:
        return _Verdict("CannotGrow", f"{what}: there is no StorageClass {called}")
    if found.get("allowVolumeExpansion") is not True:
        text = f"{what}: StorageClass {called} does not allow it: set allowVolumeExpansion there if it can"
        return _Verdict("CannotGrow", text)
    namespace = str(dig(claim, "metadata", "namespace") or "")
    spec = {"resources": {"requests": {"storage": size}}}
    return _Verdict(
        "Growing", f"{name}: grows from {have} to {size}", CLAIM.object(name, namespace, spec=spec)
    )


def _pending(claim: Object) -> str:
    """Return what a claim that grows waits for."""
    rows = dig(claim, "status", "conditions") or ()
    waits = any(row.get("type") == "FileSystemResizePending" for row in rows)
    return ": its pod has to be started anew" if waits else ""


def _amount(text: object) -> Decimal | None:
    try:
        return None if text is None else quantity.amount(text)
    except ValueError:
        return None
