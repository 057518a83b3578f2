"""What a change of one resource takes away: nodes, data, or what is known of them. An allow-list; pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from npa.render.nebius import redaction, subjects, tfmask, volumes
from npa.render.nebius.adapter import Adapter, NodeGroups, Volumes
from npa.render.nebius.tfplan import Check, ResourceChange

# Where one of these is not known, nobody can say which machines the nodes would be.
GUARDED = ("resources", "gpu_cluster", "reservation_policy", "preemptible", "boot_disk")
POSITION = "pools are keyed by position"

_REASONS = {
    "replace_because_tainted": "an earlier apply did not finish it (tainted)",
    "replace_by_request": "somebody asked for it",
    "replace_by_triggers": "the recipe couples it to another change",
    "delete_because_no_resource_config": "the recipe no longer has it",
    "delete_because_no_module": "the recipe no longer has its module",
    "delete_because_wrong_repetition": "the recipe counts it in another way",
    "delete_because_count_index": "the recipe asks for fewer",
    "delete_because_each_key": "the recipe no longer asks for it",
    "delete_because_no_move_target": "the recipe moved it to nowhere",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One change that is done only with leave, if at all."""

    key: str
    address: str
    text: str  # what would happen, and why
    approvable: bool = True
    approved: bool = False


def to_deploy(change: ResourceChange, adapter: Adapter, after: frozenset[str]) -> Iterator[Finding]:
    """Yield what speaks against a change in a deploy; `after` are the pools that the plan ends with."""
    if change.effect == "forget":
        yield _never(change, f"{change.address} would be forgotten: nobody could destroy it later")
    elif change.effect in ("delete", "replace"):
        yield _ended(change, adapter, after)
    elif change.deposed and change.effect != "none":
        yield _never(change, f"{change.key} would be {change.effect}d, and is only a leftover")
    elif change.effect == "update":
        if group := subjects.node_group(change, adapter):
            yield from _group(change, group, adapter)
        if volume := subjects.volume(change, adapter):
            yield from _volume(change, volume, adapter)
    if change.effect in ("create", "update", "replace"):
        yield from _rollout(change, adapter)
    if change.imported:
        yield _asked(
            change, f"{change.address} would be imported: what is there becomes part of this cluster"
        )


def to_destroy(change: ResourceChange) -> Iterator[Finding]:
    """Yield what speaks against a change in a destroy, which deletes and does nothing else."""
    if change.effect not in ("delete", "none", "read") or change.imported:
        yield _never(change, f"a destroy would {change.effect} {change.address}")


def failed_check(check: Check) -> Finding:
    """Return the finding of a condition that does not hold: Terraform itself would go on."""
    return Finding(check.address, check.address, f"{check.address} failed: {messages(check)}")


def messages(check: Check) -> str:
    """Return what a check says, on one line."""
    return redaction.redact(" ".join(" ".join(check.messages).split()))[:400] or "it does not say why"


def why(change: ResourceChange) -> str:
    """Return why Terraform ends an object, with the attributes that force it."""
    if change.deposed:
        return f"a leftover of an earlier replacement (deposed {change.deposed})"
    paths = ", ".join(_path(path) for path in change.paths)
    if change.reason == "replace_because_cannot_update" or (paths and not change.reason):
        return f"forced by {paths}" if paths else "it cannot be changed in place"
    reason = _REASONS.get(change.reason, "the recipe no longer asks for it as it is")
    return f"{reason}, by {paths}" if paths else reason


def _ended(change: ResourceChange, adapter: Adapter, after: frozenset[str]) -> Finding:
    named = subjects.subject(change, adapter)
    moved = f", moved from {change.previous}" if change.previous else ""
    old, new = subjects.pools(change, adapter)
    if subjects.volume(change, adapter):
        return _never(change, f"{named} would be {_fate(change)} with all data in it: {why(change)}{moved}")
    if old and change.effect == "replace" and new not in ("", old):
        text = f"pool {old} would be {'rebuilt' if old in after else 'deleted'} and pool {new} be built on"
        return _asked(change, f"{text} its place, because {POSITION}: {why(change)}{moved}")
    if old and change.effect == "delete" and old in after and not change.deposed:
        return _asked(change, f"pool {old} would be rebuilt because {POSITION}: {why(change)}{moved}")
    return _asked(change, f"{named} would be {_fate(change)}: {why(change)}{moved}")


