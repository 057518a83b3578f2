"""Who is taken out of service at once: worlds of one set in, moves out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from npa.reconcile import rollout
from npa.reconcile.nodeset_workers import LEAVING, Worker
from npa.reconcile.removable import Answer
from npa.reconcile.rollout import Moves, Seen
from npa.reconcile.world import World
from npa.render.objects import POD
from npa.slurm.lookup import Absent, Found, Unknown
from npa.slurm.replies import SlurmNodeReply
from npa.slurm.states import NodeState

NOW = 1_800_000_000.0
STARTED = datetime.fromtimestamp(NOW - 100, UTC)


def worker(ordinal: int, state: str = "IDLE", reason: str = "", **more: Any) -> Worker:
    """Return a worker whose pod runs; `state` is what Slurm says, "" where it lists it not."""
    name = f"gpu-{ordinal}"
    pod = {
        **POD.object(name, "team"),
        "status": {"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]},
    }
    node = SlurmNodeReply(name, NodeState.parse(state), reason, "root", slurmd_start_time=STARTED)
    seen = Found(node) if state else Absent()
    return Worker(**{"name": name, "ordinal": ordinal, "pod": pod, "slurm": seen, "ready": True, **more})


def old(ordinal: int, state: str = "IDLE", reason: str = "", **more: Any) -> Worker:
    return worker(ordinal, state, reason, current=False, **more)


def leaves(ordinal: int, state: str = "IDLE+DRAIN", **more: Any) -> Worker:
    return old(ordinal, state, LEAVING["replace"], **more)


def moves(*workers: Worker, allowed: int, announced: bool = True, **more: Any) -> Moves:
    nodes = {each.name: each.slurm.value for each in workers if isinstance(each.slurm, Found)}
    published = frozenset((step, each.name) for step in ("remove", "replace") for each in workers)
    return rollout.moves(
        Seen(
            World(None, now=NOW),
            workers,
            Answer("", nodes),
            allowed,
            "fewer are asked for",
            more.pop("due", {}),
            published if announced else frozenset(),
            **more,
        )
    )


def names(found: Moves) -> tuple[list[str], list[str]]:
    """Return who is drained and who is removed."""
    return [each.node for each in found.drain], [each.name for each, _ in found.remove]


def test_c53_those_who_hand_off_take_the_whole_budget() -> None:
    handing = [leaves(each, "ALLOCATED+DRAIN") for each in range(50)]
    found = moves(*handing, *(old(each) for each in range(50, 100)), allowed=50)

    assert names(found) == ([], [])


def test_c53_a_slot_is_free_again_as_soon_as_a_replacement_is_ready() -> None:
    ready = [worker(each) for each in range(10)]
    handing = [leaves(each, "ALLOCATED+DRAIN") for each in range(10, 49)]
    gone = [worker(49, "DOWN", pod=None, ready=False)]
    found = moves(*ready, *handing, *gone, *(old(each) for each in range(50, 100)), allowed=50)

    assert len(found.drain) == 10
    assert found.drain[0].reason == "npa: worker is replaced"


def test_c53_a_worker_that_slurm_does_not_list_takes_a_slot_and_is_left_alone() -> None:
    found = moves(old(0, ""), old(1), allowed=1)

    assert names(found) == ([], [])
    assert ("gpu-0", "others go first") in found.waits


def test_c53_who_is_out_anyway_needs_no_slot() -> None:
    found = moves(old(0, "DOWN"), old(1), allowed=1)

    assert names(found) == (["gpu-0"], [])


def test_idle_workers_are_replaced_before_those_at_work() -> None:
    found = moves(old(0), old(1, "ALLOCATED"), old(2, "MIXED"), allowed=1)

    assert names(found) == (["gpu-0"], [])


def test_jobs_of_who_is_replaced_end_only_where_that_is_asked_and_within_the_budget() -> None:
    busy = [old(0, "ALLOCATED"), old(1, "ALLOCATED"), leaves(2, "ALLOCATED+DRAIN", ready=True)]

    assert names(moves(*busy, allowed=2)) == (["gpu-1"], [])
    assert names(moves(*busy, allowed=2, end_replaced=True)) == ([], ["gpu-1", "gpu-2"])


def test_who_is_held_by_a_person_is_replaced_by_nobody() -> None:
    found = moves(old(0, "ALLOCATED+DRAIN", "looking into it"), allowed=5, end_replaced=True)

    assert names(found) == ([], [])


def test_a_drained_worker_is_replaced_while_others_wait() -> None:
    found = moves(leaves(0), old(1), allowed=1)

    assert names(found) == ([], ["gpu-0"])


def test_nothing_is_drained_or_removed_that_was_not_announced() -> None:
    found = moves(leaves(0), worker(1, wanted=False), allowed=9, announced=False)

    assert names(found) == ([], [])
    assert {each.step for each in found.plan} == {"remove", "replace"}


@pytest.mark.parametrize(
    ("reason", "resumed"),
    [
        pytest.param(LEAVING["replace"], True, id="ours"),
        pytest.param(LEAVING["remove"], True, id="ours, for another purpose"),
        pytest.param(f"{LEAVING['replace']} : Not responding", True, id="ours, and it was silent"),
        pytest.param(f"{LEAVING['replace']} : Kill task failed", False, id="ours, and something is wrong"),
        pytest.param("npa: pool cpu shrinks", False, id="of another part of npa"),
        pytest.param("npa", False, id="a person's"),
        pytest.param("", False, id="nobody's"),
    ],
)
def test_c45_only_drains_of_this_controller_are_undone(reason: str, resumed: bool) -> None:
    found = moves(worker(0, "IDLE+DRAIN", reason), allowed=1)

    assert [(each.node, each.reason) for each in found.resume] == ([("gpu-0", reason)] if resumed else [])


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"ready": False}, id="its pod is not ready"),
        pytest.param({"current": False}, id="it is of an old template"),
        pytest.param({"wanted": False}, id="nobody asks for it"),
        pytest.param({"machine": "gone"}, id="its machine is gone"),
        pytest.param({"slurm": Unknown("no answer")}, id="Slurm does not answer"),
    ],
)
def test_a_drain_of_ours_stays_as_long_as_something_needs_it(more: dict[str, Any]) -> None:
    assert moves(worker(0, "IDLE+DRAIN", LEAVING["replace"], **more), allowed=1).resume == ()


def test_a_slurmd_that_started_before_its_pod_is_another_pods() -> None:
    made = datetime.fromtimestamp(NOW, UTC).isoformat()
    pod = {**POD.object("gpu-0", "team"), "status": {}}
    pod["metadata"] = {**pod["metadata"], "creationTimestamp": made}

    assert moves(worker(0, "IDLE+DRAIN", LEAVING["replace"], pod=pod), allowed=1).resume == ()


def test_starts_are_bounded_and_one_that_hangs_stops_blocking_others() -> None:
    def starting(ordinal: int, age: float) -> Worker:
        made = datetime.fromtimestamp(NOW - age, UTC).isoformat()
        pod: dict[str, Any] = {**POD.object(f"gpu-{ordinal}", "team"), "status": {"phase": "Pending"}}
        pod["metadata"] = {**pod["metadata"], "creationTimestamp": made}
        return worker(ordinal, "", pod=pod, ready=False)

    missing = [worker(each, "", pod=None, ready=False) for each in range(2, 6)]
    young = moves(worker(0), starting(1, age=60), *missing, allowed=2)
    hanging = moves(worker(0), starting(1, age=1200), *missing, allowed=2)

    assert [each.name for each in young.start] == ["gpu-2"]
    assert [each.name for each in hanging.start] == ["gpu-2", "gpu-3"]


def test_a_worker_that_goes_is_not_followed_before_it_is_gone() -> None:
    assert moves(worker(0, going=True, ready=False), allowed=5).start == ()


def test_a_pod_that_ended_is_replaced_when_its_time_has_come() -> None:
    pod = {**POD.object("gpu-0", "team"), "status": {"phase": "Failed", "reason": "Evicted"}}
    ended = worker(0, "IDLE", pod=pod, ready=False)

    assert names(moves(ended, allowed=1, due={"gpu-0": NOW + 10})) == ([], [])
    assert names(moves(ended, allowed=1, due={"gpu-0": NOW})) == ([], ["gpu-0"])
