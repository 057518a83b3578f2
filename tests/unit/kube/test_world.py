"""What a World says of its own objects."""

from __future__ import annotations

from dataclasses import replace

from npa.reconcile.world import World
from npa.render.kube import names
from npa.render.objects import CLAIM, POD, Object, name_of


def pod(name: str, nodeset: str) -> tuple[tuple[str, str], Object]:
    made = POD.object(name, "ns")
    made["metadata"]["labels"] = {names.NODE_SET: nodeset} if nodeset else {}
    return ("Pod", name), made


WORLD = World(None, objects=dict([pod("b-1", "b"), pod("a-0", "a"), pod("b-0", "b"), pod("login-0", "")]))


def test_objects_of_a_kind_and_workers_of_a_set_come_by_name() -> None:
    assert [name_of(each) for each in WORLD.of_kind("Pod")] == ["a-0", "b-0", "b-1", "login-0"]
    assert [name_of(each) for each in WORLD.pods("b")] == ["b-0", "b-1"]
    assert (WORLD.pods("c"), WORLD.pods(""), WORLD.of_kind(CLAIM.kind)) == ((), (), ())


def test_another_world_remembers_nothing_of_the_one_that_it_was_made_of() -> None:
    WORLD.pods("b")
    other = replace(WORLD, objects=dict([pod("b-7", "b")]))

    assert [name_of(each) for each in other.pods("b")] == ["b-7"]
    assert other == World(None, objects=dict([pod("b-7", "b")]))