def _fate(change: ResourceChange) -> str:
    return "rebuilt" if change.effect == "replace" else "deleted"


def _group(change: ResourceChange, group: NodeGroups, adapter: Adapter) -> Iterator[Finding]:
    named = subjects.subject(change, adapter)
    before, after = subjects.current(change, group.root), subjects.planned(change, group.root)
    old, new = subjects.scale(before), subjects.scale(after)
    reasons = []
    if old is None or new is None:
        reasons.append(f"the size of {named} cannot be verified: {_size(before)} -> {_size(after)}")
    elif old.shrinks_to(new):
        reasons.append(f"{named} would shrink from {old} to {new}")
    rolled = [_line(at, was, now) for at, was, now in _rolls(before, after, group)]
    if rolled:
        reasons.append(f"the nodes of {named} would be replaced: {', '.join(rolled)}")
    if reasons:
        yield _asked(change, "; ".join(reasons))


def _rollout(change: ResourceChange, adapter: Adapter) -> Iterator[Finding]:
    """A reserved node group has no machine to spare: one more is on demand, or never comes."""
    group = subjects.node_group(change, adapter)
    after = subjects.planned(change, group.root) if group else {}
    template, strategy = after.get("template"), after.get("strategy")
    policy = template.get("reservation_policy") if isinstance(template, dict) else None
    if not isinstance(policy, dict) or policy.get("policy") != "STRICT":
        return
    surge = strategy.get("max_surge") if isinstance(strategy, dict) else None
    told = [surge.get(unit) for unit in ("count", "percent")] if isinstance(surge, dict) else []
    if [each for each in told if each is not None] != [0]:
        how = "is not said" if surge is None else f"may take {tfmask.shown(surge)} more machines"
        yield _asked(
            change,
            f"how {subjects.subject(change, adapter)} rolls out {how}: beyond its reservation there is none, "
            "so it needs max_surge 0",
        )


def _rolls(
    before: dict[str, object], after: dict[str, object], group: NodeGroups
) -> Iterator[tuple[str, object, object]]:
    old, new = ({key: side.get(key) for key in group.rolls} for side in (before, after))
    for at, was, now in tfmask.differences(old, new, (False, False), False):
        unknown = isinstance(now, tfmask.Hidden) and now.word == tfmask.UNKNOWN
        steps = at.replace("[", ".").split(".")
        # A provider leaves what it computes itself unknown in every change, so that alone says nothing.
        if not unknown or len(steps) == 1 or steps[1] in GUARDED:
            yield at, was, now


def _volume(change: ResourceChange, volume: Volumes, adapter: Adapter) -> Iterator[Finding]:
    before, after = subjects.current(change, volume.root), subjects.planned(change, volume.root)
    for name in volume.sizes:
        old, new = before.get(name), after.get(name)
        if old is None or new == old or _computed(name, before, after, volume):
            continue
        if type(old) is not int or type(new) is not int:
            text = f"the size of {subjects.subject(change, adapter)} cannot be verified"
            yield _never(change, f"{text}: {_line(name, old, new)}")
        elif new < old:
            was, now = (volumes.shown(volumes.in_bytes(name, each) or 0) for each in (old, new))
            yield _never(change, f"{subjects.subject(change, adapter)} would shrink from {was} to {now}")


def _computed(name: str, before: dict[str, object], after: dict[str, object], volume: Volumes) -> bool:
    """Whether this unit only follows another one that is known on both sides."""
    unknown = isinstance(after.get(name), tfmask.Hidden)
    known = (
        type(before.get(each)) is int and type(after.get(each)) is int
        for each in volume.sizes
        if each != name
    )
    return unknown and any(known)


def _size(found: dict[str, object]) -> str:
    shown = (tfmask.shown(found.get(key)) for key in ("fixed_node_count", "autoscaling") if found.get(key))
    return " and ".join(shown) or "none"


def _line(at: str, old: object, new: object) -> str:
    return f"{at} {tfmask.shown(old)} -> {tfmask.shown(new)}"


def _path(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def _asked(change: ResourceChange, text: str) -> Finding:
    return Finding(change.key, change.address, text)


def _never(change: ResourceChange, text: str) -> Finding:
    return Finding(change.key, change.address, text, approvable=False)
