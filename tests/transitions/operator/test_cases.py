"""What schedules, users and others have found, each as a case of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from tests.transitions.operator import mutants
from tests.transitions.operator.process import Decide
from tests.transitions.operator.schedule import CONTROLLERS, Simulation, node_set

from npa.reconcile import maintenance
from npa.render.objects import dig, name_of


def settled(replicas: int = 2, decide: Decide | None = None, **more: Any) -> Simulation:
    """Return a cluster with one set of workers, all of which take jobs."""
    controllers = {**CONTROLLERS, "nodeset": decide} if decide else CONTROLLERS
    simulation = Simulation(1, controllers)
    simulation.api.create(node_set("cpu", replicas, **more))
    until(simulation, lambda: len(idle(simulation)) == replicas)
    return simulation


def until(simulation: Simulation, holds: Callable[[], bool], looks: int = 60) -> None:
    for _ in range(looks):
        if holds():
            return
        simulation.wait(5.0)
        simulation.round()
    raise AssertionError("it does not come to that")


def idle(simulation: Simulation) -> list[str]:
    nodes = simulation.slurm.nodes.values()
    return [each.name for each in nodes if not each.down and not each.flags & {"DRAIN", "POWERED_DOWN"}]


def ask(simulation: Simulation, **spec: Any) -> None:
    simulation.api.edit("NodeSet", "cpu", lambda found: found["spec"].update(spec))


def use(simulation: Simulation, name: str, lasts: float = 1e6) -> None:
    """Have a job run on a worker."""
    simulation.slurm.submit(1, lasts, (name,))
    simulation.wait(0.1)
    assert simulation.slurm.busy(name)


def pods(simulation: Simulation) -> list[str]:
    return [name_of(pod) for pod in simulation.api.of("Pod")]


def tag(simulation: Simulation, name: str) -> str:
    """Return the tag of the image that a worker's pod runs."""
    containers = dig(simulation.api.get("Pod", name), "spec", "containers") or [{}]
    return str(containers[0].get("image", "")).rpartition(":")[2]


@pytest.mark.parametrize(
    ("strategy", "asked", "ended"),
    [
        pytest.param("rollingUpdate", False, False, id="rolling update"),
        pytest.param("rollingUpdate", True, True, id="rolling update that ends jobs"),
        pytest.param("slurmAwareRollingUpdate", False, False, id="Slurm-aware"),
        pytest.param("slurmAwareRollingUpdate", True, False, id="Slurm-aware, whatever else is asked"),
    ],
)
def test_an_update_ends_jobs_only_where_both_strategy_and_annotation_say_so(
    strategy: str, asked: bool, ended: bool
) -> None:
    simulation = settled(updateStrategy=strategy)
    use(simulation, "cpu-0", lasts=100.0)
    if asked:
        annotations = {maintenance.END_JOBS: "true"}
        simulation.api.edit("NodeSet", "cpu", lambda found: found["metadata"].update(annotations=annotations))
    slurmd = dig(simulation.api.get("NodeSet", "cpu"), "spec", "slurmd")
    ask(simulation, slurmd={**slurmd, "image": {**slurmd["image"], "tag": "2"}})
    until(simulation, lambda: all(tag(simulation, each) == "2" for each in ("cpu-0", "cpu-1")))

    assert simulation.broken.found == (["a busy worker was removed: cpu-0"] if ended else [])


@pytest.mark.parametrize(
    ("decide", "broken"),
    [
        pytest.param(None, [], id="as it is"),
        pytest.param(mutants.asks_only_once, ["a busy worker was removed: cpu-1"], id="planted bug"),
    ],
)
def test_a_node_that_a_person_gives_back_right_before_it_goes_stays(
    decide: Decide | None, broken: list[str]
) -> None:
    simulation = settled(decide=decide)
    ask(simulation, replicas=1)
    for _ in range(2):  # it is announced, and drained
        simulation.operator.poll()
        simulation.operator.look("nodeset", "cpu")
    simulation.operator.poll()
    simulation.slurm.resume("cpu-1")
    use(simulation, "cpu-1")
    simulation.operator.look("nodeset", "cpu")

    assert simulation.broken.found == broken


