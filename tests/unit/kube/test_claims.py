"""Claims: they grow where they may, never shrink, and go on when a component asks for other ones (C67)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.golden.kube.worlds import SETTINGS, done, load, settled
from tests.unit.kube.test_slurmcluster import Change, changed, condition, decide, named

from npa.reconcile import nodeset
from npa.reconcile.decision import Decision
from npa.reconcile.world import World
from npa.render.kube import names
from npa.render.objects import STORAGE_CLASS, Object, dig, name_of

CLAIM = "PersistentVolumeClaim"
SPOOL = "spool-train-controller-0"


def storage_class(allows: bool | None = True) -> Object:
    more: dict[str, Any] = {} if allows is None else {"allowVolumeExpansion": allows}
    return {**STORAGE_CLASS.object("fast", provisioner="example"), **more}


def claim(name: str, size: str, *, capacity: str = "", phase: str = "Bound", **spec: Any) -> dict[str, Any]:
    return {
        "kind": CLAIM,
        "metadata": {"name": name, "namespace": "ml", "labels": names.labels("train", "controller")},
        "spec": {"storageClassName": "fast", "resources": {"requests": {"storage": size}}, **spec},
        "status": {"phase": phase, "capacity": {"storage": capacity or size}},
    }


def put(world: World, *found: Object) -> World:
    more = {(str(each["kind"]), name_of(each)): each for each in found}
    return replace(world, objects={**world.objects, **more})


def sized(size: str) -> Change:
    def change(spec: dict[str, Any]) -> None:
        volumes = spec["slurmNodes"]["controller"]["volumes"]
        volumes["spool"]["volumeClaimTemplateSpec"]["resources"]["requests"]["storage"] = size

    return change


def asked(size: str, *found: Object) -> World:
    """Return a settled cluster whose slurmctld is to have another size of state."""
    return put(changed(settled(load("full")), sized(size)), *found)


def said(world: World) -> tuple[str, str, str]:
    return condition(world, decide(world), "VolumesSized")


def test_a_claim_grows_where_its_class_allows_it() -> None:
    world = asked("100Gi", claim(SPOOL, "50Gi"), storage_class())
    grown = decide(world)

    assert named(grown.apply) == {f"{CLAIM}/{SPOOL}"}
    assert grown.apply[0]["spec"] == {"resources": {"requests": {"storage": "100Gi"}}}
    assert said(world) == ("False", "Growing", f"{SPOOL}: grows from 50Gi to 100Gi")
    assert ("Normal", "Growing") in {(each.type, each.reason) for each in grown.notices}


def test_it_is_asked_to_grow_once_and_then_waited_for() -> None:
    pending = [{"type": "FileSystemResizePending", "status": "True"}]
    growing = claim(SPOOL, "100Gi", capacity="50Gi")
    growing["status"]["conditions"] = pending
    world = asked("100Gi", growing, storage_class())

    assert decide(world).apply == ()
    assert said(world)[1:] == (
        "Growing",
        f"{SPOOL}: grows from 50Gi to 100Gi: its pod has to be started anew",
    )
    assert said(asked("100Gi", claim(SPOOL, "100Gi")))[:2] == ("True", "AsAsked")


@pytest.mark.parametrize(
    ("held", "there", "reason", "why"),
    [
        pytest.param({}, storage_class(False), "CannotGrow", "does not allow it", id="not-allowed"),
        pytest.param({}, storage_class(None), "CannotGrow", "does not allow it", id="not-said"),
        pytest.param({}, None, "CannotGrow", "no StorageClass fast", id="no-class"),
        pytest.param(
            {"storageClassName": ""}, storage_class(), "CannotGrow", "nobody can make it larger", id="static"
        ),
        pytest.param({"phase": "Pending"}, storage_class(), "Growing", "once it has a volume", id="unbound"),
    ],
)
def test_where_it_cannot_grow_it_is_said_and_all_else_goes_on(
    held: dict[str, Any], there: Object | None, reason: str, why: str
) -> None:
    world = asked("100Gi", claim(SPOOL, "50Gi", **held), *([there] if there else []))
    status = said(world)

    assert decide(world).apply == ()
    assert status[:2] == ("False", reason)
    assert why in status[2]
    assert "100Gi are asked for and 50Gi are there" in status[2]
    assert dig(decide(world).status, "phase") == "Available"


def test_a_class_that_could_not_be_read_is_not_guessed() -> None:
    world = replace(asked("100Gi", claim(SPOOL, "50Gi")), unread=("StorageClass",))

    assert decide(world).apply == ()
    assert said(world)[:2] == ("Unknown", "Unknown")


def test_a_claim_is_never_made_smaller() -> None:
    world = asked("20Gi", claim(SPOOL, "50Gi"), storage_class())

    assert decide(world).apply == ()
    assert said(world)[1] == "CannotShrink"
    assert ("Warning", "CannotShrink") in {(each.type, each.reason) for each in decide(world).notices}


def test_the_claim_that_all_pods_share_grows_too() -> None:
    def own(spec: dict[str, Any]) -> None:
        claim_ = {"volumeClaimTemplateSpec": {"resources": {"requests": {"storage": "2Ti"}}}}
        for component in ("controller", "login"):
            spec["slurmNodes"][component]["volumes"]["jail"] = claim_

    there = put(changed(load("full"), own), claim("train-jail", "1Ti"), storage_class())
    grown = [each for each in decide(there).apply if each["kind"] == CLAIM]

    assert [(name_of(each), dig(each, "spec", "resources", "requests", "storage")) for each in grown] == [
        ("train-jail", "2Ti")
    ]


def test_a_volume_whose_name_begins_as_another_ones_is_not_taken_for_it() -> None:
    world = asked("100Gi", claim("spool-train-controller-x-0", "50Gi"), storage_class())

    assert decide(world).apply == ()


def gone(decision: Decision) -> list[tuple[str, bool]]:
    return [(each.name, each.orphan) for each in decision.delete if each.kind.kind == "StatefulSet"]


def test_a_set_that_asks_for_other_volumes_is_replaced_and_its_pods_go_on() -> None:
    def external(spec: dict[str, Any]) -> None:
        secret = {"name": "db", "key": "password"}
        database = {"enabled": True, "host": "db.example", "user": "slurm", "passwordSecretKeyRef": secret}
        spec["slurmNodes"]["accounting"].update(externalDB=database, mariadbOperator=None)

    world = settled(load("full"))
    moved = changed(world, external)
    secret = {"kind": "Secret", "metadata": {"name": "db"}, "data": {"password": "cHc="}}
    first = decide(put(moved, secret))
    second = decide(done(put(moved, secret), first))

    assert gone(first) == [("train-accounting", True)]
    assert "StatefulSet/train-accounting" not in named(first.apply)
    assert "StatefulSet/train-accounting" in named(second.apply)
    assert gone(decide(replace(put(moved, secret), unread=("StatefulSet",)))) == []


def test_claims_of_workers_grow() -> None:
    world = settled(load("full"))
    found = next(each for each in world.nodesets if name_of(each) == "gpu")
    spool = {"volumeClaimTemplateSpec": {"resources": {"requests": {"storage": "200Gi"}}}}
    slurmd = {**found["spec"]["slurmd"], "volumes": {**found["spec"]["slurmd"]["volumes"], "spool": spool}}
    own = {**found, "spec": {**found["spec"], "slurmd": slurmd}}
    held = []
    for ordinal, size in ((0, "100Gi"), (1, "200Gi"), (2, "300Gi")):
        each = claim(f"spool-gpu-{ordinal}", size)
        each["metadata"]["labels"] = names.labels("train", "worker", **{names.NODE_SET: "gpu"})
        held.append(each)
    sets = tuple(own if each is found else each for each in world.nodesets)
    there = put(replace(world, nodesets=sets), *held, storage_class())
    decision = nodeset.decide(there, "gpu", SETTINGS)
    rows = {row["type"]: row for row in dig(decision.status, "conditions")}

    assert [name_of(each) for each in decision.apply if each["kind"] == CLAIM] == ["spool-gpu-0"]
    assert rows["VolumesSized"]["reason"] == "CannotShrink"
    assert "spool-gpu-2: 200Gi are asked for and 300Gi are there" in rows["VolumesSized"]["message"]
