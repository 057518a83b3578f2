"""A verdict on a Terraform plan as our own Plan: what changes, why, and what it does to jobs; pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from npa.plan.model import JobRef, Plan, Step, Verb
from npa.render.nebius import harm, subjects, tfmask
from npa.render.nebius.adapter import Adapter
from npa.render.nebius.harm import Finding
from npa.render.nebius.tfguard import Verdict
from npa.render.nebius.tfplan import ResourceChange

SHOWN_LINES = 30  # of the attributes that change in one resource
TARGET = "nebius"

_VERBS: Mapping[str, Verb] = MappingProxyType(
    {"create": "create", "update": "reconfigure", "delete": "remove", "replace": "remove", "forget": "remove"}
)


@dataclass(frozen=True, slots=True)
class Context:
    """What the plan is of, and what runs there."""

    cluster: str
    adapter: Adapter
    jobs: tuple[JobRef, ...] = ()  # that run now


def plan(verdict: Verdict, context: Context) -> Plan:
    """Return the steps of a Terraform plan, each with its reason; audited local refreshes are a note."""
    findings = _by_key(verdict.findings)
    changing = [each for each in verdict.plan.resources if each.changes and each.key not in verdict.refreshed]
    return Plan(
        cluster=context.cluster,
        target=TARGET,
        steps=tuple(
            _step(each, findings.get(each.key, ()), verdict, context)
            for each in changing
            if each.effect != "none" or each.imported
        ),
        unchanged=tuple(_unchanged(verdict.plan.resources, context.adapter)),
        notes=(
            *verdict.notes,
            *(f"{key} is refreshed: it is on this machine only" for key in verdict.refreshed),
        ),
    )


def refusals(verdict: Verdict) -> tuple[dict[str, str], ...]:
    """Return what is refused as JSON has it: the address, why, and the approval, empty where none is."""
    return tuple(
        {"address": each.key, "reason": each.text, "approval": verdict.approval(each)}
        for each in verdict.refused
    )


def counts(verdict: Verdict) -> dict[str, int]:
    """Return how many objects are created, updated, replaced, deleted and refreshed."""
    found = {"create": 0, "update": 0, "replace": 0, "delete": 0, "refresh": len(verdict.refreshed)}
    for each in verdict.plan.resources:
        if each.effect in found and each.key not in verdict.refreshed:
            found[each.effect] += 1
    return found


def _step(change: ResourceChange, found: Sequence[Finding], verdict: Verdict, context: Context) -> Step:
    named = subjects.subject(change, context.adapter)
    taken = frozenset(subjects.nodes(change, context.adapter)) if found else frozenset()
    jobs = tuple(job for job in context.jobs if not taken.isdisjoint(job.nodes))
    return Step(
        verb="remove" if taken else _VERBS.get(change.effect, "reconfigure"),
        subject=named if named == change.key else f"{named} ({change.key})",
        reason=_reason(change, found, verdict, context.adapter),
        key=change.key,
        nodes=tuple(sorted(taken, key=_ordinal)),
        jobs=jobs,
        kills_jobs=bool(jobs) and all(each.approved for each in found),
        diff="\n".join(_diff(change)),
    )


def _reason(change: ResourceChange, found: Sequence[Finding], verdict: Verdict, adapter: Adapter) -> str:
    if found:
        text = "; ".join(each.text for each in found)
        if all(each.approved for each in found):
            return f"{text}; approved"
        approval = verdict.approval(found[0]) if all(each.approvable for each in found) else ""
        leave = f"to allow it: --approve {shlex.quote(approval)}" if approval else "a deploy never does this"
        return f"{text}; {leave}"
    if change.effect == "create":
        again = any(each.key == change.key and each.effect == "delete" for each in verdict.plan.drift)
        return "it was deleted outside Terraform" if again else "asked for and not there"
    if change.effect == "update":
        return _in_place(change, adapter)
    return harm.why(change)


def _in_place(change: ResourceChange, adapter: Adapter) -> str:
    group = subjects.node_group(change, adapter)
    if group:
        old = subjects.scale(subjects.current(change, group.root))
        new = subjects.scale(subjects.planned(change, group.root))
        if old and new and old != new:
            return f"it grows from {old} to {new}; what runs goes on"
    return "it is changed in place; what runs goes on"


def _diff(change: ResourceChange) -> Iterator[str]:
    if change.effect not in ("update", "replace"):
        return
    found = [
        (at, old, new)
        for at, old, new in tfmask.differences(change.before, change.after, change.masks, change.unknown)
        # What the provider computes anew is no change that anybody asked for.
        if tfmask.shown(new) != tfmask.UNKNOWN or change.effect == "update"
    ]
    for at, old, new in found[:SHOWN_LINES]:
        yield f"{at}: {tfmask.shown(old)} -> {tfmask.shown(new)}"
    if len(found) > SHOWN_LINES:
        yield f"and {len(found) - SHOWN_LINES} more"


def _unchanged(resources: Iterable[ResourceChange], adapter: Adapter) -> Iterator[str]:
    """Yield the pools all of whose node groups stay as they are."""
    still: dict[str, bool] = {}
    for change in resources:
        for pool in filter(None, dict.fromkeys(subjects.pools(change, adapter))):
            still[pool] = still.get(pool, True) and not change.changes
    yield from (f"pool {pool}" for pool, same in still.items() if same)


def _by_key(findings: Iterable[Finding]) -> Mapping[str, tuple[Finding, ...]]:
    found: dict[str, tuple[Finding, ...]] = {}
    for each in findings:
        found[each.key] = (*found.get(each.key, ()), each)
    return found


def _ordinal(node: str) -> tuple[str, int]:
    pool, _, number = node.rpartition("-")
    return pool, int(number)
