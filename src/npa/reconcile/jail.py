"""The jail's first content: whether it is there, and what is done about the Job that brings it; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from npa.crds.slurmcluster import SlurmCluster
from npa.reconcile import workloads
from npa.reconcile.conditions import Condition, said
from npa.reconcile.decision import Deletion
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.kube import differs, names
from npa.render.kube.jail import OVERWRITE
from npa.render.objects import JOB, Object, dig, is_true

POPULATED = "JailPopulated"
MODE = "PopulateJailMode"  # its reason is the mode of maintenance that was last acted on
_OVERWRITES = "downscaleAndOverwritePopulateJail"
_DELETES = "downscaleAndDeletePopulateJail"
_SKIPS = "skipPopulateJail"


@dataclass(frozen=True, slots=True)
class Jail:
    """What is so of the jail, and what is to be done."""

    populated: Condition
    mode: Condition
    create: tuple[Object, ...] = ()
    delete: tuple[Deletion, ...] = ()
    again_in: float | None = None
    wanted: Mapping[str, Any] = field(default_factory=dict)


def decide(world: World, cluster: SlurmCluster, job: Object, overwriting: Object, settings: Settings) -> Jail:
    """Return what is done about the Job; `overwriting` is the one that overwrites a jail that is filled."""
    found, mode = world.cluster or {}, cluster.spec.maintenance
    before = said(found, MODE)
    stays = Condition(MODE, "True", _word(before.reason if before else ""), "")
    if JOB.kind in world.unread:
        return Jail(_unread(found), stays, again_in=settings.poll)
    there = world.find(JOB.kind, names.populate_job(cluster.name))
    acted = Condition(MODE, "True", _word(mode), "")
    if mode == _SKIPS:
        return Jail(Condition(POPULATED, "True", "Skipped", "skipPopulateJail says that it is filled"), acted)
    if mode == _DELETES:
        gone = (_deletion(there),) if there is not None else ()
        return Jail(
            Condition(POPULATED, "False", "Maintenance", "it is filled anew afterwards"), acted, (), gone
        )
    if mode == _OVERWRITES:
        return _overwritten(world, there, overwriting, stays, acted, settings)
    if there is None:
        wanted = differs.stamp(job)
        return Jail(Condition(POPULATED, "False", "Populating", "the Job is being made"), acted, (wanted,))
    return _watched(world, there, job, acted, settings)


def _overwritten(
    world: World, there: Object | None, job: Object, stays: Condition, acted: Condition, settings: Settings
) -> Jail:
    """Fill a jail that is filled already, once nobody is in it any more."""
    if stays.reason == acted.reason and there is not None:
        return _watched(world, there, job, acted, settings)
    used = [each for name in ("login", "worker") for each in workloads.pods(world, name)]
    if "Pod" in world.unread or used:
        message = f"{len(used)} pods still use the jail" if used else "pods could not be read"
        return Jail(Condition(POPULATED, "False", "Maintenance", message), stays, again_in=settings.poll)
    if there is not None and dig(there, "metadata", "annotations", OVERWRITE) != "true":
        return Jail(
            Condition(POPULATED, "False", "Maintenance", "the Job is being replaced"),
            stays,
            delete=(_deletion(there),),
            again_in=settings.poll,
        )
    populating = Condition(POPULATED, "False", "Populating", "the jail is being overwritten")
    return Jail(populating, acted, create=(differs.stamp(job),) if there is None else ())


def _watched(world: World, there: Object, job: Object, acted: Condition, settings: Settings) -> Jail:
    """Follow a Job: one that ended in vain is replaced after a while, one that is to be another at once."""
    if is_true(there, "Complete") or (dig(there, "status", "succeeded") or 0) > 0:
        return Jail(Condition(POPULATED, "True", "Populated", "the jail is filled"), acted)
    if dig(there, "metadata", "deletionTimestamp"):
        return Jail(Condition(POPULATED, "False", "Populating", "the Job is being replaced"), acted)
    if is_true(there, "Failed"):
        return _failed(world, there, acted, settings)
    stamped = differs.stamp(job)
    marks = [dig(each, "metadata", "annotations", names.WANTED) for each in (there, stamped)]
    if marks[0] != marks[1] and dig(there, "metadata", "annotations", OVERWRITE) is None:
        text = "another Job is wanted, the one that runs is replaced"
        return Jail(Condition(POPULATED, "False", "Populating", text), acted, delete=(_deletion(there),))
    why = workloads.trouble(world, "populate-jail")
    reason = "PopulateFailing" if why else "Populating"
    return Jail(Condition(POPULATED, "False", reason, why or "the Job runs"), acted)


def _failed(world: World, there: Object, acted: Condition, settings: Settings) -> Jail:
    row = next(each for each in dig(there, "status", "conditions") if each.get("type") == "Failed")
    ended = _seconds(row.get("lastTransitionTime"))
    wait = max(0.0, (ended or world.now) + settings.retry_most - world.now)
    why = workloads.trouble(world, "populate-jail") or str(row.get("message") or "")
    populated = Condition(
        POPULATED, "False", "PopulateFailed", f"{row.get('reason')}: {why}; it is tried again"
    )
    if wait > 0:
        return Jail(populated, acted, again_in=wait)
    return Jail(populated, acted, delete=(_deletion(there),))


def _unread(found: Object) -> Condition:
    before = said(found, POPULATED)
    # who waits for the jail goes on waiting, and who has begun is left alone
    if before is not None and before.holds:
        return before
    return Condition(POPULATED, "Unknown", "Unknown", "jobs could not be read")


def _deletion(found: Object) -> Deletion:
    metadata = found["metadata"]
    return Deletion(
        JOB, str(metadata.get("namespace") or ""), metadata["name"], str(metadata.get("uid") or "")
    )


def _word(mode: str) -> str:
    return (mode[:1].upper() + mode[1:]) or "None"


def _seconds(text: object) -> float | None:
    try:
        return datetime.fromisoformat(str(text).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None
