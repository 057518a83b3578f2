from __future__ import annotations

import pytest

from npa.operator.keys import Key
from npa.operator.pace import LEAST, Pace
from npa.reconcile.decision import Decision, Drain, Notice
from npa.render.objects import POD

KEY, OTHER = Key("c", "ns", "a"), Key("c", "ns", "b")
SAYS = Decision(status={"phase": "Ready"})


def waits(decision: Decision, *, after: float, key: Key = KEY) -> float:
    now = 100.0
    pace = Pace(clock=lambda: now)
    pace.note(KEY, SAYS)
    now += after
    return pace.wait(key, decision)


def test_the_first_is_said_at_once() -> None:
    assert Pace().wait(KEY, SAYS) == 0.0


def test_a_status_that_follows_soon_is_put_off() -> None:
    assert waits(SAYS, after=0.1) == pytest.approx(LEAST - 0.1)
    assert waits(SAYS, after=LEAST) == 0.0
    assert waits(SAYS, after=0.1, key=OTHER) == 0.0


@pytest.mark.parametrize(
    "decision",
    [
        pytest.param(Decision(status={}, create=(POD.object("p"),)), id="a-pod-is-made"),
        pytest.param(Decision(status={}, slurm=(Drain("n", "r"),)), id="slurm-is-told"),
        pytest.param(Decision(again_in=3.0), id="nothing"),
    ],
)
def test_what_does_something_is_never_put_off(decision: Decision) -> None:
    assert waits(decision, after=0.1) == 0.0


def test_events_go_with_the_status_that_they_are_about() -> None:
    assert waits(Decision(status={}, notices=(Notice("Normal", "R", "m"),)), after=0.1) > 0
