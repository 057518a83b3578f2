"""Each component has a condition that says how it is, and an event when that turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.golden.kube.worlds import done, load, settled
from tests.unit.kube.test_slurmcluster import changed, condition, decide, without, worker

from npa.reconcile.decision import Decision
from npa.reconcile.world import World
from npa.render.objects import dig

COMPONENTS = {
    "ControllersAvailable": ("StatefulSet", "train-controller"),
    "LoginAvailable": ("StatefulSet", "train-login"),
    "AccountingAvailable": ("StatefulSet", "train-accounting"),
    "RestAvailable": ("Deployment", "train-rest"),
    "ExporterAvailable": ("Deployment", "train-slurm-exporter"),
}
KINDS = pytest.mark.parametrize(("kind", "key"), COMPONENTS.items(), ids=COMPONENTS)


def events(decision: Decision, kind: str) -> list[tuple[str, str]]:
    return [(each.type, each.reason) for each in decision.notices if each.message.startswith(f"{kind}:")]


def broken(world: World, key: tuple[str, str]) -> World:
    """Return the world in which a component has no ready pod, and one that says why."""
    component = key[1].removeprefix("train-").removeprefix("slurm-")
    waiting: Mapping[str, Any] = {"name": "daemon", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    pod = {
        "kind": "Pod",
        "metadata": {"name": f"{key[1]}-0", "labels": {"app.kubernetes.io/component": component}},
        "status": {"containerStatuses": [waiting]},
    }
    workload = {**world.objects[key], "status": {"readyReplicas": 0, "observedGeneration": 1}}
    return replace(world, objects={**world.objects, key: workload, ("Pod", f"{key[1]}-0"): pod})


@KINDS  # without an exporter work goes on
def test_what_breaks_is_told_with_why_and_so_is_its_return(kind: str, key: tuple[str, str]) -> None:
    world = settled(load("full"))
    down = broken(world, key)
    first = decide(down)
    there = done(down, first)
    again = decide(replace(there, objects=dict(world.objects)))

    status, reason, message = condition(down, first, kind)
    assert (status, reason) == ("False", "NotAvailable")
    assert message.endswith("daemon: CrashLoopBackOff")
    assert dig(first.status, "phase") == ("Available" if "exporter" in key[1] else "Not available")
    assert events(first, kind) == [("Warning", "NotAvailable")]
    assert events(decide(there), kind) == []
    assert events(again, kind) == [("Normal", kind)]
    assert dig(again.status, "phase") == "Available"


@KINDS
def test_what_is_not_there_yet_or_cannot_be_read_is_said(kind: str, key: tuple[str, str]) -> None:
    world = settled(load("full"))
    lacking, unread = without(world, key), replace(world, unread=(key[0],))

    assert condition(lacking, decide(lacking), kind)[1:] == (
        "NotAvailable",
        f"{key[0]} {key[1]} has not been looked at yet",
    )
    assert condition(unread, decide(unread), kind)[:2] == ("Unknown", "Unknown")
    assert events(decide(unread), kind) == []


@KINDS
def test_maintenance_is_told_once(kind: str, key: tuple[str, str]) -> None:
    world = changed(settled(load("full")), lambda spec: spec.update(maintenance="downscale"))
    two = replace(world, objects={**world.objects, **worker(0, "gpu", "train"), **worker(1, "gpu", "train")})
    first = decide(two)
    one = done(without(two, ("Pod", "gpu-1")), first)

    assert key in world.objects
    assert condition(two, first, kind)[:2] == ("False", "Maintenance")
    assert events(first, kind) == [("Normal", "Maintenance")]
    assert events(first, "CommonAvailable") == [("Normal", "Maintenance")]
    assert "1 workers" in condition(one, decide(one), "CommonAvailable")[2]
    assert decide(one).notices == ()


def test_what_is_not_asked_for_is_no_trouble() -> None:
    world = settled(load("minimal"))

    for kind in ("AccountingAvailable", "RestAvailable", "ExporterAvailable"):
        assert condition(world, decide(world), kind)[:2] == ("False", "NotEnabled")
    assert dig(world.cluster, "status", "phase") == "Available"


def test_the_jail_has_one_too() -> None:
    world = load("full")
    first = decide(world)
    filled = done(world, first)

    assert condition(world, first, "JailPopulated")[:2] == ("False", "Populating")
    assert events(first, "JailPopulated") == [("Normal", "Populating")]
    assert events(decide(filled), "JailPopulated") == [("Normal", "JailPopulated")]


def test_every_component_that_runs_has_a_condition() -> None:
    world = settled(load("full"))
    kinds = {row["type"] for row in dig(world.cluster, "status", "conditions")}
    run = {name for kind, name in world.objects if kind in ("StatefulSet", "Deployment")}

    assert run == {name for _, name in COMPONENTS.values()}
    assert set(COMPONENTS) <= kinds
    assert {"JailPopulated", "ConfigurationValid", "ConfigurationApplied", "VolumesSized"} <= kinds
