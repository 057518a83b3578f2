from __future__ import annotations

from dataclasses import replace

import pytest

from npa.operator.keys import Key
from npa.operator.settled import LONGEST, Settled
from npa.reconcile.decision import Decision, Notice
from npa.reconcile.world import SlurmView, World
from npa.render.objects import NODE, POD, SLURM_CLUSTER
from npa.slurm.lookup import Found, Unknown

KEY = Key("c", "ns", "n")
WORLD = World(
    SLURM_CLUSTER.object("n", "ns"),
    objects={("Pod", "p"): POD.object("p", "ns")},
    nodes={"k": NODE.object("k")},
    slurm=SlurmView(digest=Found("d"), read_at=99.0),
    now=100.0,
)


NOTHING = Decision(again_in=10.0)


def recalled(world: World, decision: Decision = NOTHING) -> Decision | None:
    settled = Settled()
    settled.note(KEY, WORLD, decision)
    return settled.recall(KEY, world)


def test_the_same_world_needs_no_decision_until_time_matters() -> None:
    assert recalled(replace(WORLD, now=104.0)) == Decision(again_in=6.0)
    assert recalled(replace(WORLD, now=110.0)) is None


def test_a_newer_answer_of_slurm_that_says_the_same_is_the_same() -> None:
    newer = replace(WORLD, slurm=replace(WORLD.slurm, read_at=103.0))

    assert recalled(newer) is not None


def test_nothing_is_believed_for_ever() -> None:
    assert recalled(replace(WORLD, now=100.0 + LONGEST), Decision()) is None


@pytest.mark.parametrize(
    "world",
    [
        pytest.param(replace(WORLD, cluster=SLURM_CLUSTER.object("n", "ns")), id="cluster"),
        pytest.param(replace(WORLD, nodesets=(POD.object("s", "ns"),)), id="nodeset"),
        pytest.param(replace(WORLD, objects={("Pod", "p"): POD.object("p", "ns")}), id="pod"),
        pytest.param(replace(WORLD, objects={}), id="pod-gone"),
        pytest.param(replace(WORLD, nodes={}), id="node-gone"),
        pytest.param(replace(WORLD, unread=("Pod",)), id="unread"),
        pytest.param(replace(WORLD, absent_apis=frozenset({"x"})), id="api"),
        pytest.param(replace(WORLD, slurm=SlurmView(digest=Unknown("silent"))), id="slurm"),
    ],
)
def test_whatever_is_another_is_decided_upon(world: World) -> None:
    assert recalled(world) is None


def test_only_doing_nothing_is_remembered() -> None:
    assert recalled(WORLD, Decision(notices=(Notice("Normal", "R", "m"),))) is None
