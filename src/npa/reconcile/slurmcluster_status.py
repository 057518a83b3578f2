"""What a SlurmCluster's status says, written only where it says something else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from npa.crds import ignored
from npa.reconcile import conditions, deletion, rotation
from npa.reconcile.claim_sizes import SIZED
from npa.reconcile.conditions import Condition
from npa.reconcile.decision import Decision, Notice
from npa.reconcile.jail import Jail
from npa.reconcile.slurmcluster_config import VALID, Configured
from npa.reconcile.slurmcluster_parts import Parts
from npa.reconcile.world import World
from npa.render.kube import exporter
from npa.render.kube.context import Context
from npa.render.objects import Object, dig

IGNORED = "IgnoredFields"
COMMON = "CommonAvailable"
_TYPES = {
    "controller": "ControllersAvailable",
    "login": "LoginAvailable",
    "accounting": "AccountingAvailable",
    "rest": "RestAvailable",
    "exporter": "ExporterAvailable",
}
# what users are told of when it turns
_TOLD = frozenset(
    {VALID, "NodeSetRefsResolved", "JailPopulated", SIZED, COMMON, rotation.ROTATING, *_TYPES.values()}
)
# what is on its way: told once, however far it is
_UNDER_WAY = frozenset({"Populating", "Maintenance", "NotEnabled", "Growing"})


def decide(
    world: World, context: Context, configured: Configured, filled: Jail, parts: Parts
) -> tuple[dict[str, Any] | None, tuple[Notice, ...]]:
    """Return the status to write, None where it is there already, and the events about what is new."""
    found = world.cluster or {}
    wanted = (
        _common(parts),
        filled.mode,
        filled.populated,
        *configured.conditions,
        _delivery(configured),
        *_components(context, parts),
        parts.sized.condition,
        _ignored(found),
        *((deletion.running(world),) if deletion.refuses(found) else ()),
        *rotation.condition(world),
    )
    login = parts.states.get("login")
    status: dict[str, Any] = {
        "phase": _phase(wanted, parts),
        "readyLogin": login.ready if login is not None else 0,
        "readySConfigController": 0,
        "conditions": conditions.rows(found, wanted, world.now),
    }
    notices = tuple(_notices(found, wanted))
    return (None if conditions.same(dig(found, "status"), status) else status), notices


def refused(world: World, configured: Configured) -> Decision:
    """Return the decision about a resource that makes no sense: what runs stays, and the status says why.

    Files that were delivered before are taken all the same: they were good.
    """
    found, said = world.cluster or {}, configured.conditions
    kept = [
        each
        for row in dig(found, "status", "conditions") or ()
        if (each := conditions.said(found, str(row.get("type")))) is not None
        and each.type not in (*(one.type for one in said), *conditions.APART)
    ]
    old = dig(found, "status") or {}
    status = {
        **{key: value for key, value in old.items() if key != "conditions"},
        "phase": old.get("phase") or "Not available",
        "conditions": conditions.rows(found, [*kept, *said], world.now),
    }
    same = conditions.same(old, status)
    return Decision(
        slurm=configured.slurm, status=None if same else status, notices=tuple(_notices(found, said))
    )


def _phase(wanted: Iterable[Condition], parts: Parts) -> str:
    # whoever only looks on keeps nobody from working
    needed = {_TYPES[name] for name in parts.states if name != "exporter"}
    if parts.down or any(not each.holds for each in wanted if each.type in needed):
        return "Not available"
    return "Available"


def _common(parts: Parts) -> Condition:
    if parts.down:
        text = parts.leaving or "everything is down"
        return Condition(COMMON, "False", "Maintenance", text)
    return Condition(COMMON, "True", "Available", "; ".join(parts.waits))


def _delivery(configured: Configured) -> Condition:
    """Say of the existing operator's config controller what there is of it here: files are delivered."""
    kind = "SConfigControllerAvailable"
    if configured.delivered:
        return Condition(kind, "True", "Available", "slurmctld hands the files out itself")
    return Condition(kind, "False", "NotAvailable", "no files are delivered yet")


def _components(context: Context, parts: Parts) -> Iterator[Condition]:
    for component, kind in _TYPES.items():
        state = parts.states.get(component)
        reason, text = exporter.lacks(context) if component == "exporter" else ("", "")
        if reason and context.spec.slurm_nodes.exporter.enabled:
            yield Condition(kind, "False", reason, text)
        elif state is None:
            yield Condition(kind, "False", "NotEnabled", "it is not asked for")
        elif parts.down:
            yield Condition(kind, "False", "Maintenance", parts.leaving or state.message)
        else:
            yield state.condition(kind)


def _ignored(found: Object) -> Condition:
    """Say which fields have values and are not acted on."""
    paths = ignored.ignored_in(found)
    if not paths:
        return Condition(IGNORED, "False", "NoneIgnored", "")
    return Condition(IGNORED, "True", "FieldsIgnored", f"Ignored fields: {', '.join(paths)}")


def _notices(found: Object, wanted: Iterable[Condition]) -> Iterator[Notice]:
    for each in conditions.news(found, wanted):
        if each.type not in _TOLD or each.status == "Unknown":
            continue
        before = conditions.said(found, each.type)
        if each.holds and (before is None or before.holds):
            continue  # nothing is news of what was never otherwise
        if each.reason in ("NotEnabled", "NotAvailable") and (before is None or not before.holds):
            continue  # it is on its way, and its condition says how far
        if each.reason in _UNDER_WAY and before is not None and before.reason == each.reason:
            continue
        reason = each.reason if not each.holds else each.type
        text = f"{each.type}: {each.message or 'as it should be'}"[:1000]
        yield Notice("Normal" if each.holds or each.reason in _UNDER_WAY else "Warning", reason, text)
