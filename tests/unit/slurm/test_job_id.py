"""Ids of jobs, of tasks of an array, of parts of a heterogeneous job."""

from __future__ import annotations

import pytest

from npa.slurm import job_id
from npa.slurm.job_id import JobId


@pytest.mark.parametrize(
    ("text", "meant", "shown"),
    [
        ("12", JobId(12), "12"),
        (" 12 ", JobId(12), "12"),
        ("12_3", JobId(12, task=3), "12_3"),
        ("12_0", JobId(12, task=0), "12_0"),
        ("12+1", JobId(12, offset=1), "12+1"),
        ("12_[4-9%2]", JobId(12), "12"),
        ("12.batch", JobId(12), "12"),
        ("12_3.0", JobId(12, task=3), "12_3"),
    ],
)
def test_an_id_is_read_as_squeue_and_sacct_print_it(text: str, meant: JobId, shown: str) -> None:
    assert job_id.parse(text) == meant
    assert str(meant) == shown


@pytest.mark.parametrize(
    "text", ["", "x", "0", "-1", "12_", "12+", "12 13", "12;reboot", "9" * 11, "12_x", "१२"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no job id"):
        job_id.parse(text)


@pytest.mark.parametrize(
    ("tasks", "wanted", "there"),
    [
        ("2-3%1", 2, True),
        ("2-3%1", 1, False),
        ("1,5,7-9", 8, True),
        ("1-9:2", 4, False),
        ("1-9:2", 5, True),
        ("1-3,...", 9, False),
        ("0xC", 2, True),
        ("0xC", 4, False),
        ("", 0, False),
    ],
)
def test_waiting_tasks_are_found_in_a_range(tasks: str, wanted: int, there: bool) -> None:
    assert job_id.has_task(tasks, wanted) is there
