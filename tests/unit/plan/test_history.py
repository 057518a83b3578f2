"""The history of plans: what is written is what is read, and a broken line hides no other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npa.plan import history
from npa.plan.history import Applied
from npa.plan.model import Plan, Step

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PLAN = Plan(
    "quick", "local", (Step("start", "pool cpu", "new", "start:cpu"), Step("wait", "workers", "", "wait:w"))
)


def test_the_end_replaces_the_beginning() -> None:
    begun = history.begun("a", "deploy", PLAN, NOW)
    ended = history.ended(begun, "done", 2, NOW + timedelta(seconds=9))

    found = history.parse([history.line(begun), history.line(ended)])

    assert found.plans == (ended,)
    assert (ended.steps, ended.seconds) == (("start pool cpu", "wait workers"), 9.0)


def test_one_without_an_end_did_not_end() -> None:
    (found,) = history.parse([history.line(history.begun("a", "deploy", PLAN, NOW))]).plans

    assert (found.result, found.seconds) == ("unfinished", None)


def test_a_plan_of_a_thousand_steps_is_a_short_line() -> None:
    long = Plan("quick", "local", PLAN.steps * 500)
    entry = history.ended(history.begun("a", "deploy", long, NOW), "failed", 0, NOW, "x" * 9999)

    assert len(history.line(entry)) < 3000
    assert (entry.count, len(entry.steps)) == (1000, history.SHOWN_STEPS)


BROKEN = ("{", "null", "[1]", "{}", '{"schema":"npa.soperator.history/v0"}', '"text"', "\x00", "{" * 5000)


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_line_hides_no_other(broken: str) -> None:
    lines = [history.line(history.begun(each, "deploy", PLAN, NOW)) for each in ("a", "b")]

    found = history.parse([lines[0], broken, "", lines[1]])

    assert ([each.id for each in found.plans], found.broken) == (["a", "b"], 1)


@given(st.data())
def test_half_a_line_is_only_ever_broken(data: st.DataObject) -> None:
    line = history.line(history.begun("a", "deploy", PLAN, NOW))
    cut = data.draw(st.integers(1, len(line) - 1))

    assert history.parse([line[:cut]]).plans == ()


def test_the_newest_are_kept() -> None:
    every = [Applied(str(number), "deploy", NOW + timedelta(hours=number), (), 0) for number in range(9)]

    kept = history.parse(history.kept(history.History(tuple(every)), 3))

    assert [each.id for each in kept.plans] == ["6", "7", "8"]
