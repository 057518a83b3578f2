"""Elastic nodes: what Slurm wishes is done, whatever was rung or missed; without an answer nothing is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.transitions.simulator import cluster, fresh, plan, pool, want

from npa.health.answers import SlurmView
from npa.health.observation import SlurmNode
from npa.plan.model import JobRef
from npa.render.local import power
from npa.render.local.steps import POWER
from npa.render.local.world import Running, World
from npa.slurm.states import NodeState

ELASTIC = cluster(pool("cpu", 1), replace(pool("burst", 3), ephemeral=True))


def world(**states: str) -> World:
    """Return a settled world in which elastic nodes are in these states (`burst_0="IDLE+POWERED_DOWN"`)."""
    settled = replace(fresh(ELASTIC), agent=1)
    assert settled.slurm is not None
    spelled = {name.replace("_", "-"): state for name, state in states.items()}
    nodes = tuple(
        replace(node, state=NodeState.parse(spelled.get(node.name, str(node.state))))
        for node in settled.slurm.nodes
    )
    return replace(settled, slurm=SlurmView(nodes, ()))


def off(**more: str) -> World:
    return world(**{**{f"burst_{i}": "IDLE+CLOUD+POWERED_DOWN" for i in range(3)}, **more})


def running(found: World, *names: str) -> World:
    """Return the world with these elastic nodes running as they should."""
    wanted = want(ELASTIC, found)
    more = {node.name: Running(1, wanted.fingerprint(node), {"slurmd": 1}) for node in wanted.nodes}
    return replace(found, nodes={**found.nodes, **{name: more[name] for name in names}})


def asked_for(found: World) -> list[tuple[str, tuple[str, ...]]]:
    return [(step.verb, step.nodes) for step in plan(ELASTIC, found).steps if step.key.startswith(POWER)]


def test_a_first_deploy_starts_the_agent_and_no_elastic_node() -> None:
    found = plan(ELASTIC, World(record=None, image_cached=True))

    assert "start:agent" in [step.key for step in found.steps]
    assert not [step for step in found.steps if set(step.nodes) & ELASTIC.elastic]


def test_a_cluster_whose_elastic_nodes_are_off_is_as_asked() -> None:
    assert plan(ELASTIC, off()).steps == ()


def test_all_nodes_of_a_job_come_up_in_one_step() -> None:
    found = off(burst_0="ALLOCATED+CLOUD+POWERING_UP", burst_2="ALLOCATED+CLOUD+POWERING_UP")

    assert asked_for(found) == [("start", ("burst-0", "burst-2"))]


@pytest.mark.parametrize("state", ["IDLE+CLOUD+POWERING_DOWN", "IDLE+CLOUD+POWERED_DOWN", "DOWN+CLOUD"])
def test_what_slurm_let_go_of_is_stopped(state: str) -> None:
    up = world(burst_0="IDLE+CLOUD", burst_1=state, burst_2="IDLE+CLOUD+POWERED_DOWN")
    stops = [nodes for verb, nodes in asked_for(running(up, "burst-0", "burst-1")) if verb == "stop"]

    assert stops == [("burst-1",)]


@pytest.mark.parametrize("state", ["IDLE+CLOUD", "MIXED+CLOUD", "ALLOCATED+CLOUD+POWER_DOWN"])
def test_a_node_that_runs_and_is_not_let_go_of_stays(state: str) -> None:
    up = off(burst_0=state)
    wanted = power.wanted(ELASTIC, up.slurm)

    assert wanted["burst-0"] is (state != "ALLOCATED+CLOUD+POWER_DOWN")


def test_without_slurms_answer_nothing_is_powered() -> None:
    up = world(burst_0="IDLE+CLOUD")

    assert asked_for(replace(running(up, "burst-0"), slurm=None)) == []


@pytest.mark.parametrize(
    ("reason", "returned"),
    [
        ("ResumeTimeout reached", True),
        (power.could_not_start("burst-0: disk full"), True),
        ("bad disk", False),
        ("", False),
    ],
)
def test_a_node_that_did_not_come_up_returns_to_its_pool(reason: str, returned: bool) -> None:
    view = SlurmView((SlurmNode("burst-0", NodeState.parse("DOWN+CLOUD"), reason),), ())

    assert power.failed(ELASTIC, view) == (("burst-0",) if returned else ())


def test_a_node_that_somebody_drained_stays_drained() -> None:
    down = SlurmNode("burst-0", NodeState.parse("DOWN+DRAIN+CLOUD"), "ResumeTimeout reached")

    assert power.failed(ELASTIC, SlurmView((down,), ())) == ()


def test_a_job_gets_all_its_nodes_or_none() -> None:
    jobs = (
        JobRef("1", "a", "x", "CONFIGURING", ("burst-0", "burst-1")),
        JobRef("2", "a", "y", "CONFIGURING", ("burst-2",)),
    )

    assert power.with_their_jobs(SlurmView((), jobs), {"burst-1"}, ("burst-0", "burst-1", "burst-2")) == (
        "burst-0",
        "burst-1",
    )


def test_a_pool_that_becomes_elastic_is_drained_first() -> None:
    static = cluster(pool("cpu", 1), pool("burst", 3))
    found = plan(ELASTIC, fresh(static))

    assert ("pool", "burst", "ephemeral", "drain") in [
        (c.kind, c.subject, c.field, c.effect) for c in found.changes
    ]
    assert ("drain", ("burst-0", "burst-1", "burst-2")) in [(step.verb, step.nodes) for step in found.steps]


def test_the_agent_ends_with_the_last_elastic_pool() -> None:
    found = plan(cluster(pool("cpu", 1)), off())

    assert "stop:agent" in [step.key for step in found.steps]
