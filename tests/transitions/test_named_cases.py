"""Reported mistakes of other systems, each with its number, tried on a local cluster that obeys its steps."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.transitions.simulator import apply, cluster, fresh, plan, pool, want, with_jobs

from npa.cluster.model import Cluster, Partition
from npa.health.answers import SlurmView
from npa.health.observation import SlurmNode
from npa.plan.model import JobRef, Options
from npa.render.local import power
from npa.render.local.steps import POWER
from npa.render.local.world import Running, World
from npa.slurm import reasons
from npa.slurm.states import NodeState

CPU = cluster(pool("cpu", 3))
FABRICS = cluster(
    replace(pool("gpu", 2, gpus=8), fabric="f1"), replace(pool("train", 2, gpus=8), fabric="f2")
)
TRAIN = JobRef("12", "alice", "train", "RUNNING", ("cpu-2",))


def verbs(asked: Cluster, world: World) -> list[str]:
    return [step.verb for step in plan(asked, world).steps]


def elastic(size: int) -> Cluster:
    return cluster(replace(pool("burst", size), ephemeral=True))


def powered(world: World, asked: Cluster) -> list[tuple[str, tuple[str, ...]]]:
    return [(step.verb, step.nodes) for step in plan(asked, world).steps if step.key.startswith(POWER)]


def up(asked: Cluster, **states: str) -> World:
    """Return a world in which every elastic node runs, in the states that slurmctld tells of some of them."""
    settled = replace(fresh(asked), agent=1)
    wanted = want(asked, settled)
    nodes = {
        node.name: Running(1, wanted.fingerprint(node), {"slurmd": 1})
        for node in wanted.nodes
        if node.name in asked.elastic
    }
    told = tuple(
        SlurmNode(name.replace("_", "-"), NodeState.parse(state), "") for name, state in states.items()
    )
    return replace(settled, nodes={**settled.nodes, **nodes}, slurm=SlurmView(told, ()))


def test_c37_another_topology_is_one_reconfigure() -> None:
    one = replace(FABRICS, pools=(FABRICS.pools[0], replace(FABRICS.pools[1], fabric="f1")))
    found = plan(one, fresh(FABRICS))

    assert [step.verb for step in found.steps].count("reconfigure") == 1
    assert not {"restart", "drain", "stop", "start"} & {step.verb for step in found.steps}


def test_c37_another_time_limit_of_a_partition_is_one_reconfigure() -> None:
    short = replace(CPU, partitions=(Partition("main", (), default=True, max_time_minutes=60),))

    assert verbs(short, fresh(CPU)) == ["write", "reconfigure", "wait"]


def test_c37_another_shape_of_nodes_drains_them_and_starts_them_anew() -> None:
    found = plan(cluster(pool("cpu", 3, cpus=8)), fresh(CPU)).steps
    order = [step.verb for step in found if step.nodes and step.nodes[0].startswith("cpu-")]

    assert order.index("drain") < order.index("stop") < order.index("start")


@pytest.mark.parametrize("asked", [CPU, FABRICS])
def test_c37_the_same_spec_with_its_parts_in_another_order_is_nothing(asked: Cluster) -> None:
    turned = replace(asked, pools=tuple(reversed(asked.pools)))

    assert verbs(turned, fresh(asked)) == []


def test_c55_a_node_whose_resume_timed_out_is_off_for_both_sides() -> None:
    asked = elastic(2)
    world = up(asked, burst_0="IDLE+CLOUD", burst_1="DOWN+CLOUD+POWERED_DOWN")

    assert powered(world, asked) == [("stop", ("burst-1",))]


def test_c55_a_pool_with_no_node_up_is_as_asked() -> None:
    asked = elastic(2)
    world = replace(
        up(asked, burst_0="IDLE+CLOUD+POWERED_DOWN", burst_1="IDLE+CLOUD+POWERED_DOWN"),
        nodes=fresh(asked).nodes,
    )

    assert verbs(asked, world) == []


@pytest.mark.parametrize("why", ["burst-0: No space left on device", "burst-0: Cannot allocate memory"])
def test_c57_only_what_failed_to_start_goes_back_to_its_pool(why: str) -> None:
    reason = power.could_not_start(why)
    view = SlurmView(
        (
            SlurmNode("burst-0", NodeState.parse("DOWN+CLOUD"), reason),
            SlurmNode("burst-1", NodeState.parse("ALLOCATED+CLOUD+POWERING_UP"), ""),
        ),
        (),
    )

    assert power.failed(elastic(2), view) == ("burst-0",)
    assert why in reason


@pytest.mark.parametrize("states", [{}, {"burst_0": "IDLE+CLOUD"}], ids=["empty", "one-missing"])
def test_c58_a_node_that_slurm_does_not_tell_of_is_left_alone(states: dict[str, str]) -> None:
    asked = elastic(2)

    assert powered(up(asked, **states), asked) == []


def test_c58_no_answer_at_all_changes_no_power() -> None:
    asked = elastic(2)

    assert powered(replace(up(asked), slurm=None), asked) == []


def test_c59_fewer_nodes_leave_from_the_top_and_a_busy_one_is_waited_for() -> None:
    two, world = cluster(pool("cpu", 2)), with_jobs(fresh(CPU), TRAIN)
    waiting = Options(wait_for_jobs=60.0)
    found = {step.verb: step for step in plan(two, world, waiting).steps if step.nodes == ("cpu-2",)}

    assert found["drain"].jobs == (TRAIN,)
    assert list(found).index("drain") < list(found).index("stop")
    assert not found["stop"].kills_jobs


def test_c59_scaling_back_up_resumes_what_was_drained_for_it() -> None:
    two, world = cluster(pool("cpu", 2)), fresh(CPU)
    drained = apply(
        want(two, world),
        world,
        tuple(step for step in plan(two, world).steps if step.verb == "drain"),
    )

    back = [(step.verb, step.nodes) for step in plan(CPU, drained).steps if step.verb != "wait"]

    assert back == [("resume", ("cpu-2",))]


def test_c59_a_drain_of_somebody_else_is_not_resumed_with_it() -> None:
    world = fresh(CPU)
    assert world.slurm is not None
    nodes = tuple(
        replace(node, state=NodeState.parse("IDLE+DRAIN"), reason="bad fan") if node.name == "cpu-2" else node
        for node in world.slurm.nodes
    )

    assert not reasons.ours("bad fan")
    assert verbs(CPU, replace(world, slurm=SlurmView(nodes, ()))) == []


def test_c59_a_pool_that_becomes_elastic_keeps_its_busy_nodes() -> None:
    found = plan(cluster(replace(pool("cpu", 3), ephemeral=True)), with_jobs(fresh(CPU), TRAIN))

    assert all(not step.kills_jobs for step in found.steps)
    assert [step.jobs for step in found.steps if step.verb == "stop" and "cpu-2" in step.nodes] == [(TRAIN,)]
