"""Who may undo a drain, and what a check may do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from npa.slurm import drains, lookup
from npa.slurm.drain_budget import Worker, free_slots, limit, to_hand_off
from npa.slurm.drains import Reboot, Verdict
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.slurm.replies import Rows, SlurmNodeReply
from npa.slurm.states import NodeState

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
BASE = "[user_problem] boot_disk_full"


def node(state: str = "IDLE+DRAIN", reason: str = "npa: x", booted: datetime | None = None) -> SlurmNodeReply:
    return SlurmNodeReply("cpu-0", NodeState.parse(state), reason, boot_time=booted)


@pytest.mark.parametrize(
    ("seen", "may"),
    [
        pytest.param(Found(node()), True, id="ours"),
        pytest.param(Found(node("MIXED+DRAIN")), True, id="ours-and-still-busy"),
        pytest.param(Found(node("IDLE")), False, id="no-longer-drained"),
        pytest.param(Found(node(reason="npa: x, and the fan is loud")), False, id="edited"),
        pytest.param(Found(node(reason="npa: x : Not responding")), False, id="slurmctld-added-to-it"),
        pytest.param(Found(node(reason="")), False, id="emptied"),
        pytest.param(Found(node("IDLE+DRAIN+REBOOT_REQUESTED")), False, id="c50-about-to-reboot"),
        pytest.param(Found(node("DOWN+DRAIN+REBOOT_ISSUED")), False, id="c50-rebooting"),
        pytest.param(Found(node("UNKNOWN+DRAIN")), False, id="state-unknown"),
        pytest.param(Absent(), False, id="absent"),
        pytest.param(Unknown("timed out"), False, id="unknown"),
    ],
)
def test_c45_only_a_drain_that_is_exactly_ours_is_undone(seen: Lookup[SlurmNodeReply], may: bool) -> None:
    assert drains.may_resume(seen, "npa: x") is may
    assert drains.may_resume_ours(seen) is (may or seen == Found(node(reason="npa: x, and the fan is loud")))


def test_c45_a_drain_without_a_reason_is_nobodys_to_undo() -> None:
    assert not drains.may_resume(Found(node(reason="")), "")


@pytest.mark.parametrize(
    ("verdict", "seen", "does"),
    [
        ("unknown", Found(node("IDLE", "")), "nothing"),
        ("unknown", Found(node(reason=BASE)), "nothing"),
        ("fail", Found(node("IDLE", "")), "drain"),
        ("fail", Found(node(reason="rack move")), "nothing"),
        ("fail", Unknown("no answer"), "nothing"),
        ("fail", Absent(), "nothing"),
        ("ok", Found(node(reason=f"{BASE}: /var [hc_program]")), "resume"),
        ("ok", Found(node(reason="rack move, do not touch")), "nothing"),
        ("ok", Found(node(reason="[node_problem] dcgmi_diag: gpu 3")), "nothing"),
        ("ok", Found(node(reason="Prolog error")), "nothing"),
        ("ok", Found(node(reason="")), "nothing"),
        ("ok", Found(node("IDLE", BASE)), "nothing"),
        ("ok", Found(node(reason=BASE, booted=NOW + timedelta(minutes=1))), "nothing"),
        ("ok", Found(node(reason=BASE, booted=NOW - timedelta(minutes=1))), "resume"),
    ],
)
def test_c51_what_a_check_does(verdict: Verdict, seen: Lookup[SlurmNodeReply], does: str) -> None:
    assert drains.after_check(verdict, BASE, seen, NOW) == does


@pytest.mark.parametrize(
    ("status", "verdict"),
    [(0, "ok"), (1, "fail"), (2, "unknown"), (124, "unknown"), (126, "unknown"), (127, "unknown"),
     (137, "unknown"), (-9, "unknown")],
)  # fmt: skip
def test_c51_only_exit_status_1_is_a_failure(status: int, verdict: Verdict) -> None:
    assert drains.verdict(status) == verdict


def test_c51_many_blind_checks_are_one_alert() -> None:
    assert drains.blind(100, 21)
    assert not drains.blind(100, 20)
    assert not drains.blind(0, 0)


@pytest.mark.parametrize(
    ("state", "minutes", "reboot"),
    [
        ("MIXED+REBOOT_REQUESTED", 600, "asked"),
        ("IDLE+DRAIN+REBOOT_REQUESTED", 1, "asked"),
        ("DOWN+REBOOT_ISSUED", 5, "under way"),
        ("DOWN+REBOOT_ISSUED", 45, "overdue"),
        ("IDLE", 1, ""),
    ],
)
def test_c50_a_reboot_is_not_an_illness_until_its_deadline(state: str, minutes: int, reboot: Reboot) -> None:
    since = NOW - timedelta(minutes=minutes)

    assert drains.reboot(NodeState.parse(state), since, NOW, timedelta(minutes=30)) == reboot


def workers(ready: int, handing_off: int = 0, gone: int = 0) -> list[Worker]:
    return [
        *(Worker(f"ready-{number}", ready=True) for number in range(ready)),
        *(Worker(f"old-{number}", ready=True, handing_off=True) for number in range(handing_off)),
        *(Worker(f"gone-{number}", ready=False, known=False) for number in range(gone)),
    ]


@pytest.mark.parametrize(
    ("every", "free"),
    [
        pytest.param(workers(50, handing_off=50), 0, id="all-slots-taken"),
        pytest.param(workers(60, handing_off=39, gone=1), 10, id="ten-replacements-are-ready"),
        pytest.param(workers(50, handing_off=49, gone=1), 0, id="and-their-slots-are-taken-again"),
        pytest.param(workers(0, gone=100), 0, id="more-out-than-allowed"),
    ],
)
def test_c53_a_slot_is_free_as_soon_as_a_replacement_is_ready(every: list[Worker], free: int) -> None:
    assert free_slots(every, 50) == free
    assert len(to_hand_off(every, 50)) == free


def test_c53_a_worker_that_slurm_does_not_list_is_left_alone() -> None:
    every = [Worker("w-0", ready=True, known=False), Worker("w-1", ready=True)]

    assert to_hand_off(every, 1) == ()
    assert to_hand_off(every, 2) == ("w-1",)


def test_c53_a_lost_worker_on_a_cordoned_machine_needs_no_free_slot() -> None:
    every = [Worker("w-0", ready=False, cordoned=True), Worker("w-1", ready=False), Worker("w-2", ready=True)]

    assert to_hand_off(every, 1) == ("w-0",)


@pytest.mark.parametrize(("text", "count"), [("20%", 1), (5, 5), ("5", 5), ("100%", 3), ("50%", 1)])
def test_c53_a_share_is_at_least_one(text: str | int, count: int) -> None:
    assert limit(text, 3) == count


@pytest.mark.parametrize("text", [0, "0", "0%", "101%", "-1", "", "half"])
def test_c53_a_budget_that_never_ends_a_rollout_is_refused(text: str | int) -> None:
    with pytest.raises(ValueError, match=r"at least 1|invalid literal"):
        limit(text, 3)


def test_c74_a_row_that_could_not_be_read_may_be_the_one_that_is_looked_for() -> None:
    rows = Rows((node(),), ("nodes[1] (None): no name",))

    assert lookup.node(rows, "cpu-0") == Found(node())
    assert lookup.node(rows, "cpu-1") == Unknown("nodes[1] (None): no name")
    assert lookup.node(Rows((node(),)), "cpu-1") == Absent()
