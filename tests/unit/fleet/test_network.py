"""The journal of a project's network, killed after each write of its own and of the provider's."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.fleet import FakeNetworks, Killed, Life, World, outside

from npa.errors import RefusedError
from npa.fleet import network
from npa.fleet.network import Network
from npa.fleet.store import Store

PROJECT = "project-1"
MAKING = range(1, 6)  # claimed, network, its id, subnet, ready
DELETING = range(1, 5)  # marked, subnet, network, forgotten


def subnet(base: Path, world: World, life: Life) -> str:
    store = outside(base, world, life).store("lab")
    provider = FakeNetworks(world, life)
    return network.subnet("team", PROJECT, "lab", store.network("team"), provider, store.save_network)


def delete(base: Path, world: World, life: Life) -> None:
    store = outside(base, world, life).store("lab")
    for each in store.networks():
        network.delete(each, FakeNetworks(world, life), store.save_network, store.forget_network)


def test_it_is_as_many_writes_as_are_tried_here(tmp_path: Path) -> None:
    world, making, deleting = World(), Life(), Life()
    subnet(tmp_path, world, making)
    delete(tmp_path, world, deleting)

    assert (making.done, deleting.done) == (max(MAKING), max(DELETING))


@pytest.mark.parametrize("writes", MAKING)
def test_a_killed_making_is_gone_on_with(tmp_path: Path, writes: int) -> None:
    world = World()
    with pytest.raises(Killed):
        subnet(tmp_path, world, Life(writes))

    found = subnet(tmp_path, world, Life())

    assert list(world.subnets) == [found]
    assert len(world.networks) == 1
    assert subnet(tmp_path, world, Life()) == found


@pytest.mark.parametrize("writes", MAKING)
def test_a_killed_making_is_deleted(tmp_path: Path, writes: int) -> None:
    world = World()
    with pytest.raises(Killed):
        subnet(tmp_path, world, Life(writes))
    delete(tmp_path, world, Life())

    assert (world.networks, world.subnets) == ({}, {})
    assert Store("lab", tmp_path).networks() == ()


@pytest.mark.parametrize("writes", DELETING)
def test_a_killed_deleting_is_gone_on_with_or_made_anew(tmp_path: Path, writes: int) -> None:
    world = World()
    subnet(tmp_path, world, Life())
    with pytest.raises(Killed):
        delete(tmp_path, world, Life(writes))
    found = subnet(tmp_path, world, Life())
    assert list(world.subnets) == [found]

    with pytest.raises(Killed):
        delete(tmp_path, world, Life(writes))
    delete(tmp_path, world, Life())
    assert (world.networks, world.subnets) == ({}, {})


def test_a_subnet_that_is_there_is_used_and_stays_somebody_else_s(tmp_path: Path) -> None:
    world = World(subnets={"s-2": (PROJECT, "mine"), "s-3": (PROJECT, "default-subnet")})

    assert subnet(tmp_path, world, Life()) == "s-3"
    assert Store("lab", tmp_path).networks() == ()


def test_a_network_of_our_name_that_nobody_wrote_down_is_not_ours(tmp_path: Path) -> None:
    world = World(networks={"n-1": (PROJECT, "lab-team-net")})

    with pytest.raises(RefusedError, match="has not written down"):
        subnet(tmp_path, world, Life())
    assert list(world.networks) == ["n-1"]


def test_two_networks_of_one_name_are_not_guessed_between(tmp_path: Path) -> None:
    world = World(networks={"n-1": (PROJECT, "lab-team-net"), "n-2": (PROJECT, "lab-team-net")})
    begun = Network("team", PROJECT, "lab-team-net", "making")
    Store("lab", tmp_path).save_network(begun)

    with pytest.raises(RefusedError, match="n-1, n-2"):
        subnet(tmp_path, world, Life())


def test_what_is_written_is_what_is_read() -> None:
    made = Network("team", PROJECT, "lab-team-net", "ready", "n-1", "s-1")

    assert network.decode(network.encode(made), "x") == made
    for damaged in ({}, {**network.encode(made), "phase": "?"}, {**network.encode(made), "more": "1"}):
        with pytest.raises(RefusedError):
            network.decode(damaged, "x")
