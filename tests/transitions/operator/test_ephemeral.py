"""Workers that are there only while Slurm wants them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.transitions.operator import mutants
from tests.transitions.operator.process import Decide, Faults
from tests.transitions.operator.schedule import CONTROLLERS, Simulation, node_set
from tests.transitions.operator.test_cases import ask, idle, pods, settled, until
from tests.transitions.operator.test_schedules import BATCH, FIRST, MANY

from npa.reconcile import powerstate
from npa.reconcile.decision import PowerDown
from npa.render.objects import dig
from npa.slurm.replies import SlurmNodeReply
from npa.slurm.states import NodeState


def elastic(replicas: int, initial: int = 0) -> Simulation:
    simulation = Simulation(1)
    more = {"ephemeralNodes": True, "initialNumberEphemeralNodes": initial}
    simulation.api.create(node_set("cpu", replicas, **more))
    until(simulation, lambda: len(simulation.slurm.nodes) == replicas and len(idle(simulation)) == initial)
    return simulation


# seconds for which workers may run for a job before one of them turns out not to start: a pod's start and
# end, and what the operator takes to see it
VAIN = 30.0


class Elastic(Simulation):
    """A set of ephemeral workers some of which never start, and jobs that want several at once."""

    def __init__(self, seed: int, controllers: Mapping[str, Decide] = CONTROLLERS) -> None:
        super().__init__(seed, controllers)
        self._vain: dict[str, float] = {}

    def add_set(self) -> None:
        more = {"ephemeralNodes": True, "initialNumberEphemeralNodes": self.rng.randint(0, 1)}
        self.api.create(node_set(self.rng.choice(["burst", "surge"]), self.rng.randint(2, 5), **more))

    def submit(self) -> None:
        self.slurm.submit(self.rng.randint(2, 5), self.rng.uniform(5, 60))

    def events(self) -> list[tuple[Callable[[Any], None], int]]:
        usual = [each for each in super().events() if each[0] not in _OTHERWISE]
        return [*usual, (Elastic.submit, 10), (Elastic.add_set, 2), (Simulation.fail_starts, 6)]

    def settle(self) -> None:
        """Wait in peace with those that still fail, and see who runs in vain; then let them start."""
        self.operator.faults, self.slurm.up = Faults(), not self.down
        self.machines.uncordon()
        for _ in range(int(4 * VAIN) if self.machines.failing else 0):
            self.wait(1.0)
            self.round()
            self._judge_together()
        super().settle()

    def _judge_together(self) -> None:
        """Look for workers that run for a job which cannot have all of its own."""
        raised: dict[int, set[str]] = {}
        for node in self.slurm.nodes.values():
            if not node.flags & {"POWERED_DOWN", "DRAIN"} and node.elastic:
                raised.setdefault(node.raised_for, set()).add(node.name)
        vain = {
            name
            for number, names in raised.items()
            if (job := self.slurm.jobs.get(number)) is not None
            and job.begun is None
            # what a person has drained waits for the person, and its job with it
            and not any("DRAIN" in self.slurm.nodes[each].flags for each in job.nodes)
            for name in names
            if names & self.machines.failing and self.machines.alive(name)
        }
        self._vain = {name: self._vain.get(name, self.api.now) for name in vain}
        for name, since in self._vain.items():
            if self.api.now - since > VAIN:
                self.broken.say(f"{name} runs for a job that does not get all of its workers")


_OTHERWISE = (
    *(Simulation.submit, Simulation.add_set, Simulation.fail_starts, Simulation.switch),
    # all may start at once, and as many as the jobs that wait want: whoever is not to start has not failed
    *(Simulation.change_limit, Simulation.scale),
)


def in_vain(seed: int, controllers: Mapping[str, Decide] = CONTROLLERS) -> list[str]:
    simulation = Elastic(seed, controllers)
    simulation.run(80)
    return [f"schedule {seed}: {each}" for each in simulation.broken.found]


def test_a_job_has_all_of_its_workers_or_none() -> None:
    assert [each for seed in range(8) for each in in_vain(seed)] == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FIRST, FIRST + MANY // 4, BATCH // 4))
def test_a_job_has_all_of_its_workers_or_none_on_many_schedules(first: int) -> None:
    assert [each for seed in range(first, first + BATCH // 4) for each in in_vain(seed)] == []


@pytest.mark.parametrize(
    ("controller", "decide"),
    [
        pytest.param("powerstate", mutants.returns_only_who_failed, id="returns only who failed"),
        pytest.param("nodeset", mutants.starts_who_waits_for_others, id="starts who waits for others"),
    ],
)
def test_workers_that_run_in_vain_are_seen(controller: str, decide: Decide) -> None:
    found = (each for seed in range(60) for each in in_vain(seed, {**CONTROLLERS, controller: decide}))

    assert any("does not get all of its workers" in each for each in found)


def active(simulation: Simulation) -> object:
    return dig(simulation.api.get("NodeSetPowerState", "cpu"), "spec", "activeNodes")


def test_the_first_workers_start_unasked_and_the_others_are_only_known() -> None:
    simulation = elastic(4, initial=2)

    assert (active(simulation), pods(simulation)) == ([0, 1], ["cpu-0", "cpu-1"])
    assert len(simulation.slurm.nodes) == 4


def test_a_job_brings_its_workers_and_they_go_when_nobody_needs_them() -> None:
    simulation = elastic(4)
    simulation.slurm.submit(3, lasts=20.0)
    until(simulation, lambda: any(job.begun for job in simulation.slurm.jobs.values()))

    assert active(simulation) == [0, 1, 2]

    until(simulation, lambda: not pods(simulation))

    assert active(simulation) == []
    assert simulation.broken.found == []


def test_a_job_of_which_one_worker_fails_to_start_keeps_none_and_tries_again() -> None:
    simulation = elastic(2)
    simulation.machines.failing.add("cpu-1")
    simulation.slurm.submit(2, lasts=20.0)
    told: list[PowerDown] = []
    for _ in range(60):
        simulation.wait(1.0)
        simulation.operator.poll()
        for key in simulation.operator.watched():
            told += [each for each in simulation.operator.look(*key).slurm if isinstance(each, PowerDown)]
        if told:
            break

    assert {each.node for each in told} == {"cpu-0", "cpu-1"}
    assert all(each.reason.startswith("npa: could not be started: ") for each in told)

    for _ in range(300):
        simulation.wait(1.0)
        simulation.round()

    assert len(simulation.machines.made["cpu-1"]) <= 8

    simulation.machines.failing.clear()
    until(simulation, lambda: any(job.begun for job in simulation.slurm.jobs.values()), looks=200)


def test_workers_that_did_not_register_in_time_go_back_to_their_pool() -> None:
    """C55, C57: Slurm and Kubernetes agree that they are off."""
    simulation = elastic(1)
    simulation.slurm.submit(1, lasts=20.0)
    simulation.wait(0.1)
    node = simulation.slurm.nodes["cpu-0"]
    node.flags = {"CLOUD", "POWERED_DOWN"}
    node.down, node.reason = True, "ResumeTimeout reached"
    simulation.slurm.jobs.clear()
    until(simulation, lambda: not node.down and "POWERED_DOWN" in node.flags)

    assert active(simulation) == []


def test_a_set_that_becomes_ephemeral_keeps_its_workers() -> None:
    """C59: whoever runs goes on."""
    simulation = settled(4)
    simulation.slurm.submit(4, lasts=60.0)
    simulation.wait(0.1)
    made = {name: len(times) for name, times in simulation.machines.made.items()}
    ask(simulation, ephemeralNodes=True, initialNumberEphemeralNodes=2)
    for _ in range(4):
        simulation.wait(5.0)
        simulation.round()

    assert active(simulation) == [0, 1, 2, 3]
    assert {name: len(times) for name, times in simulation.machines.made.items()} == made
    assert simulation.broken.found == []

    ask(simulation, ephemeralNodes=False)
    until(simulation, lambda: active(simulation) is None)
    for _ in range(4):
        simulation.wait(5.0)
        simulation.round()

    assert len(pods(simulation)) == 4


def test_without_an_answer_nobody_is_switched_off() -> None:
    """C58: what is not known is not off."""
    simulation = elastic(3, initial=3)
    simulation.slurm.up = False
    for _ in range(60):
        simulation.wait(5.0)
        simulation.round()

    assert (active(simulation), len(pods(simulation))) == ([0, 1, 2], 3)


@pytest.mark.parametrize(
    ("state", "alone", "with_others"),
    [
        pytest.param("IDLE+CLOUD+POWERING_UP", "power_down_force", "power_down_force", id="starting"),
        pytest.param("DOWN+CLOUD", "power_down_force", "power_down_force", id="late"),
        pytest.param("ALLOCATED+CLOUD", "", "power_down", id="at work"),
        pytest.param("IDLE+CLOUD+POWERED_DOWN", "", "", id="off"),
        pytest.param("DOWN+CLOUD+DRAIN", "", "", id="drained"),
        pytest.param("FUTURE_STATE", "", "", id="nobody knows how"),
    ],
)
def test_only_who_has_not_started_goes_back_before_its_jobs_end(
    state: str, alone: str, with_others: str
) -> None:
    node = SlurmNodeReply("n", NodeState.parse(state))

    assert powerstate.returns(node, PowerDown("n", "npa: x")) == alone
    assert powerstate.returns(node, PowerDown("n", "npa: x", with_others=True)) == with_others


def test_in_maintenance_nobody_starts_whatever_slurm_waits_for() -> None:
    simulation = elastic(2)
    simulation.api.create(node_set("held", 1))
    until(simulation, lambda: "held-0" in idle(simulation))
    simulation.slurm.drain("held-0", "looking into it", "alice")  # so slurmctld stays
    simulation.api.edit("SlurmCluster", "slurm1", lambda found: found["spec"].update(maintenance="downscale"))
    simulation.slurm.submit(2, lasts=20.0)
    for _ in range(20):
        simulation.wait(20.0)
        simulation.round()
    written = simulation.api.writes
    for _ in range(20):
        simulation.wait(20.0)
        simulation.round()

    assert (pods(simulation), simulation.api.writes) == (["held-0"], written)


def test_static_workers_beside_one_that_fails_stay_as_they_are() -> None:
    simulation = elastic(1)
    simulation.api.create(node_set("static", 1))
    until(simulation, lambda: "static-0" in simulation.slurm.nodes)
    simulation.machines.failing.add("cpu-0")
    simulation.slurm.nodes["static-0"].flags |= {"POWERING_UP"}
    simulation.slurm.nodes["static-0"].asked = simulation.api.now
    simulation.slurm.submit(2, lasts=20.0)
    told: set[str] = set()
    for _ in range(40):
        simulation.wait(1.0)
        simulation.operator.poll()
        for key in simulation.operator.watched():
            actions = simulation.operator.look(*key).slurm
            told |= {each.node for each in actions if isinstance(each, PowerDown)}

    assert told == {"cpu-0"}
