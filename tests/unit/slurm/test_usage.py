"""What jobs used over time: each counts with exactly its share of each span."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npa.errors import UnknownError
from npa.slurm import usage
from npa.slurm.states import JobState
from npa.slurm.usage import PastJob

BEGIN = datetime(2026, 11, 30, tzinfo=UTC)
END = BEGIN + timedelta(hours=4)
RUNNING, PENDING, DONE = (JobState.parse(each) for each in ("RUNNING", "PENDING", "COMPLETED"))


def at(hours: float) -> datetime:
    return BEGIN + timedelta(hours=hours)


def seen(*jobs: PastJob) -> list[tuple[float, float, float]]:
    return [(b.cpus, b.gpus, b.waiting) for b in usage.over_time(jobs, BEGIN, END, 4)]


def test_a_job_counts_while_it_waits_and_while_it_runs() -> None:
    job = PastJob("1", DONE, "a", at(0.5), at(1), at(2.5), cpus=8, gpus=2)

    assert seen(job) == [(0, 0, 0.5), (8, 2, 0), (4, 1, 0), (0, 0, 0)]


def test_a_job_that_runs_still_has_its_nodes_until_now() -> None:
    limit = at(100)  # the end that Slurm tells of a running job

    assert seen(PastJob("1", RUNNING, "a", at(2), at(3), limit, 4)) == [
        (0, 0, 0),
        (0, 0, 0),
        (0, 0, 1),
        (4, 0, 0),
    ]


def test_one_that_began_before_counts_from_the_beginning() -> None:
    assert seen(PastJob("1", DONE, "a", at(-9), at(-8), at(1), 4))[:2] == [(4, 0, 0), (0, 0, 0)]


def test_one_that_was_cancelled_while_it_waited_waits_no_longer() -> None:
    job = PastJob("1", JobState.parse("CANCELLED"), "a", at(0), None, at(1))

    assert seen(job) == [(0, 0, 1), (0, 0, 0), (0, 0, 0), (0, 0, 0)]


def test_one_that_waits_waits_until_now() -> None:
    assert [waiting for _, _, waiting in seen(PastJob("1", PENDING, "a", at(2)))] == [0, 0, 1, 1]


def test_no_time_is_no_span() -> None:
    assert usage.over_time([], END, BEGIN) == ()


times = st.floats(-6, 10)


@given(st.lists(st.tuples(times, times, times, st.integers(0, 64)), max_size=6), st.integers(1, 50))
def test_nothing_is_lost_or_counted_twice(
    given_jobs: list[tuple[float, float, float, int]], count: int
) -> None:
    jobs = []
    expected = 0.0
    for number, (*when, cpus) in enumerate(given_jobs):
        submitted, started, ended = sorted(when)
        jobs.append(PastJob(str(number), DONE, "a", at(submitted), at(started), at(ended), cpus))
        expected += cpus * max(0.0, min(ended, 4) - max(started, 0))

    buckets = usage.over_time(jobs, BEGIN, END, count)

    assert sum(b.cpus for b in buckets) * 4 / count == pytest.approx(expected, abs=1e-3)
    assert all(b.cpus >= 0 and b.waiting <= len(jobs) for b in buckets)


def row(**changes: Any) -> dict[str, Any]:
    """A job of `sacct --json --allocations`, as 26.05 writes it, trimmed."""
    allocated = [
        {"type": "cpu", "name": "", "id": 1, "count": 16},
        {"type": "mem", "name": "", "id": 2, "count": 4096},
        {"type": "energy", "name": "", "id": 3, "count": -2},
        {"type": "gres", "name": "gpu", "id": 1001, "count": 8},
        {"type": "gres", "name": "gpu:b200", "id": 1002, "count": 8},
    ]
    return {
        "job_id": 7,
        "user": "alice",
        "state": {"current": ["RUNNING"], "reason": "None"},
        "time": {"submission": 1796062569, "start": 1796062570, "end": 0},
        "tres": {"allocated": allocated},
        **changes,
    }


def test_a_row_of_a_real_slurm() -> None:
    (job,) = usage.past({"errors": [], "jobs": [row()]})

    assert (job.id, job.user, job.cpus, job.gpus, job.ended_at) == ("7", "alice", 16, 8, None)
    assert job.started_at == datetime.fromtimestamp(1796062570, UTC)


def test_gpus_that_are_only_told_by_type_count() -> None:
    both = [{"type": "gres", "name": f"gpu:{kind}", "count": 2} for kind in ("a100", "b200")]

    assert usage.past({"jobs": [row(tres={"allocated": both})]}).rows[0].gpus == 4


def test_a_row_that_cannot_be_read_hides_no_other() -> None:
    rows = usage.past({"jobs": [row(), row(tres={"allocated": "?"}), row(state=None), row(job_id=8)]})

    assert [job.id for job in rows] == ["7", "8"]
    assert len(rows.problems) == 2


def test_no_answer_is_not_an_empty_one() -> None:
    with pytest.raises(UnknownError):
        usage.past({"errors": [{"description": "no connection to slurmdbd"}]})
