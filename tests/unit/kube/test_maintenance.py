"""Every mode of `spec.maintenance`: who goes down, after whom, and what becomes of the jail's Job."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
from tests.golden.kube.worlds import SETTINGS, load, settled

from npa.reconcile import maintenance, slurmcluster
from npa.reconcile.decision import Decision
from npa.reconcile.world import World
from npa.render.kube import names
from npa.render.objects import dig, name_of

MODES = {
    "none": False,
    "skipPopulateJail": False,
    "downscale": True,
    "downscaleAndDeletePopulateJail": True,
    "downscaleAndOverwritePopulateJail": True,
}
both = pytest.mark.parametrize(("mode", "down"), MODES.items(), ids=MODES)


def in_mode(mode: str) -> World:
    """Return a cluster at rest, of which somebody asks for a mode now."""
    world = settled(load("full"))
    cluster = copy.deepcopy(dict(world.cluster or {}))
    cluster["spec"]["maintenance"] = mode
    return replace(world, cluster=cluster)


def with_pod(world: World, name: str, component: names.Component) -> World:
    pod = {"kind": "Pod", "metadata": {"name": name, "labels": names.labels("train", component)}}
    return replace(world, objects={**world.objects, ("Pod", name): pod})


def scaled(world: World) -> dict[str, int]:
    """Return the workloads whose count of pods is written, and the count."""
    decision: Decision = slurmcluster.decide(world, SETTINGS)
    workloads = [each for each in decision.apply if each["kind"] in ("StatefulSet", "Deployment")]
    return {name_of(each): dig(each, "spec", "replicas") for each in workloads}


@both
def test_all_workers_leave_in_those_that_take_a_cluster_down(mode: str, down: bool) -> None:
    world = in_mode(mode)
    nodeset = {"kind": "NodeSet", "metadata": {"name": "gpu"}}

    assert maintenance.leaving(world.cluster or {}, nodeset) == (f"maintenance: {mode}" if down else "")


@both
def test_the_rest_goes_when_no_worker_is_left(mode: str, down: bool) -> None:
    world = in_mode(mode)
    every = {f"train-{each}": 0 for each in ("controller", "login", "rest", "accounting", "slurm-exporter")}

    assert scaled(with_pod(world, "gpu-0", "worker")) == {}
    assert scaled(world) == (every if down else {})


@pytest.mark.parametrize(
    ("mode", "deleted"),
    [
        pytest.param("none", False),
        pytest.param("skipPopulateJail", False),
        pytest.param("downscale", False),
        pytest.param("downscaleAndDeletePopulateJail", True),
        pytest.param("downscaleAndOverwritePopulateJail", True),
    ],
)
def test_the_job_that_fills_the_jail_is_another_one_afterwards_where_the_mode_says_so(
    mode: str, deleted: bool
) -> None:
    decision = slurmcluster.decide(in_mode(mode), SETTINGS)

    assert [each.name for each in decision.delete] == (["train-populate-jail"] if deleted else [])


def test_claims_and_keys_stay_in_every_mode() -> None:
    gone = [each.kind.kind for mode in MODES for each in slurmcluster.decide(in_mode(mode), SETTINGS).delete]

    assert set(gone) <= {"Job"}