def test_a_smaller_set_waits_for_the_jobs_of_those_that_leave() -> None:
    """C59: from the top, and a busy one last."""
    simulation = settled(8)
    use(simulation, "cpu-6", lasts=300.0)
    ask(simulation, replicas=5)
    until(simulation, lambda: len(pods(simulation)) == 6)

    assert pods(simulation) == [f"cpu-{at}" for at in (0, 1, 2, 3, 4, 6)]
    assert "DRAIN" in simulation.slurm.nodes["cpu-6"].flags

    until(simulation, lambda: len(simulation.slurm.nodes) == 5)

    assert pods(simulation) == [f"cpu-{at}" for at in range(5)]


def test_growing_again_gives_back_only_what_was_drained_for_shrinking() -> None:
    simulation = settled(8)
    for name in ("cpu-5", "cpu-6", "cpu-7"):
        use(simulation, name)
    simulation.slurm.drain("cpu-7", "rack move", "alice")
    ask(simulation, replicas=5)
    until(simulation, lambda: "DRAIN" in simulation.slurm.nodes["cpu-6"].flags)
    ask(simulation, replicas=8)
    until(simulation, lambda: "DRAIN" not in simulation.slurm.nodes["cpu-6"].flags)

    assert simulation.slurm.nodes["cpu-7"].reason == "rack move"
    assert len(pods(simulation)) == 8


def test_what_is_about_to_happen_is_in_the_status_before_it_does() -> None:
    simulation = settled(3)
    ask(simulation, replicas=1)
    simulation.operator.poll()
    simulation.operator.look("nodeset", "cpu")

    plan = dig(simulation.api.get("NodeSet", "cpu"), "status", "plan")
    assert plan == [{"step": "remove", "nodes": "cpu-[1-2]", "reason": "1 workers are asked for"}]
    assert not any("DRAIN" in each.flags for each in simulation.slurm.nodes.values())


def test_a_rollout_replaces_within_its_budget_and_gives_every_worker_back() -> None:
    simulation = settled(4, maxUnavailable=1)
    image = {"repository": "slurm", "tag": "2"}
    slurmd = dig(simulation.api.get("NodeSet", "cpu"), "spec", "slurmd")
    ask(simulation, slurmd={**slurmd, "image": image})
    fewest = 4
    for _ in range(120):
        simulation.wait(2.0)
        simulation.round()
        fewest = min(fewest, len(idle(simulation)))

    images = {dig(pod, "spec", "containers")[0]["image"] for pod in simulation.api.of("Pod")}
    assert (images, fewest, len(idle(simulation))) == ({"slurm:2"}, 3, 4)


def test_a_node_that_slurm_marked_down_while_its_pod_was_replaced_is_given_back() -> None:
    """C52: our own drain ends once the replacement is ready."""
    simulation = settled(1)
    node = simulation.slurm.nodes["cpu-0"]
    node.flags |= {"DRAIN", "NOT_RESPONDING"}
    node.down, node.reason, node.user = True, "npa: worker is replaced : Not responding", "root"
    until(simulation, lambda: idle(simulation) == ["cpu-0"])


def test_a_worker_that_a_person_drained_is_neither_replaced_nor_removed() -> None:
    simulation = settled(2)
    simulation.slurm.drain("cpu-1", "looking into it", "alice")
    ask(simulation, replicas=1)
    for _ in range(30):
        simulation.wait(5.0)
        simulation.round()

    status = dig(simulation.api.get("NodeSet", "cpu"), "status")
    progressing = next(row for row in status["conditions"] if row["type"] == "Progressing")
    assert pods(simulation) == ["cpu-0", "cpu-1"]
    assert progressing["message"] == "cpu-1: alice drained it: looking into it"


def test_workers_of_a_deleted_set_end_their_jobs_first() -> None:
    simulation = settled(2)
    use(simulation, "cpu-0", lasts=200.0)
    simulation.api.delete("NodeSet", "cpu")
    until(simulation, lambda: pods(simulation) == ["cpu-0"])

    assert simulation.slurm.busy("cpu-0")

    until(simulation, lambda: not simulation.slurm.nodes)

    assert (pods(simulation), simulation.broken.found) == ([], [])
    assert simulation.api.of("PersistentVolumeClaim") == []
    assert simulation.api.of("PodDisruptionBudget") == []


