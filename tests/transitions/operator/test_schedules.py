"""Whatever happens in whatever order: the operator settles, is then quiet, and never ends work unasked."""

from __future__ import annotations

import os

import pytest
from tests.transitions.operator.mutants import MUTANTS
from tests.transitions.operator.schedule import CONTROLLERS, Simulation

from npa.reconcile.decision import Decision
from npa.reconcile.settings import Settings
from npa.reconcile.world import World

FAST = 60
BATCH = 100
# how many schedules the slow suite goes through, and from which on
MANY = int(os.environ.get("NPA_SCHEDULES", "1000"))
FIRST = int(os.environ.get("NPA_FIRST_SCHEDULE", "100000"))


def broken(seed: int) -> list[str]:
    simulation = Simulation(seed)
    simulation.run()
    return [f"schedule {seed}: {each}" for each in simulation.broken.found]


def test_every_property_holds_on_some_schedules() -> None:
    assert [each for seed in range(FAST) for each in broken(seed)] == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FIRST, FIRST + MANY, BATCH))
def test_every_property_holds_on_many_schedules(first: int) -> None:
    last = min(first + BATCH, FIRST + MANY)

    assert [each for seed in range(first, last) for each in broken(seed)] == []


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
