"""What several clusters need is made by one of them; the others wait for that alone, and can be stopped."""

from __future__ import annotations

import threading

import pytest

from npa.errors import StoppedError
from npa.fleet import shared
from npa.fleet.shared import Shared
from npa.plan.model import Event, Plan, Step

PATIENCE = 30.0
BUILD, CREATE, START = (
    Step("build", "image", "none is cached", "build:image"),
    Step("create", "cluster a", "it is new", "create:cluster"),
    Step("start", "lab a", "it does not run", "start:lab"),
)


def made(*steps: Step) -> Plan:
    return Plan("a", "local", steps)


@pytest.mark.parametrize(
    ("shown", "fresh", "done"),
    [
        pytest.param((BUILD, CREATE), (CREATE,), (CREATE,), id="another-built-it"),
        pytest.param((BUILD, CREATE), (BUILD, CREATE), (BUILD, CREATE), id="nobody-has"),
        pytest.param((BUILD, CREATE), (CREATE, START), (BUILD, CREATE), id="something-else-changed"),
    ],
)
def test_only_what_is_shared_may_drop_out_of_a_plan(
    shown: tuple[Step, ...], fresh: tuple[Step, ...], done: tuple[Step, ...]
) -> None:
    assert shared.without(made(*shown), made(*fresh)).steps == done


def test_the_others_wait_for_the_shared_step_alone() -> None:
    turns, told = Shared(), list[str]()
    first, second = made(BUILD, CREATE), made(CREATE)
    waits, began = threading.Event(), threading.Event()

    def other() -> None:
        began.set()
        with turns.turn(made(BUILD, CREATE), lambda: second, lambda _: waits.set()) as (plan, _):
            told.append("other")
            assert plan == second, "what is built is not built again"

    thread = threading.Thread(target=other)
    with turns.turn(first, lambda: first, lambda event: told.append(event.step)) as (plan, hear):
        assert plan == first
        thread.start()
        assert waits.wait(PATIENCE)
        hear(Event("done", "build:image", "build image"))
        thread.join(PATIENCE)
        hear(Event("done", "create:cluster", "create cluster a"))

    assert told == ["build:image", "other", "create:cluster"]


def test_one_that_fails_lets_the_next_one_try() -> None:
    turns = Shared()
    plan = made(BUILD, CREATE)
    with pytest.raises(OSError, match="no space"), turns.turn(plan, lambda: plan, lambda _: None):
        raise OSError("no space")
    with turns.turn(plan, lambda: plan, lambda _: None) as (found, _):
        assert found == plan


def test_who_waits_can_be_stopped() -> None:
    turns, plan = Shared(), made(BUILD)

    def stopped(_: Event) -> None:
        raise StoppedError("stopped on request")

    with turns.turn(plan, lambda: plan, lambda _: None):
        found = list[BaseException]()

        def other() -> None:
            try:
                with turns.turn(plan, lambda: plan, stopped):
                    pass
            except StoppedError as error:
                found.append(error)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join(PATIENCE)

    assert len(found) == 1


def test_a_plan_without_it_waits_for_nobody() -> None:
    turns, needs, plan = Shared(), made(BUILD), made(CREATE)
    with (
        turns.turn(needs, lambda: needs, lambda _: None),
        turns.turn(plan, lambda: pytest.fail("not asked"), lambda _: None) as (found, _),
    ):
        assert found == plan
