"""What is done for JailedConfigs: their files are put into the jail, and slurmctld is told once.

Those with the same aggregation label are written together, by one Job; the first of them by name sees to it,
and each says in its own status how it stands.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from npa.crds import jailedconfig as crd
from npa.crds import slurmcluster as cluster_crd
from npa.crds.jailedconfig import JailedConfig
from npa.crds.rules import elsewhere
from npa.errors import Problem, SpecError
from npa.reconcile import conditions, slurmcluster, workloads
from npa.reconcile.conditions import Condition, some
from npa.reconcile.decision import Decision, Deletion, Notice, Reread
from npa.reconcile.jail import POPULATED
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.kube import jailed
from npa.render.kube.jailed import Content
from npa.render.objects import CONFIG_MAP, JOB, Object, dig, is_true, name_of
from npa.slurm.lookup import Found

WRITTEN = "FilesWritten"
ACTED = "UpdateActionsCompleted"
_KIND = "JailedConfig"
_LOOK = 30.0  # seconds between two looks at ConfigMaps
_NEEDED = ("ConfigMap", "Job", _KIND)


@dataclass(frozen=True, slots=True)
class _Group:
    """JailedConfigs that are written together: those that can be, and why the others cannot."""

    name: str
    members: tuple[JailedConfig, ...]
    files: tuple[Content, ...]
    wrong: dict[str, Condition]
    leader: str

    @property
    def digest(self) -> str:
        """What tells these files from others."""
        return jailed.digest(self.name, self.files)

    @property
    def reconfigures(self) -> bool:
        """Whether slurmctld is to be told."""
        return any("Reconfigure" in each.spec.update_actions for each in self.members)


def decide(world: World, name: str, settings: Settings) -> Decision:
    """Return the next move for a JailedConfig."""
    found = world.find(_KIND, name)
    if found is None or world.cluster is None or dig(found, "metadata", "deletionTimestamp"):
        return Decision()
    if any(kind in world.unread for kind in _NEEDED):
        return Decision(again_in=settings.poll)
    group = _group(world, found)
    decision = _decide(world, found, group, settings)
    # a ConfigMap that is not labelled as the cluster's is not watched
    return replace(decision, again_in=min(decision.again_in or _LOOK, _LOOK))


def _decide(world: World, found: Object, group: _Group, settings: Settings) -> Decision:
    wrong = group.wrong.get(name_of(found))
    if wrong is not None:
        return _said(found, world, wrong, Condition(ACTED, "False", "NotWritten", wrong.message))
    if name_of(found) != group.leader:
        return _said(found, world, *_of_leader(world, group))
    return _led(world, found, group, settings)


def _led(world: World, found: Object, group: _Group, settings: Settings) -> Decision:
    """Return what the first of a group does for all of it."""
    assert world.cluster is not None
    try:
        context = slurmcluster.context(cluster_crd.parse(world.cluster), settings)
    except SpecError as error:
        waits = Condition(WRITTEN, "Unknown", "Unknown", f"the cluster cannot be understood: {error}")
        return _said(found, world, waits, _waiting(group))
    problems: list[Problem] = []
    job = jailed.render(context, group.name, group.members, group.digest, problems)
    there = world.find(JOB.kind, name_of(job))
    if problems:
        waits = Condition(WRITTEN, "False", "Refresh", some(str(each) for each in problems))
        return _said(found, world, waits, _waiting(group))
    if there is None and not _filled(world):
        waits = Condition(WRITTEN, "False", "Refresh", "the jail is not populated yet")
        return replace(_said(found, world, waits, _waiting(group)), again_in=settings.poll)
    if there is None:
        text = f"files {group.digest} are being written"
        begun = _said(found, world, Condition(WRITTEN, "False", "Refresh", text), _waiting(group))
        return replace(begun, create=(job,))
    if not (is_true(there, "Complete") or (dig(there, "status", "succeeded") or 0) > 0):
        why = workloads.trouble(world, jailed.COMPONENT) or f"files {group.digest} are being written"
        reason = "Failing" if workloads.trouble(world, jailed.COMPONENT) else "Refresh"
        return _said(found, world, Condition(WRITTEN, "False", reason, why), _waiting(group))
    return _acted(world, found, group, name_of(job), settings)


def _acted(world: World, found: Object, group: _Group, job: str, settings: Settings) -> Decision:
    written = Condition(WRITTEN, "True", "Success", f"files {group.digest}")
    old = tuple(_left_over(world, group, job))
    if not group.reconfigures:
        done = Condition(ACTED, "True", "MissingAction", "nothing is asked for")
        return replace(_said(found, world, written, done), delete=old)
    told = Condition(ACTED, "True", "Success", f"slurmctld read its files after {group.digest}")
    if conditions.said(found, ACTED) == told:
        return replace(_said(found, world, written, told), delete=old)
    if not isinstance(world.slurm.digest, Found):
        waits = _said(
            found, world, written, Condition(ACTED, "False", "Refresh", "slurmctld does not answer")
        )
        return replace(waits, delete=old, again_in=settings.poll)
    return replace(_said(found, world, written, told), slurm=(Reread(group.digest),), delete=old)


def _of_leader(world: World, group: _Group) -> tuple[Condition, Condition]:
    """Return what is so of every member, as the one that sees to it says."""
    leader = world.find(_KIND, group.leader) or {}
    written, acted = conditions.said(leader, WRITTEN), conditions.said(leader, ACTED)
    if written is None or not written.holds or group.digest not in written.message:
        return Condition(WRITTEN, "False", "Refresh", f"{group.leader} sees to it"), _waiting(group)
    return written, acted or _waiting(group)


def _waiting(group: _Group) -> Condition:
    if not group.reconfigures:
        return Condition(ACTED, "True", "MissingAction", "nothing is asked for")
    return Condition(ACTED, "False", "Refresh", "once the files are written")


def _group(world: World, found: Object) -> _Group:
    label = dig(found, "metadata", "labels", jailed.GROUP)
    name = str(label) if label else name_of(found)
    rows = [found]
    if label:
        rows = [
            each
            for (kind, _), each in sorted(world.objects.items())
            if kind == _KIND and dig(each, "metadata", "labels", jailed.GROUP) == label
        ]
    members, files, wrong = [], list[Content](), dict[str, Condition]()
    for each in rows:
        read = _read(world, each)
        if isinstance(read, Condition):
            wrong[name_of(each)] = read
            continue
        twice = sorted({file.path for file in files} & {file.path for file in read[1]})
        if twice:
            text = f"{', '.join(twice)} is written by another JailedConfig of {name}"
            wrong[name_of(each)] = Condition(WRITTEN, "False", "Invalid", text)
            continue
        members.append(read[0])
        files += read[1]
    leader = members[0].name if members else ""
    return _Group(name, tuple(members), tuple(files), wrong, leader)


def _read(world: World, found: Object) -> tuple[JailedConfig, tuple[Content, ...]] | Condition:
    """Return a JailedConfig with its files, or why there are none."""
    try:
        config = crd.parse(found)
    except SpecError as error:
        return Condition(WRITTEN, "False", "Invalid", str(error))
    problems = list(elsewhere.files_have_places(config))
    held = world.find(CONFIG_MAP.kind, config.spec.config_map.name)
    if held is None:
        text = f"there is no ConfigMap {config.spec.config_map.name}"
        return Condition(WRITTEN, "False", "NotFound", text)
    files = jailed.contents(config, _data(held), problems)
    if problems:
        return Condition(WRITTEN, "False", "Invalid", some(str(each) for each in problems))
    return config, files


def _data(held: Object) -> dict[str, bytes]:
    found = {str(key): str(value).encode() for key, value in (dig(held, "data") or {}).items()}
    for key, value in (dig(held, "binaryData") or {}).items():
        try:
            found[str(key)] = base64.b64decode(str(value))
        except binascii.Error:
            continue
    return found


def _filled(world: World) -> bool:
    row = conditions.said(world.cluster or {}, POPULATED)
    return row is not None and row.holds


def _left_over(world: World, group: _Group, job: str) -> Iterable[Deletion]:
    """Yield the Jobs that wrote what the group was before."""
    for (kind, name), each in sorted(world.objects.items()):
        mine = dig(each, "metadata", "annotations", jailed.GROUP) == group.name
        if kind == JOB.kind and mine and name != job and not dig(each, "metadata", "deletionTimestamp"):
            metadata = each["metadata"]
            yield Deletion(JOB, str(metadata.get("namespace") or ""), name, str(metadata.get("uid") or ""))


def _said(found: Object, world: World, *wanted: Condition) -> Decision:
    """Return the decision that only says how it stands, where that is news."""
    status: dict[str, Any] = {
        "observedGeneration": dig(found, "metadata", "generation") or 0,
        "conditions": conditions.rows(found, wanted, world.now),
    }
    news = [each for each in conditions.news(found, wanted) if each.type == WRITTEN]
    told = tuple(
        Notice("Warning", each.reason, each.message)
        for each in news
        if each.reason in ("Invalid", "NotFound", "Failing")
    )
    same = conditions.same(dig(found, "status"), status)
    return Decision(status=None if same else status, notices=told)
