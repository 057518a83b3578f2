"""Whether a worker may be removed: a yes needs proof, and everything else is a no that says why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from npa.reconcile import removable
from npa.reconcile.settings import Settings
from npa.reconcile.world import SlurmView, World
from npa.render.objects import POD, Object
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.slurm.replies import Rows, SlurmJobReply, SlurmNodeReply
from npa.slurm.states import JobState, NodeState

NOW = 1_800_000_000.0
SETTINGS = Settings()
OURS = "npa: worker is removed"


def node(state: str, reason: str = OURS, user: str = "root", **more: Any) -> SlurmNodeReply:
    return SlurmNodeReply("gpu-0", NodeState.parse(state), reason, user, **more)


def job(state: str, *nodes: str) -> SlurmJobReply:
    return SlurmJobReply("7", 7, "alice", "train", JobState.parse(state), nodes=nodes)


def view(
    nodes: Lookup[Rows[SlurmNodeReply]] | SlurmNodeReply,
    jobs: Lookup[Rows[SlurmJobReply]] | SlurmJobReply | None = None,
    age: float = 0.0,
) -> SlurmView:
    others = SlurmNodeReply("gpu-9", NodeState.parse("IDLE"))
    rows = Found(Rows((nodes, others))) if isinstance(nodes, SlurmNodeReply) else nodes
    listed = Found(Rows(())) if jobs is None else jobs
    return SlurmView(
        rows, Found(Rows((listed,))) if isinstance(listed, SlurmJobReply) else listed, read_at=NOW - age
    )


def pod(**status: Any) -> Object:
    return {**POD.object("gpu-0", "team"), "status": status}


RUNNING = pod(phase="Running", containerStatuses=[{"name": "slurmd", "state": {"running": {}}}])
DRAINED = node("IDLE+DRAIN")


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        pytest.param(view(DRAINED), "", id="drained by us"),
        pytest.param(view(node("DOWN+DRAIN+NOT_RESPONDING")), "", id="down and drained by us"),
        pytest.param(view(node("IDLE+DRAIN", f"{OURS} : Not responding")), "", id="and silent since"),
        pytest.param(view(node("IDLE+DRAIN", "Kill task failed")), "", id="drained by Slurm"),
        pytest.param(view(node("IDLE+DRAIN", "[node_problem] gpu: x")), "", id="drained by a check"),
        pytest.param(view(node("IDLE+CLOUD+POWERED_DOWN", "")), "", id="let go of"),
        pytest.param(view(node("IDLE+CLOUD+POWERING_DOWN", "")), "", id="being let go of"),
        pytest.param(view(DRAINED, job("COMPLETED", "gpu-0")), "", id="its job has ended"),
        pytest.param(view(DRAINED, job("RUNNING", "gpu-9")), "", id="a job elsewhere"),
        pytest.param(view(node("IDLE", "")), "it is not drained", id="idle"),
        pytest.param(view(node("DOWN", "Not responding")), "it is not drained", id="down, and may come back"),
        pytest.param(view(node("MIXED+DRAIN")), "it is in use, says slurmctld: MIXED+DRAIN", id="draining"),
        pytest.param(view(node("IDLE+DRAIN", alloc_cpus=1)), "it is in use", id="CPUs in use"),
        pytest.param(view(node("IDLE+DRAIN", alloc_memory=1)), "it is in use", id="memory in use"),
        pytest.param(view(node("IDLE+COMPLETING+DRAIN")), "it is in use", id="completing"),
        pytest.param(view(DRAINED, job("RUNNING", "gpu-0")), "it runs job 7", id="a job runs"),
        pytest.param(view(DRAINED, job("CG", "gpu-0")), "it runs job 7", id="a job is cleaned up"),
        pytest.param(view(DRAINED, job("CF", "gpu-0")), "it runs job 7", id="a job is about to start"),
        pytest.param(view(DRAINED, job("SUSPENDED", "gpu-0")), "it runs job 7", id="a job is suspended"),
        pytest.param(view(DRAINED, job("NEWSTATE", "gpu-0")), "it runs job 7", id="a job of unknown state"),
        pytest.param(
            view(node("IDLE+DRAIN", "rack move", "alice")),
            "alice drained it: rack move",
            id="drained by a person",
        ),
        pytest.param(
            view(node("IDLE+DRAIN", "")), "root drained it: no reason given", id="drained without words"
        ),
        pytest.param(
            view(node("IDLE+DRAIN", "not npa: at all", "bob")),
            "bob drained it",
            id="a reason that mentions us",
        ),
        pytest.param(view(node("DRAIN+UNKNOWN")), "slurmctld tells no state of it", id="no state"),
        pytest.param(view(node("DOWN+DRAIN+REBOOT_ISSUED")), "it reboots", id="it reboots"),
        pytest.param(view(node("IDLE+POWERED_DOWN+POWERING_UP", "")), "it is not drained", id="wanted again"),
        pytest.param(view(DRAINED, age=61), "slurmctld has not answered for a while", id="an old answer"),
        pytest.param(
            view(Unknown("timed out")), "slurmctld's nodes are not known: timed out", id="nodes unknown"
        ),
        pytest.param(view(DRAINED, Unknown("no")), "slurmctld's jobs are not known: no", id="jobs unknown"),
        pytest.param(
            view(Absent()), "slurmctld's nodes are not known: there is no slurmctld", id="no slurmctld"
        ),
        pytest.param(
            view(DRAINED, Found(Rows((), ("jobs[0] (3): no job_id",)))),
            "a job could not be read: jobs[0] (3): no job_id",
            id="a job that cannot be read",
        ),
        pytest.param(
            view(replace(DRAINED, name="gpu-00")), "slurmctld does not list it", id="not in the list"
        ),
        pytest.param(view(Found(Rows(()))), "slurmctld lists no nodes at all", id="an empty list"),
        pytest.param(
            view(Found(Rows((replace(DRAINED, name="x"),), ("nodes[1]: no name",)))),
            "nodes[1]: no name",
            id="perhaps the row that cannot be read",
        ),
    ],
)
def test_what_slurm_says_of_a_running_worker(seen: SlurmView, why: str) -> None:
    verdict = removable.removable(World(None), RUNNING, removable.answer(seen, NOW, SETTINGS))

    assert verdict.yes is not bool(why)
    assert verdict.why.startswith(why)
    assert verdict.asked_slurm


@pytest.mark.parametrize(
    ("found", "yes", "as_seen"),
    [
        pytest.param(pod(), True, True, id="not scheduled"),
        pytest.param(
            pod(phase="Pending", containerStatuses=[{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]),
            True,
            True,
            id="its image does not come",
        ),
        pytest.param(pod(phase="Failed", reason="Evicted"), True, False, id="it ended"),
        pytest.param(pod(phase="Succeeded"), True, False, id="it ended well"),
        pytest.param(
            pod(phase="Pending", containerStatuses=[{"restartCount": 1, "state": {"waiting": {}}}]),
            False,
            False,
            id="it has run before",
        ),
        pytest.param(pod(phase="Running"), False, False, id="running, of which no container is told"),
        pytest.param(pod(phase="Unknown"), False, False, id="nobody knows"),
    ],
)
def test_a_pod_that_cannot_run_a_job_needs_no_answer_of_slurm(
    found: Object, yes: bool, as_seen: bool
) -> None:
    nothing = removable.answer(SlurmView(), NOW, SETTINGS)
    verdict = removable.removable(World(None), found, nothing)

    assert (verdict.yes, verdict.as_seen) == (yes, as_seen)


def test_a_pod_that_goes_already_is_not_removed_again() -> None:
    going: dict[str, Any] = {**RUNNING, "metadata": {**RUNNING["metadata"], "deletionTimestamp": "now"}}
    seen = removable.answer(view(DRAINED), NOW, SETTINGS)

    assert not removable.removable(World(None), going, seen).yes
    assert not removable.removable(World(None, unread=("Pod",)), RUNNING, seen).yes
