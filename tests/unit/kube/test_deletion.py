"""How a cluster goes: its workers first, then what they needed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.golden.kube.worlds import NOW, SETTINGS, done, load, settled
from tests.unit.kube.test_slurmcluster import worker

from npa.reconcile import deletion, maintenance, slurmcluster
from npa.reconcile.deletion import FINALIZER, ON_DELETE
from npa.reconcile.world import World
from npa.render.objects import dig, name_of
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.slurm.replies import Rows, SlurmJobReply
from npa.slurm.states import JobState

Jobs = Lookup[Rows[SlurmJobReply]]
RUNNING = SlurmJobReply("12", 12, "ann", "train", JobState.parse("RUNNING"), nodes=("cpu-0",))
PENDING = SlurmJobReply("13", 13, "ann", "train", JobState.parse("PENDING"))


def leaving(world: World, **annotations: str) -> World:
    assert world.cluster is not None
    metadata = {
        **world.cluster["metadata"],
        "deletionTimestamp": "2027-01-15T08:00:00Z",
        "annotations": annotations,
    }
    return replace(world, cluster={**world.cluster, "metadata": metadata})


def test_a_cluster_is_held_from_the_beginning() -> None:
    world = load("minimal")
    first = slurmcluster.decide(world, SETTINGS).apply[0]

    assert first["kind"] == "SlurmCluster"
    assert dig(first, "metadata", "finalizers") == [FINALIZER]
    assert set(first) == {"apiVersion", "kind", "metadata"}


def test_it_waits_for_workers_and_says_how_to_hurry() -> None:
    world = settled(load("minimal"))
    world = leaving(replace(world, objects={**world.objects, **worker(0), **worker(1)}))
    decision = slurmcluster.decide(world, SETTINGS)
    assert decision.status is not None
    row = decision.status["conditions"][0]

    assert (decision.apply, decision.delete) == ((), ())
    assert decision.status["phase"] == "Terminating"
    assert (row["type"], row["reason"]) == ("CommonAvailable", "WaitsForJobs")
    assert "cpu-0, cpu-1" in row["message"]
    assert maintenance.END_JOBS in row["message"]
    assert [each.reason for each in decision.notices] == ["WaitsForJobs"]
    assert slurmcluster.decide(done(world, decision), SETTINGS).settled


def test_it_goes_with_its_last_worker() -> None:
    decision = slurmcluster.decide(leaving(settled(load("minimal"))), SETTINGS)

    assert [(name_of(each), dig(each, "metadata", "finalizers")) for each in decision.apply] == [
        ("small", [])
    ]
    assert decision.status is None


def test_unread_pods_may_be_workers() -> None:
    world = replace(leaving(settled(load("minimal"))), unread=("Pod",))

    assert slurmcluster.decide(world, SETTINGS).apply == ()


def test_what_is_not_held_by_us_is_not_touched() -> None:
    assert slurmcluster.decide(leaving(load("minimal")), SETTINGS).settled


@pytest.mark.parametrize(
    ("jobs", "status"),
    [
        pytest.param(Found(Rows((RUNNING, PENDING))), "True", id="running"),
        pytest.param(Found(Rows((PENDING,))), "False", id="pending"),
        pytest.param(Found(Rows((), ("jobs[0]: no state",))), "Unknown", id="unreadable-job"),
        pytest.param(Unknown("exec failed"), "Unknown", id="unknown"),
        pytest.param(Absent(), "False", id="no-slurmctld"),
    ],
)
def test_a_cluster_that_refuses_says_whether_jobs_run(jobs: Jobs, status: str) -> None:
    world = settled(load("minimal"))
    assert world.cluster is not None
    metadata = {**world.cluster["metadata"], "annotations": {ON_DELETE: "refuse"}}
    asked = replace(
        world,
        cluster={**world.cluster, "metadata": metadata},
        slurm=replace(world.slurm, jobs=jobs, read_at=NOW),
    )
    after = done(asked, slurmcluster.decide(asked, SETTINGS)).cluster
    assert after is not None
    said = next(row for row in after["status"]["conditions"] if row["type"] == "JobsRunning")

    assert said["status"] == status
    assert bool(deletion.refused(after)) is (status != "False")


def test_what_nobody_has_asked_yet_is_refused_where_that_is_wished() -> None:
    world = load("minimal")
    assert world.cluster is not None
    wishes = {
        **world.cluster,
        "metadata": {**world.cluster["metadata"], "annotations": {ON_DELETE: "refuse"}},
    }

    assert "nobody has asked" in deletion.refused(wishes)
    assert deletion.refused(world.cluster) == ""
