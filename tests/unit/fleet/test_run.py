"""Several clusters at a time: what one of them does to the others, and how it all is stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import pytest
from tests.fakes.fleet import World, fleet, outside

from npa.errors import DestroyIncompleteError, NotFoundError, NpaError, RefusedError, ToolError, UsageError
from npa.fleet import plan, verbs
from npa.fleet.backends import Heard, Lack, Options
from npa.fleet.errors import FleetRefusedError
from npa.fleet.member import Claim
from npa.fleet.plan import FleetPlan
from npa.fleet.result import Outcome
from npa.fleet.run import Run
from npa.fleet.select import Selection
from npa.plan.model import Event

ALL, OPTIONS = Selection(), Options()
NAMES = ("alpha", "bravo", "charlie")
PATIENCE = 30


def claims(count: int) -> list[Claim]:
    return [Claim("lab", "team", f"c-{index}", "soperator", "local") for index in range(count)]


@contextmanager
def lock() -> Iterator[None]:
    yield


def test_as_many_work_at_once_as_is_allowed_and_no_more() -> None:
    everybody, at_work, most = threading.Barrier(3), threading.Semaphore(3), []

    def work(claim: Claim, _: Heard) -> Outcome:
        most.append(at_work.acquire(blocking=False))
        everybody.wait(PATIENCE)  # three have to be here at once, or nobody gets any further
        at_work.release()
        return Outcome(claim, "healthy", True)

    run = Run("lab", "deploy", claims(9), work, lock=lock, concurrency=3)

    assert run.result().ok
    assert most == [True] * 9


def test_what_the_caller_chose_for_a_block_holds_in_every_thread() -> None:
    chosen: ContextVar[str] = ContextVar("chosen", default="nothing")

    def work(claim: Claim, _: Heard) -> Outcome:
        return Outcome(claim, chosen.get(), True)

    token = chosen.set("this")
    run = Run("lab", "deploy", claims(3), work, lock=lock, concurrency=2)
    chosen.reset(token)

    assert {each.status for each in run.result().outcomes} == {"this"}


def test_events_of_a_cluster_come_in_order_and_end_with_its_outcome() -> None:
    def work(claim: Claim, heard: Heard) -> Outcome:
        heard(Event("started", "a", "start a"))
        heard(Event("done", "a", "start a", seconds=1.0))
        return Outcome(claim, "healthy", True)

    events = list(Run("lab", "deploy", claims(2), work, lock=lock, concurrency=2))

    for name in ("c-0", "c-1"):
        assert [each.kind for each in events if each.cluster == name] == ["began", "started", "done", "ended"]
    assert all((each.outcome is not None) == (each.kind == "ended") for each in events)


def test_one_cluster_s_failure_never_hides_another_s_result(tmp_path: Path) -> None:
    world = World(fails={"bravo": ToolError(("slurmctld",), 1, "fatal: no")})
    given = outside(tmp_path, world)
    shown = plan.deploy(fleet(*NAMES), ALL, OPTIONS, given)
    result = verbs.deploy(shown, OPTIONS, given, concurrency=3).result()

    assert [each.status for each in result.outcomes] == ["healthy", "failed", "healthy"]
    assert result.exit_code == 5
    assert "fatal: no" in result.outcomes[1].message
    assert result.outcomes[1].error["code"] == "tool"
    record = given.store("lab").record("bravo")
    assert record
    assert (record.phase, "fatal: no" in record.message) == ("failed", True)

    world.fails.clear()
    again = plan.deploy(fleet(*NAMES), ALL, OPTIONS, given)
    assert [each.planned and each.planned.steps for each in again.items] == [0, 1, 0]
    assert verbs.deploy(again, OPTIONS, given).result().exit_code == 0


def test_an_unexpected_exception_is_one_cluster_s_failure(tmp_path: Path) -> None:
    given = outside(tmp_path, World(fails={"alpha": ZeroDivisionError("oh")}))
    shown = plan.deploy(fleet("alpha", "bravo"), ALL, OPTIONS, given)
    result = verbs.deploy(shown, OPTIONS, given).result()

    assert [each.status for each in result.outcomes] == ["failed", "healthy"]


def test_fail_fast_begins_with_no_other(tmp_path: Path) -> None:
    given = outside(tmp_path, World(fails={"alpha": NpaError("no")}))
    shown = plan.deploy(fleet(*NAMES), ALL, OPTIONS, given)
    result = verbs.deploy(shown, OPTIONS, given, fail_fast=True).result()

    assert [each.status for each in result.outcomes] == ["failed", "skipped", "skipped"]
    assert result.exit_code == 1
    assert given.store("lab").record("bravo") is None, "what was not begun is not claimed"


def test_cancel_stops_at_the_next_event_and_the_next_run_goes_on(tmp_path: Path) -> None:
    world = World()
    given = outside(tmp_path, world)
    shown = plan.deploy(fleet(*NAMES), ALL, OPTIONS, given)
    run = verbs.deploy(shown, OPTIONS, given)
    waiting = threading.Event()

    def work(name: str, heard: Heard) -> None:
        if name == "bravo":
            assert waiting.wait(PATIENCE)
            heard(Event("progress", "make", "still making it"))

    world.work = work
    for event in run:
        if (event.cluster, event.kind) == ("bravo", "started"):
            run.cancel()
            waiting.set()
    result = run.result()

    assert [each.status for each in result.outcomes] == ["healthy", "interrupted", "interrupted"]
    assert result.exit_code == 130
    assert "bravo" in world.clusters, "it was begun"

    world.work = lambda *_: None
    again = plan.deploy(fleet(*NAMES), ALL, OPTIONS, given)
    assert verbs.deploy(again, OPTIONS, given).result().ok


def test_leaving_the_block_early_stops_what_is_at_work_and_waits_for_it(tmp_path: Path) -> None:
    given = outside(tmp_path, World())
    shown = plan.deploy(fleet(*NAMES), ALL, OPTIONS, given)
    with verbs.deploy(shown, OPTIONS, given) as run:
        next(iter(run))
    statuses = {each.status for each in run.result().outcomes}

    assert statuses <= {"healthy", "interrupted"}
    assert len(run.result().outcomes) == len(NAMES)
    with given.store("lab").locked():
        pass  # it was given back


def test_one_run_of_a_fleet_at_a_time(tmp_path: Path) -> None:
    given = outside(tmp_path, World())
    shown = plan.deploy(fleet("alpha"), ALL, OPTIONS, given)
    with given.store("lab").locked(), pytest.raises(RefusedError, match="another command"):
        verbs.deploy(shown, OPTIONS, given).result()

    assert given.store("lab").record("alpha") is None


def test_everything_that_stands_against_it_is_told_before_anything_is_made(tmp_path: Path) -> None:
    from npa.api.identity import Identity

    world = World(
        clusters={"bravo": Identity("theirs")}, lacks=(Lack("this machine", "is full", "empty it"),)
    )
    given = outside(tmp_path, world)
    shown = plan.deploy(fleet(*NAMES), ALL, OPTIONS, given)

    with pytest.raises(FleetRefusedError) as refused:
        verbs.deploy(shown, OPTIONS, given)
    assert refused.value.clusters == ("team/bravo", "this machine")
    assert refused.value.exit_code == 3
    assert not given.store("lab").exists()
    assert list(world.clusters) == ["bravo"]


def test_two_fleets_do_not_share_a_cluster(tmp_path: Path) -> None:
    given = outside(tmp_path, World())
    verbs.deploy(plan.deploy(fleet("alpha"), ALL, OPTIONS, given), OPTIONS, given).result()
    other = plan.deploy(fleet("alpha", name="prod"), ALL, OPTIONS, given)

    assert [each.message for each in other.lacks] == ["fleet lab has a cluster 'alpha'"]


def test_only_what_is_selected_is_touched(tmp_path: Path) -> None:
    world = World()
    given = outside(tmp_path, world)
    shown = plan.deploy(fleet(*NAMES), Selection(clusters=("a*", "b*")), OPTIONS, given)
    verbs.deploy(shown, OPTIONS, given).result()
    assert set(world.clusters) == {"alpha", "bravo"}

    ending = plan.destroy("lab", Selection(clusters=("a*",)), OPTIONS, given)
    assert verbs.destroy(ending, OPTIONS, given).result().exit_code == 0
    assert set(world.clusters) == {"bravo"}
    for pattern in (Selection(clusters=("z*",)), Selection(projects=("no",))):
        with pytest.raises(UsageError, match="in the fleet"):
            plan.deploy(fleet(*NAMES), pattern, OPTIONS, given)


def test_a_cluster_that_left_the_file_is_named_and_kept(tmp_path: Path) -> None:
    world = World()
    given = outside(tmp_path, world)
    verbs.deploy(plan.deploy(fleet(*NAMES), ALL, OPTIONS, given), OPTIONS, given).result()
    less = plan.deploy(fleet("alpha"), ALL, OPTIONS, given)

    assert [each.cluster for each in less.extra] == ["bravo", "charlie"]
    assert verbs.deploy(less, OPTIONS, given).result().ok
    assert set(world.clusters) == set(NAMES)


def test_a_destroy_that_left_something_keeps_the_record(tmp_path: Path) -> None:
    world = World()
    given = outside(tmp_path, world)
    verbs.deploy(plan.deploy(fleet("alpha", "bravo"), ALL, OPTIONS, given), OPTIONS, given).result()
    world.fails["alpha"] = DestroyIncompleteError("a disk is left", {})
    shown = plan.destroy("lab", ALL, OPTIONS, given)
    result = verbs.destroy(shown, OPTIONS, given).result()

    assert [(each.status, each.message) for each in result.outcomes] == [
        ("failed", "a disk is left"),
        ("absent", ""),
    ]
    assert [each.phase for each in given.store("lab").records()[0]] == ["destroying"]
    told = verbs.status("lab", ALL, given).outcomes
    assert [(each.status, each.message) for each in told] == [("healthy", "a destroy did not end")]


def test_status_tells_each_case_apart(tmp_path: Path) -> None:
    from npa.api.identity import Identity

    world = World()
    given = outside(tmp_path, world)
    lab = fleet(*NAMES, "delta", "echo")
    shown = plan.deploy(lab, Selection(clusters=(*NAMES, "delta")), OPTIONS, given)
    verbs.deploy(shown, OPTIONS, given).result()
    del world.clusters["bravo"]
    world.unreadable.add("charlie")
    world.clusters["delta"] = Identity("made anew")
    result = verbs.status("lab", ALL, given, lab.members)

    assert {each.claim.cluster: each.status for each in result.outcomes} == {
        "alpha": "healthy",
        "bravo": "absent",
        "charlie": "unknown",
        "delta": "foreign",
        "echo": "absent",
    }
    assert result.exit_code == 4
    with pytest.raises(NotFoundError):
        verbs.status("nobody", ALL, given)


def test_status_tells_work_from_what_was_left(tmp_path: Path) -> None:
    world = World(fails={"bravo": NpaError("no")})
    given = outside(tmp_path, world)
    lab = fleet("alpha")
    store = given.store("lab")
    verbs.deploy(plan.deploy(lab, ALL, OPTIONS, given), OPTIONS, given).result()
    record = store.record("alpha")
    assert record
    store.save(record.moved("changing", given.now()))

    assert [each.message for each in verbs.status("lab", ALL, given).outcomes] == ["a deploy did not end"]
    with store.locked():
        told = [each.message for each in verbs.status("lab", ALL, given).outcomes]
    assert told == ["being changed right now"]


def test_a_damaged_record_stops_what_needs_it_and_hides_nothing_else(tmp_path: Path) -> None:
    world = World()
    given = outside(tmp_path, world)
    lab = fleet("alpha", "bravo")
    verbs.deploy(plan.deploy(lab, ALL, OPTIONS, given), OPTIONS, given).result()
    (given.store("lab").folder / "clusters/alpha.json").write_text("{")

    status = verbs.status("lab", ALL, given)
    assert [each.status for each in status.outcomes] == ["healthy"]
    assert [name for name, _ in status.unreadable] == ["alpha"]
    assert status.exit_code == 4

    for made in (plan.deploy(lab, ALL, OPTIONS, given), plan.destroy("lab", ALL, OPTIONS, given)):
        assert isinstance(made, FleetPlan)
        with pytest.raises(FleetRefusedError, match="alpha"):
            made.require()
    assert plan.destroy("lab", Selection(clusters=("bravo",)), OPTIONS, given).ok


def test_nothing_is_ended_that_nobody_can_tell_of(tmp_path: Path) -> None:
    world = World()
    given = outside(tmp_path, world)
    verbs.deploy(plan.deploy(fleet(*NAMES), ALL, OPTIONS, given), OPTIONS, given).result()
    world.unreadable.add("bravo")
    shown = plan.destroy("lab", ALL, OPTIONS, given)

    with pytest.raises(FleetRefusedError, match="cannot tell"):
        verbs.destroy(shown, OPTIONS, given)
    assert len(world.clusters) == len(NAMES)
