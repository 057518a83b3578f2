"""States in every spelling become one model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npa.slurm.states import JobState, NodeState


def state(base: str, *flags: str) -> NodeState:
    return NodeState(base, frozenset(flags))


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        ({"state": "idle", "state_flags": ["DRAIN"]}, state("IDLE", "DRAIN")),
        ({"state": ["DRAIN", "IDLE"]}, state("IDLE", "DRAIN")),
        (["DRAIN", "IDLE"], state("IDLE", "DRAIN")),
        ("IDLE+DRAIN", state("IDLE", "DRAIN")),
        ("IDLE*+DRAIN", state("IDLE", "DRAIN", "NOT_RESPONDING")),
        ("DOWN*+DRAIN", state("DOWN", "DRAIN", "NOT_RESPONDING")),
        ("REBOOT*+DRAIN", state("DOWN", "DRAIN", "NOT_RESPONDING", "REBOOT_ISSUED")),
        ("drained*", state("IDLE", "DRAIN", "NOT_RESPONDING")),
        ("drain", state("IDLE", "DRAIN")),
        ("draining@", state("ALLOCATED", "DRAIN", "REBOOT_REQUESTED")),
        ("drng", state("ALLOCATED", "DRAIN")),
        ("idle~", state("IDLE", "POWERED_DOWN")),
        ("alloc#", state("ALLOCATED", "POWERING_UP")),
        ("alloc%", state("ALLOCATED", "POWERING_DOWN")),
        ("idle!", state("IDLE", "POWER_DOWN")),
        ("boot^", state("DOWN", "REBOOT_ISSUED")),
        ("mix-", state("MIXED", "PLANNED")),
        ("mix", state("MIXED")),
        ("ALLOCATED+", state("ALLOCATED", "COMPLETING")),
        ("comp", state("IDLE", "COMPLETING")),
        ("down$", state("DOWN", "MAINT")),
        ("inval", state("UNKNOWN", "INVAL")),
        ("resv", state("IDLE", "RESERVED")),
        ("maint", state("IDLE", "MAINT")),
        (["IDLE", "MAINTENANCE"], state("IDLE", "MAINT")),
        (["IDLE", "INVALID_REG"], state("IDLE", "INVAL")),
        ("plnd", state("IDLE", "PLANNED")),
        ("unk*", state("UNKNOWN", "NOT_RESPONDING")),
        (["IDLE", "SPACE_WEATHER"], state("IDLE", "SPACE_WEATHER")),
        (["DRAIN"], state("UNKNOWN", "DRAIN")),
        ([], state("UNKNOWN")),
        ("", state("UNKNOWN")),
        (None, state("UNKNOWN")),
        (7, state("UNKNOWN")),
    ],
)
def test_c39_one_model(spelling: object, expected: NodeState) -> None:
    assert NodeState.parse(spelling) == expected


@pytest.mark.parametrize(
    ("text", "schedulable", "drained", "draining", "busy"),
    [
        ("IDLE", True, False, False, False),
        ("MIXED", True, False, False, True),
        ("MIXED+PLANNED", True, False, False, True),
        ("IDLE+DRAIN", False, True, False, False),
        ("MIXED+DRAIN", False, False, True, True),
        ("IDLE+COMPLETING+DRAIN", False, False, True, True),
        ("DOWN+DRAIN", False, True, False, False),
        ("UNKNOWN+DRAIN", False, False, True, False),
        ("IDLE+FAIL", False, False, False, False),
        ("IDLE+NOT_RESPONDING", False, False, False, False),
        ("IDLE+INVAL", False, False, False, False),
        ("IDLE+MAINT", False, False, False, False),
        ("IDLE+POWERED_DOWN", False, False, False, False),
        ("FUTURE", False, False, False, False),
        ("ERROR", False, False, False, False),
    ],
)
def test_c39_what_a_state_allows(
    text: str, schedulable: bool, drained: bool, draining: bool, busy: bool
) -> None:
    found = NodeState.parse(text)

    assert (found.schedulable, found.drained, found.draining, found.busy) == (
        schedulable,
        drained,
        draining,
        busy,
    )


def test_c39_unknown_flags_are_kept_and_told_apart() -> None:
    assert NodeState.parse(["IDLE", "SPACE_WEATHER"]).unknown_flags == {"SPACE_WEATHER"}


@given(st.lists(st.sampled_from(["IDLE", "drain", "Planned", "NOT_RESPONDING", "CLOUD"]), unique=True))
def test_c39_order_and_case_never_matter(words: list[str]) -> None:
    expected = NodeState.parse(words)

    assert NodeState.parse([word.swapcase() for word in reversed(words)]) == expected
    assert NodeState.parse(str(expected)).flags == expected.flags


@given(
    st.one_of(st.text(), st.lists(st.one_of(st.text(), st.none(), st.integers())), st.integers(), st.none())
)
def test_c39_nothing_raises(value: object) -> None:
    assert NodeState.parse(value).base
    assert JobState.parse(value).base


@pytest.mark.parametrize(
    ("spelling", "text", "holds"),
    [
        (["RUNNING"], "RUNNING", True),
        ("R", "RUNNING", True),
        (["RUNNING", "CONFIGURING"], "RUNNING+CONFIGURING", True),
        ("CONFIGURING", "RUNNING+CONFIGURING", True),
        (["COMPLETED", "COMPLETING"], "COMPLETED+COMPLETING", True),
        ("CG", "UNKNOWN+COMPLETING", True),
        ("SUSPENDED", "SUSPENDED", True),
        ("PD", "PENDING", False),
        (["PENDING", "REQUEUE_HOLD"], "PENDING+REQUEUE_HOLD", False),
        ("CANCELLED by 1000", "CANCELLED", False),
        ("OUT_OF_MEMORY", "OUT_OF_MEMORY", False),
        (["NODE_FAIL"], "NODE_FAIL", False),
        (["WARP"], "UNKNOWN+WARP", True),
    ],
)
def test_job_states(spelling: object, text: str, holds: bool) -> None:
    found = JobState.parse(spelling)

    assert (str(found), found.holds_nodes) == (text, holds)


def test_job_families() -> None:
    assert JobState.parse("PD").pending
    assert JobState.parse("S").running
    assert JobState.parse("TO").terminal
    assert not JobState.parse(["WARP"]).terminal
