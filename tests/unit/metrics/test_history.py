"""What two looks at the nodes tell: time of GPUs, failures, and how long they lasted."""

from __future__ import annotations

from datetime import UTC, datetime

from npa.metrics import history
from npa.metrics.family import Family
from npa.metrics.history import BOUNDS, LONGEST, History
from npa.metrics.seen import Node
from npa.slurm.states import NodeState

IDLE = "false", "false", "false"
T0 = 1_800_000_000.0


def node(state: str, *, gpus: int = 8, reason: str = "", since: float | None = None) -> Node:
    at = datetime.fromtimestamp(since, UTC) if since is not None else None
    return Node("gpu-0", NodeState.parse(state), gpus=gpus, reason=reason, reason_at=at)


def after(*looks: tuple[float, Node]) -> History:
    found = History()
    for at, each in looks:
        found = history.advance(found, [each], T0 + at)
    return found


def family(found: History, name: str) -> Family:
    return next(each for each in history.families(found) if each.name == name)


def lasted(found: History, name: str) -> tuple[int, float]:
    """Return how many are counted, and how long they took together."""
    counted = [each for _, each in family(found, f"slurm_node_{name}_duration_seconds").histograms]
    return (counted[0].counts[-1], counted[0].total) if counted else (0, 0.0)


def test_gpus_are_counted_for_the_state_that_they_were_in() -> None:
    found = after((0, node("IDLE")), (30, node("ALLOCATED")), (60, node("ALLOCATED")))

    assert family(found, "slurm_node_gpu_seconds").samples == (
        (("gpu-0", "IDLE", *IDLE), 240.0),
        (("gpu-0", "ALLOCATED", *IDLE), 240.0),
    )


def test_time_that_nobody_saw_is_not_counted() -> None:
    found = after((0, node("IDLE")), (LONGEST + 1, node("IDLE")), (LONGEST + 11, node("IDLE")))

    assert family(found, "slurm_node_gpu_seconds").samples == ((("gpu-0", "IDLE", *IDLE), 80.0),)


def test_a_node_fails_once_however_long_it_is_down() -> None:
    down = node("DOWN", reason="Not responding")
    found = after((0, node("IDLE")), (30, down), (60, down), (90, node("IDLE")), (120, down))

    assert family(found, "slurm_node_fails").samples == (
        (("gpu-0", "DOWN", *IDLE, "slurm:not_responding"), 2.0),
    )


def test_a_node_that_was_down_from_the_first_look_on_failed_before() -> None:
    found = after((0, node("DOWN")), (30, node("DOWN")))

    assert family(found, "slurm_node_fails").samples == ()


def test_a_node_that_is_switched_off_did_not_fail() -> None:
    found = after((0, node("IDLE")), (30, node("IDLE+POWERED_DOWN")), (60, node("DOWN+POWERED_DOWN")))

    assert family(found, "slurm_node_fails").samples == ()
    assert lasted(found, "unavailability") == (0, 0.0)


def test_an_outage_is_counted_when_it_ends() -> None:
    still = after((0, node("IDLE")), (30, node("DOWN")), (90, node("DOWN")))
    over = history.advance(still, [node("IDLE")], T0 + 120)

    assert lasted(still, "unavailability") == (0, 0.0)
    assert lasted(over, "unavailability") == (1, 90.0)


def test_an_outage_that_began_before_the_first_look_began_when_slurm_says() -> None:
    found = after((0, node("DOWN", since=T0 - 3600)), (60, node("IDLE")))

    assert lasted(found, "unavailability") == (1, 3660.0)


def test_an_old_reason_does_not_make_a_new_outage_longer() -> None:
    found = after((0, node("IDLE")), (30, node("DOWN", since=T0 - 9999)), (60, node("IDLE")))

    assert lasted(found, "unavailability") == (1, 60.0)


def test_draining_ends_when_the_last_job_does() -> None:
    found = after((0, node("MIXED+DRAIN")), (60, node("MIXED+DRAIN")), (90, node("IDLE+DRAIN")))

    assert lasted(found, "draining") == (1, 90.0)
    assert lasted(found, "unavailability") == (0, 0.0)


def test_a_look_that_comes_late_changes_nothing() -> None:
    found = after((0, node("IDLE")), (30, node("IDLE")))

    assert history.advance(found, [node("DOWN")], T0 + 10) == found


def test_what_is_counted_of_a_node_goes_with_it() -> None:
    found = history.advance(after((0, node("IDLE")), (30, node("IDLE"))), [], T0 + 60)

    assert [each.samples for each in history.families(found) if each.kind == "counter"] == [(), ()]


def test_buckets_hold_what_is_below_them() -> None:
    found = after((0, node("DOWN")), (45, node("IDLE")))
    ((_, held),) = family(found, "slurm_node_unavailability_duration_seconds").histograms

    assert dict(zip(BOUNDS, held.counts, strict=False))[30.0] == 0
    assert dict(zip(BOUNDS, held.counts, strict=False))[60.0] == 1
