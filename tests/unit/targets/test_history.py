"""The history on disk: a beginning and an end around whatever happens, added whole, and bounded."""

from __future__ import annotations

from pathlib import Path

import pytest

from npa.errors import NpaError, RefusedError, StoppedError
from npa.plan.history import Result
from npa.plan.model import Event, Plan, Step
from npa.targets import history

PLAN = Plan("quick", "local", (Step("start", "pool cpu", "new", "start:cpu"),))
DONE = Event("done", "start:cpu", "start pool cpu")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.jsonl"


def apply(path: Path, problem: BaseException | None = None, plan: Plan = PLAN) -> list[Event]:
    heard: list[Event] = []
    with history.written(path, "deploy", plan, heard.append) as hear:
        hear(DONE)
        if problem:
            raise problem
    return heard


def test_what_was_applied_is_written_down_and_heard(path: Path) -> None:
    heard = apply(path)

    (entry,) = history.load(path).plans
    assert (entry.verb, entry.result, entry.done, entry.count) == ("deploy", "done", 1, 1)
    assert heard == [DONE]
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("problem", "result"),
    [
        (NpaError("slurmctld is not running"), "failed"),
        (RefusedError("no"), "refused"),
        (StoppedError("asked to"), "stopped"),
        (KeyboardInterrupt(), "stopped"),
        (OSError("disk"), "failed"),
    ],
)
def test_how_it_ended_is_written_down(path: Path, problem: BaseException, result: Result) -> None:
    with pytest.raises(type(problem)):
        apply(path, problem)

    (entry,) = history.load(path).plans
    assert (entry.result, entry.error) == (result, str(problem))


def test_one_that_was_killed_has_begun(path: Path) -> None:
    killed = history.written(path, "deploy", PLAN, lambda _: None)
    killed.__enter__()

    assert [entry.result for entry in history.load(path).plans] == ["unfinished"]
    killed.__exit__(None, None, None)


def test_a_first_deploy_makes_the_folder_on_its_way(tmp_path: Path) -> None:
    path = tmp_path / "quick" / "history.jsonl"
    with history.written(path, "deploy", PLAN, lambda _: None) as hear:
        assert not path.parent.exists()
        path.parent.mkdir()
        hear(DONE)
        assert [entry.result for entry in history.load(path).plans] == ["unfinished"]

    assert [entry.result for entry in history.load(path).plans] == ["done"]


def test_a_plan_without_steps_is_none(path: Path) -> None:
    apply(path, plan=Plan("quick", "local", ()))

    assert not path.exists()


def test_a_torn_line_swallows_no_other(path: Path) -> None:
    apply(path)
    path.write_bytes(path.read_bytes() + b'{"schema":"npa.sop\xff')

    apply(path)

    found = history.load(path)
    assert (len(found.plans), found.broken) == (2, 1)


def test_it_stays_small(path: Path) -> None:
    apply(path)
    path.write_bytes(path.read_bytes() + b"x" * history.LIMIT + b"\n")
    apply(path)

    assert path.stat().st_size < 10_000
    assert [entry.result for entry in history.load(path).plans] == ["done", "done"]


def test_a_history_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "history.jsonl"
    folder.mkdir()

    assert apply(folder) == [DONE]
