from __future__ import annotations

import doctest
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from npa.errors import NpaError, SpecError, StoppedError
from npa.plan.model import Event
from npa.sdk import fleet, soperator
from npa.sdk.work import Work

PATIENCE = 30


@pytest.mark.parametrize("module", [fleet, soperator])
def test_the_examples_are_what_happens(module: object) -> None:
    ran = doctest.testmod(module)  # type: ignore[arg-type]

    assert ran.attempted
    assert not ran.failed


def test_public_names_are_sorted_and_there() -> None:
    assert list(fleet.__all__) == sorted(fleet.__all__)
    assert all(hasattr(fleet, name) for name in fleet.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        fleet.nothing  # noqa: B018


def test_a_fleet_s_problems_are_a_spec_s() -> None:
    with pytest.raises(SpecError) as refused:
        fleet.spec_from_mapping({"name": "lab"})

    assert isinstance(refused.value, fleet.FleetSpecError)
    assert isinstance(refused.value, ValueError)


def test_importing_it_does_not_import_pydantic() -> None:
    code = "import sys, npa.sdk.fleet; sys.exit('pydantic' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_work_yields_its_events_and_then_has_its_result() -> None:
    def do(heard: Callable[[Event], None]) -> int:
        for step in ("a", "b"):
            heard(Event("started", step, step))
        return 7

    work = Work(do)

    assert [each.step for each in work] == ["a", "b"]
    assert (work.done, work.result(), work.result()) == (True, 7, 7)


def test_work_raises_what_the_verb_raises() -> None:
    def do(_: Callable[[Event], None]) -> int:
        raise NpaError("no", hint="look")

    with pytest.raises(NpaError, match="no"):
        Work(do).result()


def test_cancelled_work_stops_at_its_next_event() -> None:
    told, cancelled = [], threading.Event()

    def do(heard: Callable[[Event], None]) -> int:
        heard(Event("started", "a", "a"))
        assert cancelled.wait(PATIENCE)
        heard(Event("started", "b", "b"))
        told.append("went on")
        return 7

    work = Work(do)
    for _ in work:
        work.cancel()
        cancelled.set()

    with pytest.raises(StoppedError):
        work.result()
    assert told == []


def test_leaving_the_block_early_waits_for_the_end() -> None:
    ended = []

    def do(heard: Callable[[Event], None]) -> None:
        try:
            while True:
                heard(Event("progress", "a", "a"))
        finally:
            ended.append(True)

    with Work(do) as work:
        next(work)

    assert ended == [True]
    with pytest.raises(StoppedError):
        work.result()
    assert not Work(do).done
