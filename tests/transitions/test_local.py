"""From any local cluster to any other: it arrives, is then quiet, and never ends work unasked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.transitions import simulator
from tests.transitions.simulator import apply, cluster, fresh, outcome, plan, pool, want, with_jobs

from npa.cluster.model import Cluster, User
from npa.errors import RefusedError, UnknownError
from npa.plan.model import JobRef, Options
from npa.render.local.world import World
from npa.slurm.states import NodeState

POOLS = st.dictionaries(
    st.sampled_from(["cpu", "gpu", "train"]),
    st.tuples(st.integers(1, 4), st.sampled_from([8, 16]), st.sampled_from([0, 8])),
    min_size=1,
)


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    pools = (pool(name, size, cpus=cpus, gpus=gpus) for name, (size, cpus, gpus) in draw(POOLS).items())
    extra = draw(st.sampled_from([(), (("PriorityType", "priority/basic"),), (("KillWait", "10"),)]))
    return cluster(*pools, accounting=draw(st.booleans()), settings=extra)


@given(clusters(), clusters())
@settings(max_examples=60, deadline=None)
def test_a_changed_spec_arrives_where_a_fresh_deploy_would(before: Cluster, after: Cluster) -> None:
    world = fresh(before)
    changed = apply(want(after, world), world, plan(after, world).steps)

    assert outcome(changed) == outcome(fresh(after))
    assert plan(after, changed).steps == ()


@given(clusters(), clusters(), st.data())
@settings(max_examples=60, deadline=None)
def test_a_deploy_cut_short_anywhere_is_finished_by_the_next(
    before: Cluster, after: Cluster, data: st.DataObject
) -> None:
    world = fresh(before)
    first = plan(after, world).steps
    cut = data.draw(st.integers(0, len(first)))
    half = apply(want(after, world), world, first[:cut])
    done = apply(want(after, half), half, plan(after, half).steps)

    assert outcome(done) == outcome(fresh(after))
    assert plan(after, done).steps == ()


@given(clusters(), clusters())
@settings(max_examples=60, deadline=None)
def test_no_busy_node_stops_without_being_told(before: Cluster, after: Cluster) -> None:
    world = fresh(before)
    busy = with_jobs(
        world, *(JobRef(str(i), "alice", "train", "RUNNING", (n,)) for i, n in enumerate(before.workers))
    )

    for step in plan(after, busy).steps:
        if step.verb == "stop" and set(step.nodes) & set(before.workers):
            assert {job.nodes[0] for job in step.jobs} == set(step.nodes)
            assert not step.kills_jobs  # so the guard refuses it


@given(clusters(), clusters())
@settings(max_examples=40, deadline=None)
def test_a_worker_is_drained_before_it_stops(before: Cluster, after: Cluster) -> None:
    drained: set[str] = set()
    for step in plan(after, fresh(before)).steps:
        if step.verb == "drain":
            drained |= set(step.nodes)
        if step.verb == "stop":
            assert set(step.nodes) & set(before.workers) <= drained


def test_growing_starts_only_the_new_nodes() -> None:
    world = fresh(cluster(pool("cpu", 2)))
    found = plan(cluster(pool("cpu", 4)), world)

    assert [(step.verb, step.nodes) for step in found.steps if step.verb in ("start", "stop", "drain")] == [
        ("start", ("cpu-2", "cpu-3"))
    ]
    assert "reconfigure" in [step.verb for step in found.steps]


def test_force_says_which_jobs_end() -> None:
    job = JobRef("7", "alice", "train", "RUNNING", ("cpu-1",))
    world = with_jobs(fresh(cluster(pool("cpu", 2))), job)

    assert plan(cluster(pool("cpu", 1)), world, Options(force=True)).killed_jobs == (job,)
    assert plan(cluster(pool("cpu", 1)), world).killed_jobs == ()


def test_jobs_that_are_waited_for_do_not_count_as_ended() -> None:
    job = JobRef("7", "alice", "train", "RUNNING", ("cpu-1",))
    world = with_jobs(fresh(cluster(pool("cpu", 2))), job)
    found = plan(cluster(pool("cpu", 1)), world, Options(wait_for_jobs=60))

    assert [step.jobs for step in found.steps if step.verb == "drain"] == [(job,)]
    assert [step.jobs for step in found.steps if step.verb == "stop"] == [()]


def test_no_answer_from_slurm_is_not_an_idle_node() -> None:
    world = replace(fresh(cluster(pool("cpu", 2))), slurm=None, slurm_problem="slurmctld is not running")

    with pytest.raises(UnknownError, match="cannot tell whether jobs run on cpu-1"):
        plan(cluster(pool("cpu", 1)), world)


def test_a_drain_by_somebody_else_stays() -> None:
    asked = cluster(pool("cpu", 2))
    world = fresh(asked)
    assert world.slurm is not None
    theirs = replace(world.slurm.nodes[0], state=NodeState.parse("IDLE+DRAIN"), reason="disk: says npa: no")
    ours = replace(
        world.slurm.nodes[1], state=NodeState.parse("IDLE+DRAIN"), reason="npa: no longer in the spec"
    )
    found = plan(asked, replace(world, slurm=replace(world.slurm, nodes=(theirs, ours))))

    assert [step.nodes for step in found.steps if step.verb == "resume"] == [("cpu-1",)]


@pytest.mark.parametrize("daemon", ["slurmctld", "slurmd", "sshd", "mariadbd"])
def test_a_dead_daemon_is_started_and_nothing_else(daemon: str) -> None:
    asked = cluster(pool("cpu", 2))
    world = fresh(asked)
    node = next(name for name, running in world.nodes.items() if daemon in running.daemons)
    left = {name: pid for name, pid in world.nodes[node].daemons.items() if name != daemon}
    hurt = replace(world, nodes={**world.nodes, node: replace(world.nodes[node], daemons=left)})

    assert [step.nodes for step in plan(asked, hurt).steps if step.verb in ("start", "restart", "stop")] == [
        (node,)
    ]


def test_a_node_that_is_cut_off_the_network_gets_a_new_link_and_nothing_else() -> None:
    asked = cluster(pool("cpu", 2))
    world = fresh(asked)
    cut = replace(world, nodes={**world.nodes, "cpu-1": replace(world.nodes["cpu-1"], linked=False)})
    todo = plan(asked, cut).steps

    assert [(step.key, step.nodes) for step in todo if step.verb != "wait"] == [("restart:links", ("cpu-1",))]
    assert plan(asked, apply(want(asked, cut), cut, todo)).steps == ()


def test_another_slurm_is_refused() -> None:
    asked = cluster(pool("cpu", 1))

    with pytest.raises(RefusedError, match=r"slurm_version cannot change from '26.05' to '24.11'"):
        plan(replace(asked, slurm_version="24.11"), fresh(asked))


def test_an_uncached_image_is_built_first() -> None:
    found = plan(cluster(pool("cpu", 1)), World(record=None))

    assert [step.verb for step in found.steps[:3]] == ["build", "create", "start"]


def test_users_are_created_once() -> None:
    asked = replace(cluster(pool("cpu", 1)), users=(User("alice", 2000), User("bob", 2001)))
    world = replace(fresh(asked), users=frozenset({"root", "alice"}))

    assert [step.subject for step in plan(asked, world).steps if step.verb == "create"] == [
        "users bob (2001)"
    ]


def test_users_of_a_stopped_cluster_are_looked_up_when_it_runs() -> None:
    asked = replace(cluster(pool("cpu", 1)), users=(User("alice", 2000),))
    world = replace(fresh(asked), lab=0, nodes={}, users=None)

    assert [step.reason for step in plan(asked, world).steps if step.key == "create:users"] == [
        "unless the jail has them"
    ]


def test_a_node_table_that_was_written_but_not_read_is_read() -> None:
    """The deploy was killed between writing slurm.conf and reconfiguring."""
    before, after = cluster(pool("cpu", 2)), cluster(pool("cpu", 3))
    world = fresh(before)
    steps = plan(after, world).steps
    cut = [step.verb for step in steps].index("write") + 1
    half = apply(want(after, world), world, steps[:cut])

    assert {step.verb for step in plan(after, half).steps} & {"restart", "reconfigure"}


def test_addresses_stay_with_their_nodes() -> None:
    world = fresh(cluster(pool("a", 2), pool("b", 2)))
    assert world.record is not None
    wanted = simulator.want(cluster(pool("b", 3)), world)

    for node in ("b-0", "b-1", "controller-0"):
        assert wanted.addresses[node] == world.record.addresses[node]
    assert len(set(wanted.addresses.values())) == len(wanted.addresses)


def test_a_step_alone_may_end_jobs() -> None:
    jobs = (
        JobRef("7", "alice", "train", "RUNNING", ("cpu-1",)),
        JobRef("8", "alice", "train", "RUNNING", ("gpu-1",)),
    )
    world = with_jobs(fresh(cluster(pool("cpu", 2), pool("gpu", 2))), *jobs)
    found = plan(cluster(pool("cpu", 1), pool("gpu", 1)), world, Options(force_steps=("stop:gpu",)))

    assert found.killed_jobs == (jobs[1],)
    assert {step.key: step.kills_jobs for step in found.steps if step.verb == "stop"} == {
        "stop:cpu": False,
        "stop:gpu": True,
    }


def test_pending_jobs_that_can_run_nowhere_else_are_named() -> None:
    named = JobRef("7", "alice", "train", "PENDING", wants=("cpu-1",))
    elsewhere = JobRef("8", "alice", "train", "PENDING", partition="main")
    world = with_jobs(fresh(cluster(pool("cpu", 2))), named, elsewhere)

    assert [step.pending for step in plan(cluster(pool("cpu", 1)), world).steps if step.verb == "drain"] == [
        (named,)
    ]


@given(clusters(), clusters())
@settings(max_examples=60, deadline=None)
def test_the_policy_table_says_what_the_steps_do(before: Cluster, after: Cluster) -> None:
    found = plan(after, fresh(before))
    touched = {name.rpartition("-")[0] for step in found.steps if step.verb == "drain" for name in step.nodes}

    assert touched == {change.subject for change in found.changes if change.effect == "drain"}
    if all(change.effect == "hot" for change in found.changes):
        assert not {step.verb for step in found.steps} & {"drain", "restart", "reconfigure"}


def test_what_has_no_safe_way_is_refused_all_at_once() -> None:
    asked = replace(cluster(pool("cpu", 1)), users=(User("alice", 2000),))
    changed = replace(asked, users=(User("alice", 2001),), slurm_version="24.11")

    with pytest.raises(RefusedError, match=r"slurm_version cannot change .*; user alice: uid cannot change"):
        plan(changed, fresh(asked))


def test_a_second_controller_is_told_to_everybody() -> None:
    before = cluster(pool("cpu", 2))
    after = replace(before, controllers=("controller-0", "controller-1"))
    found = [(step.verb, step.key) for step in plan(after, fresh(before)).steps]

    assert ("restart", "restart:controller-0:slurmctld") in found
    assert ("start", "start:controller-1") in found
    assert ("start", "start:rest-0") in found  # slurmrestd reads who they are when it starts
    assert found.index(("reconfigure", "reconfigure")) > found.index(("wait", "wait:controller-1"))


def test_running_workers_read_what_a_new_slurmctld_was_started_with() -> None:
    before, after = cluster(pool("cpu", 2)), cluster(pool("cpu", 2), settings=(("KillWait", "10"),))
    world = fresh(before)
    left = {name: node for name, node in world.nodes.items() if name != "controller-0"}
    verbs = [step.verb for step in plan(after, replace(world, nodes=left)).steps]

    assert "reconfigure" in verbs


@pytest.mark.parametrize(
    ("state", "counts"),
    [
        ("RUNNING", True),
        ("SUSPENDED", True),
        ("CONFIGURING", True),
        ("COMPLETED+COMPLETING", False),
        ("NEW+WORD", True),
    ],
)
def test_only_work_that_has_not_ended_counts(state: str, counts: bool) -> None:
    job = JobRef("7", "alice", "train", state, ("cpu-1",))
    world = with_jobs(fresh(cluster(pool("cpu", 2))), job)

    assert [step.jobs for step in plan(cluster(pool("cpu", 1)), world).steps if step.verb == "stop"] == [
        (job,) if counts else ()
    ]


def test_the_second_controller_steps_back_before_the_first_one_reads_its_state() -> None:
    asked = replace(cluster(pool("cpu", 2)), controllers=("controller-0", "controller-1"))
    world = fresh(asked)
    dead = replace(
        world, nodes={**world.nodes, "controller-0": replace(world.nodes["controller-0"], daemons={})}
    )
    gone = replace(world, nodes={name: node for name, node in world.nodes.items() if name != "controller-0"})
    other = replace(
        world, nodes={**world.nodes, "controller-1": replace(world.nodes["controller-1"], daemons={})}
    )
    started = [
        [step.key for step in plan(asked, each).steps if step.verb in ("start", "restart")]
        for each in (dead, gone, other)
    ]

    assert started == [
        ["restart:controller-1:slurmctld", "restart:controller-0:slurmctld"],
        ["restart:controller-1:slurmctld", "start:controller-0"],
        ["restart:controller-1:slurmctld"],
    ]


def test_the_order_of_pools_does_not_matter() -> None:
    """C20: somebody sorted the spec."""
    before = cluster(pool("gpu", 2, gpus=8), pool("cpu", 2))
    after = cluster(pool("cpu", 2), pool("gpu", 2, gpus=8))

    assert not {step.verb for step in plan(after, fresh(before)).steps} & {
        "drain",
        "stop",
        "start",
        "reconfigure",
    }
