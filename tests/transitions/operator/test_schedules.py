"""Whatever happens in whatever order: the operator settles, is then quiet, and never ends work unasked."""

from __future__ import annotations

import os
from collections.abc import Mapping

import pytest
from tests.transitions.operator import whole
from tests.transitions.operator.mutants import MUTANTS
from tests.transitions.operator.process import Decide
from tests.transitions.operator.schedule import CONTROLLERS, Simulation

from npa.reconcile.decision import Decision
from npa.reconcile.settings import Settings
from npa.reconcile.world import World

FAST = 100
BATCH = 100
# how many schedules the slow suite goes through, and from which on
MANY = int(os.environ.get("NPA_SCHEDULES", "1000"))
FIRST = int(os.environ.get("NPA_FIRST_SCHEDULE", "100000"))


def broken(seed: int) -> list[str]:
    simulation = Simulation(seed)
    simulation.run()
    return [f"schedule {seed}: {each}" for each in simulation.broken.found]


def test_every_property_holds_on_some_schedules() -> None:
    """C52, C58, C62: crashes between any two writes, stale and refused ones, answers that are unknown."""
    assert [each for seed in range(FAST) for each in broken(seed)] == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FIRST, FIRST + MANY, BATCH))
def test_every_property_holds_on_many_schedules(first: int) -> None:
    last = min(first + BATCH, FIRST + MANY)

    assert [each for seed in range(first, last) for each in broken(seed)] == []


def broken_whole(seed: int, controllers: Mapping[str, Decide] = whole.REAL) -> list[str]:
    simulation = whole.Whole(seed, controllers)
    simulation.run()
    return [f"schedule {seed}: {each}" for each in simulation.broken.found]


def test_every_property_holds_with_the_whole_operator() -> None:
    assert [each for seed in range(4) for each in broken_whole(seed)] == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FIRST, FIRST + MANY // 10, BATCH // 10))
def test_every_property_holds_with_the_whole_operator_on_many_schedules(first: int) -> None:
    assert [each for seed in range(first, first + BATCH // 10) for each in broken_whole(seed)] == []


@pytest.mark.parametrize(
    ("decide", "says"),
    [
        pytest.param(whole.no_checker, "files that no checker has read", id="no checker"),
        pytest.param(whole.two_slurmctld, "two slurmctld may run", id="two slurmctld"),
    ],
)
def test_a_bug_in_the_control_plane_is_seen(decide: Decide, says: str) -> None:
    controllers = {**whole.REAL, "slurmcluster": decide}

    assert any(says in each for seed in range(60) for each in broken_whole(seed, controllers))


@pytest.mark.parametrize(
    ("decide", "controller", "says"), [pytest.param(*each, id=each[0].__name__) for each in MUTANTS]
)
def test_each_property_is_broken_by_its_planted_bug(decide: object, controller: str, says: str) -> None:
    assert any(says in each for seed in range(150) for each in _broken_by(seed, decide, controller))


def _broken_by(seed: int, decide: object, controller: str) -> list[str]:
    assert callable(decide)

    def mutant(world: World, name: str, settings: Settings) -> Decision:
        decision = decide(world, name, settings)
        assert isinstance(decision, Decision)
        return decision

    simulation = Simulation(seed, {**CONTROLLERS, controller: mutant})
    simulation.operator.checks = False  # nor does the program in slurmctld's pod look once more
    simulation.run()
    return simulation.broken.found
