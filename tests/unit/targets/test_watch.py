from __future__ import annotations

from collections.abc import Callable

from npa.errors import NotFoundError, RefusedError
from npa.plan import backoff
from npa.plan.model import Event, Plan, Step
from npa.targets.local import watch

START = Step("start", "pool cpu", "not running", "start:cpu", ("cpu-0",))
STOP = Step("stop", "nodes cpu-1", "no longer in the spec", "stop:cpu", ("cpu-1",))
WAIT = Step("wait", "workers", "until ready", "wait:workers", ("cpu-0",))
BUILD = Step("build", "image", "none", "build:image")


def plan(*steps: Step) -> Plan:
    return Plan("quick", "local", steps)


def test_a_watcher_brings_back_and_takes_nothing_away() -> None:
    assert watch.due(plan(BUILD, STOP, START, WAIT), {}, 0.0).steps == (START, WAIT)


def test_a_step_that_was_just_tried_waits_and_so_does_its_wait() -> None:
    history = backoff.tried(["start:cpu"], {}, 10.0)

    assert watch.due(plan(START, WAIT), history, 10.5).steps == ()
    assert watch.due(plan(START, WAIT), history, 11.5).steps == (START, WAIT)


def test_a_wait_alone_is_nothing_to_do() -> None:
    assert watch.due(plan(WAIT), {}, 0.0).steps == ()


def test_it_goes_on_after_a_failure_says_it_once_and_ends_with_the_cluster() -> None:
    heard: list[Event] = []
    outcomes: list[Exception | None] = [
        RefusedError("busy"),
        RefusedError("busy"),
        None,
        NotFoundError("gone"),
    ]

    def repair(choose: Callable[[Plan], Plan]) -> Plan:
        outcome = outcomes.pop(0)
        if outcome:
            raise outcome
        return choose(plan())

    watch.watch(repair, heard.append, lambda: False, poll=0.0)

    assert [event.message for event in heard] == ["busy"]
    assert outcomes == []
