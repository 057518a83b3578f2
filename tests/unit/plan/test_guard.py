from __future__ import annotations

import dataclasses

import pytest

from npa.errors import DestructiveError
from npa.plan import guard
from npa.plan.model import Change, JobRef, Plan, Step, Verb

TRAIN = JobRef("12", "alice", "train", "RUNNING", ("cpu8-2",))
ARRAY = JobRef("13_4", "bob", "eval", "RUNNING", ("cpu8-3",))


def plan(*steps: Step) -> Plan:
    return Plan("quick", "local", steps)


def step(verb: Verb, *jobs: JobRef, kills: bool = False) -> Step:
    return Step(verb, "pool cpu8", "smaller", f"{verb}:cpu8", ("cpu8-2", "cpu8-3"), jobs, kills_jobs=kills)


@pytest.mark.parametrize("verb", ["stop", "remove"])
def test_ending_jobs_is_refused_with_their_names(verb: Verb) -> None:
    with pytest.raises(DestructiveError) as refused:
        guard.check(plan(step(verb, TRAIN, ARRAY)))

    assert str(refused.value) == (
        f"pool cpu8: to {verb} cpu8-[2-3] would end 2 running jobs: 12 (alice, train), 13_4 (bob, eval)"
    )
    assert refused.value.steps == (f"{verb}:cpu8",)
    assert "--wait-for-jobs 1h" in refused.value.hint
    assert "--force" in refused.value.hint


def test_every_such_step_is_named() -> None:
    with pytest.raises(DestructiveError) as refused:
        guard.check(plan(step("stop", TRAIN), step("drain", TRAIN), step("remove", ARRAY)))

    assert refused.value.steps == ("stop:cpu8", "remove:cpu8")


@pytest.mark.parametrize(
    "allowed",
    [
        pytest.param(step("stop", TRAIN, kills=True), id="forced"),
        pytest.param(step("remove"), id="no-job-there"),
        pytest.param(step("drain", TRAIN), id="a-drain-waits"),
        pytest.param(step("restart", TRAIN), id="a-restart-keeps-jobs"),
    ],
)
def test_the_rest_is_allowed(allowed: Step) -> None:
    guard.check(plan(allowed))


def test_many_jobs_are_counted_not_listed() -> None:
    jobs = [JobRef(str(number), "alice", "sweep", "RUNNING") for number in range(1, 101)]

    with pytest.raises(DestructiveError, match=r"100 running jobs: 1 .* 5 \(alice, sweep\) and 95 more$"):
        guard.check(plan(step("stop", *jobs)))


def test_a_job_cannot_break_the_line_with_its_name() -> None:
    assert guard.named(JobRef("1", "eve", "a\nerror: b", "RUNNING")) == "1 (eve, a error: b)"


RESTART = Step("restart", "slurmdbd on accounting-0", "not running", "restart:accounting-0:slurmdbd")
WAIT = Step("wait", "accounting-0", "until it listens", "wait:accounting-0")
WRITE = Step("write", "slurm.conf", "changed", "write:slurm.conf")


@pytest.mark.parametrize(
    ("now", "agreed", "still"),
    [
        ((RESTART, WAIT), (RESTART, WAIT), True),
        ((), (RESTART, WAIT), True),
        ((WRITE,), (RESTART, WAIT, WRITE), True),
        ((WRITE,), (), False),
        ((), (WRITE,), False),
        ((WAIT, RESTART), (RESTART, WAIT), False),
        ((RESTART,), (dataclasses.replace(RESTART, reason="reads a changed file"),), False),
        ((), (step("stop", TRAIN, kills=True),), False),
        ((step("stop", TRAIN, ARRAY, kills=True),), (step("stop", TRAIN, kills=True),), False),
    ],
)
def test_what_came_up_by_itself_need_not_be_agreed_to_again(
    now: tuple[Step, ...], agreed: tuple[Step, ...], still: bool
) -> None:
    assert guard.still_agreed(plan(*now), plan(*agreed)) is still


def test_another_change_of_the_spec_is_not_what_was_agreed_to() -> None:
    change = Change("pool", "cpu8", "size", "2", "3", "hot", "nodes are added")

    assert not guard.still_agreed(dataclasses.replace(plan(), changes=(change,)), plan(WAIT))
