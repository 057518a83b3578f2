"""A run that is killed right after each of its writes: the next agrees with reality."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.fakes.fleet import Killed, Life, World, fleet, outside

from npa.api.identity import Identity
from npa.fleet import plan, verbs
from npa.fleet.backends import Options
from npa.fleet.member import Fleet
from npa.fleet.outside import Outside
from npa.fleet.select import Selection

ALL, OPTIONS = Selection(), Options()
NAMES = ("alpha", "bravo")
WRITES = range(1, 9)  # each cluster: claimed, begun, made, recorded
REMOVALS = range(1, 7)  # each cluster: marked, ended, forgotten


def deploy(lab: Fleet, given: Outside) -> dict[str, str]:
    run = verbs.deploy(plan.deploy(lab, ALL, OPTIONS, given), OPTIONS, given)
    return {each.claim.cluster: each.status for each in run.result().outcomes}


def destroy(given: Outside) -> dict[str, str]:
    run = verbs.destroy(plan.destroy("lab", ALL, OPTIONS, given), OPTIONS, given)
    return {each.claim.cluster: each.status for each in run.result().outcomes}


def statuses(given: Outside, lab: Fleet) -> dict[str, str]:
    return {each.claim.cluster: each.status for each in verbs.status("lab", ALL, given, lab.members).outcomes}


def expect(names: Sequence[str], status: str) -> dict[str, str]:
    return dict.fromkeys(names, status)


def test_a_run_makes_so_many_writes_as_are_tried_here(tmp_path: Path) -> None:
    world, life = World(), Life()
    deploy(fleet(*NAMES), outside(tmp_path, world, life))
    assert life.done == max(WRITES)

    ending = Life()
    destroy(outside(tmp_path, world, ending))
    assert ending.done == max(REMOVALS)


@pytest.mark.parametrize("writes", WRITES)
def test_a_killed_deploy_is_gone_on_with(tmp_path: Path, writes: int) -> None:
    world, lab = World(), fleet(*NAMES)
    with pytest.raises(Killed):
        deploy(lab, outside(tmp_path, world, Life(writes)))
    kept = {name: found for name, found in world.clusters.items() if found.value}
    after = outside(tmp_path, world)

    recorded = {each.claim.cluster for each in after.store("lab").records()[0]}
    assert set(world.clusters) <= recorded, "nothing is there that is not written down"

    assert deploy(lab, after) == expect(NAMES, "healthy")
    assert {name: world.clusters[name] for name in kept} == kept, "what was whole is not made again"
    assert statuses(after, lab) == expect(NAMES, "healthy")


@pytest.mark.parametrize("writes", WRITES)
def test_a_killed_deploy_is_destroyed(tmp_path: Path, writes: int) -> None:
    world, lab = World(), fleet(*NAMES)
    with pytest.raises(Killed):
        deploy(lab, outside(tmp_path, world, Life(writes)))
    after = outside(tmp_path, world)
    destroy(after)

    assert world.clusters == {}
    assert not after.store("lab").exists()


@pytest.mark.parametrize("writes", REMOVALS)
def test_a_killed_destroy_is_gone_on_with(tmp_path: Path, writes: int) -> None:
    world, lab = World(), fleet(*NAMES)
    deploy(lab, outside(tmp_path, world))
    with pytest.raises(Killed):
        destroy(outside(tmp_path, world, Life(writes)))
    after = outside(tmp_path, world)
    destroy(after)

    assert world.clusters == {}
    assert not after.store("lab").exists()


@pytest.mark.parametrize("writes", REMOVALS)
def test_a_killed_destroy_is_deployed_over(tmp_path: Path, writes: int) -> None:
    world, lab = World(), fleet(*NAMES)
    deploy(lab, outside(tmp_path, world))
    with pytest.raises(Killed):
        destroy(outside(tmp_path, world, Life(writes)))

    assert deploy(lab, outside(tmp_path, world)) == expect(NAMES, "healthy")


@pytest.mark.parametrize("writes", WRITES)
def test_a_stranger_s_cluster_is_never_taken_for_what_a_killed_run_left(tmp_path: Path, writes: int) -> None:
    world, lab = World(), fleet(*NAMES)
    with pytest.raises(Killed):
        deploy(lab, outside(tmp_path, world, Life(writes)))
    after = outside(tmp_path, world)
    ours = {each.claim.cluster for each in after.store("lab").records()[0] if each.identity}
    for name in NAMES:
        world.clusters[name] = Identity(f"another-{name}", "2020-01-01T00:00:00+00:00")

    refused = plan.deploy(lab, ALL, OPTIONS, after)
    assert len(refused.lacks) == len(NAMES)
    assert all(each.hint for each in refused.lacks)

    if ours == set(NAMES):  # both were recorded: ours are gone, and the others are left alone
        assert destroy(after) == expect(NAMES, "absent")
        assert set(world.clusters) == set(NAMES)


def remote() -> Fleet:
    return fleet(*NAMES, target="nebius", tenant_id="tenant-1", region="eu-north1", project_id="project-1")


@pytest.mark.parametrize("writes", range(1, 14))
def test_a_network_is_made_once_and_deleted_when_unused(tmp_path: Path, writes: int) -> None:
    world = World()
    with pytest.raises(Killed):
        deploy(remote(), outside(tmp_path, world, Life(writes)))
    after = outside(tmp_path, world)

    assert deploy(remote(), after) == expect(NAMES, "healthy")
    assert (len(world.networks), len(world.subnets)) == (1, 1)

    destroy(after)

    assert (world.networks, world.subnets, world.clusters) == ({}, {}, {})
    assert not after.store("lab").exists()


def test_a_network_stays_while_a_cluster_is_in_it(tmp_path: Path) -> None:
    world = World()
    given = outside(tmp_path, world)
    deploy(remote(), given)
    shown = plan.destroy("lab", Selection(clusters=("alpha",)), OPTIONS, given)
    verbs.destroy(shown, OPTIONS, given).result()

    assert len(world.networks) == 1


@pytest.mark.parametrize("writes", range(1, 11))
def test_a_killed_destroy_leaves_no_network(tmp_path: Path, writes: int) -> None:
    world = World()
    deploy(remote(), outside(tmp_path, world))
    with pytest.raises(Killed):
        destroy(outside(tmp_path, world, Life(writes)))
    after = outside(tmp_path, world)
    destroy(after)

    assert (world.networks, world.subnets, world.clusters) == ({}, {}, {})
    assert not after.store("lab").exists()
