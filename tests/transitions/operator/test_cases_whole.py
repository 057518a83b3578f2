"""What schedules of the whole operator have found, each as a case of its own."""

from __future__ import annotations

from tests.transitions.operator.process import CONFIG
from tests.transitions.operator.schedule import node_set
from tests.transitions.operator.test_cases import ask, idle, until, use
from tests.transitions.operator.whole import Whole


def delivered(simulation: Whole) -> list[str]:
    """Return the nodes that the files name which slurmctld is to take."""
    held = simulation.api.get("ConfigMap", CONFIG)
    assert held is not None
    return simulation.operator.named(held)[0]


def test_a_node_that_is_given_back_before_files_without_it_are_taken_outlives_a_start_of_slurmctld() -> None:
    simulation = Whole(1)
    simulation.api.create(node_set("cpu", 2))
    until(simulation, lambda: len(idle(simulation)) == 2)
    ask(simulation, replicas=1)
    until(simulation, lambda: "cpu-1" not in delivered(simulation))
    simulation.slurm.resume("cpu-1")
    use(simulation, "cpu-1")
    simulation.kill_controller()
    for _ in range(4):
        simulation.wait(1.0)
        simulation.round()

    assert simulation.slurm.up
    assert simulation.slurm.busy("cpu-1")
    assert "cpu-1" in delivered(simulation)
    assert simulation.broken.found == []