def test_a_pod_that_never_registered_goes_with_its_set() -> None:
    simulation = settled(1)
    simulation.slurm.up = False
    ask(simulation, replicas=2)
    for _ in range(10):
        simulation.wait(5.0)
        simulation.operator.look("nodeset", "cpu")
    simulation.api.delete("NodeSet", "cpu")
    simulation.slurm.up = True
    until(simulation, lambda: not pods(simulation))


def test_maintenance_takes_workers_down_after_their_jobs_and_keeps_their_claims() -> None:
    simulation = settled(2)
    use(simulation, "cpu-1", lasts=100.0)
    simulation.api.edit("SlurmCluster", "slurm1", lambda found: found["spec"].update(maintenance="downscale"))
    until(simulation, lambda: pods(simulation) == ["cpu-1"])
    until(simulation, lambda: not pods(simulation))

    assert len(simulation.api.of("PersistentVolumeClaim")) == 2
    assert simulation.broken.found == []


def test_jobs_of_whoever_leaves_end_where_somebody_asked_for_it() -> None:
    simulation = settled(2)
    use(simulation, "cpu-1")

    def forced(found: dict[str, Any]) -> None:
        found["metadata"]["annotations"] = {"slurm.nebius.ai/end-jobs": "true"}
        found["spec"]["replicas"] = 1

    simulation.api.edit("NodeSet", "cpu", forced)
    until(simulation, lambda: pods(simulation) == ["cpu-0"])


def test_a_worker_of_a_lost_machine_is_made_anew_elsewhere() -> None:
    simulation = settled(2)
    simulation.machines.lose_machine()
    until(simulation, lambda: len(idle(simulation)) == 2 and len(pods(simulation)) == 2)
    until(
        simulation,
        lambda: (
            {dig(pod, "spec", "nodeName") for pod in simulation.api.of("Pod")}
            <= {name_of(each) for each in simulation.api.of("Node")}
        ),
    )


def test_a_failing_worker_is_tried_again_later_and_later() -> None:
    simulation = settled(1)
    simulation.machines.failing.add("cpu-0")
    simulation.machines.kill("cpu-0")
    for _ in range(300):
        simulation.wait(1.0)
        simulation.round()

    times = simulation.machines.made["cpu-0"][1:]
    waits = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert len(times) <= 6
    assert waits == sorted(waits)


def test_left_out_ordinals_are_replaced_by_others() -> None:
    simulation = settled(3)

    def change(found: dict[str, Any]) -> None:
        found["metadata"]["annotations"] = {"slurm.nebius.ai/reserve-ordinals": "1"}

    simulation.api.edit("NodeSet", "cpu", change)
    until(simulation, lambda: pods(simulation) == ["cpu-0", "cpu-2", "cpu-3"])


def test_slurm_that_answers_no_more_takes_nobody_away() -> None:
    simulation = settled(3)
    simulation.slurm.up = False
    ask(simulation, replicas=1)
    for _ in range(40):
        simulation.wait(5.0)
        simulation.round()

    assert len(pods(simulation)) == 3


def test_time_alone_is_waited_for_without_haste() -> None:
    simulation = settled(1)
    simulation.machines.kill("cpu-0")
    until(simulation, lambda: len(simulation.machines.made["cpu-0"]) == 2 and len(idle(simulation)) == 1)
    simulation.wait(30.0)
    simulation.operator.poll()
    decision = simulation.operator.look("nodeset", "cpu")

    assert decision.again_in is not None
    assert decision.again_in > 60.0


def test_more_than_all_may_be_out() -> None:
    assert len(pods(settled(3, maxUnavailable="150%"))) == 3


def test_c53_workers_of_a_cordoned_machine_move_when_their_jobs_have_ended() -> None:
    simulation = settled(3)
    pod = simulation.api.get("Pod", "cpu-1")
    machine = dig(pod, "spec", "nodeName")
    use(simulation, "cpu-1", lasts=120.0)
    simulation.api.edit("Node", machine, lambda found: found["spec"].update(unschedulable=True))
    for _ in range(4):
        simulation.wait(5.0)
        simulation.round()

    assert simulation.slurm.busy("cpu-1")
    assert "DRAIN" in simulation.slurm.nodes["cpu-1"].flags

    until(simulation, lambda: not simulation.slurm.busy("cpu-1"))
    until(simulation, lambda: len(idle(simulation)) == 3)

    machines = {dig(each, "spec", "nodeName") for each in simulation.api.of("Pod")}
    assert machine not in machines
    assert simulation.broken.found == []
