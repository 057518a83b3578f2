"""Jobs in all detail, of slurmctld's and slurmdbd's answers as 26.05 gives them."""

from __future__ import annotations

from typing import Any

import pytest

from npa.slurm import job_detail
from npa.slurm.job_detail import Request
from npa.slurm.job_id import JobId
from npa.slurm.quantity import Gres


def number(value: int | None) -> dict[str, Any]:
    return {"set": value is not None, "infinite": False, "number": value or 0}


def current(job: int, state: str = "PENDING", **more: Any) -> dict[str, Any]:
    return {
        "job_id": job,
        "job_state": [state],
        "name": "train",
        "user_name": "alice",
        "partition": "main",
        **more,
    }


def past(job: int, state: str, **more: Any) -> dict[str, Any]:
    return {
        "job_id": job,
        "name": "train",
        "user": "alice",
        "state": {"current": [state], "reason": "None"},
        **more,
    }


ARRAY = [
    current(5, array_job_id=number(5), array_task_id=number(None), array_task_string="2-3%1"),
    current(11, "RUNNING", array_job_id=number(5), array_task_id=number(1), array_task_string=""),
]
HET = [
    current(6, het_job_id=number(6), het_job_offset=number(0)),
    current(7, het_job_id=number(6), het_job_offset=number(1)),
]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (JobId(5), ["5_[2-3%1]", "5_1"]),
        (JobId(5, task=1), ["5_1"]),
        (JobId(5, task=3), ["5_[2-3%1]"]),
        (JobId(5, task=9), []),
        (JobId(11), ["5_1"]),
        (JobId(6), ["6+0", "6+1"]),
        (JobId(6, offset=1), ["6+1"]),
        (JobId(7), ["6+1"]),
        (JobId(1), []),
    ],
)
def test_an_id_means_a_job_or_all_its_parts(wanted: JobId, found: list[str]) -> None:
    rows = job_detail.current({"jobs": [*ARRAY, *HET]})

    assert [each.job.id for each in rows if each.is_meant(wanted)] == found


def test_what_a_job_asks_for() -> None:
    row = current(
        2,
        node_count=number(2),
        cpus=number(8),
        minimum_cpus_per_node=number(4),
        memory_per_node=number(1024),
        memory_per_cpu=number(None),
        tres_per_node="gres/gpu:b200:4,gres/nic",
        features="nvlink",
        required_nodes="gpu-0",
    )

    (found,) = job_detail.current({"jobs": [row]})

    assert found.request == Request(
        nodes=2,
        cpus=8,
        cpus_per_node=4,
        memory_per_node=1024,
        gres_per_node=(Gres("gpu", "b200", 4), Gres("nic")),
        features="nvlink",
        required_nodes="gpu-0",
    )


def test_who_cancelled_a_job_is_in_accounting() -> None:
    row = past(4, "CANCELLED", kill_request_user="bob", nodes="None assigned", time={"start": 4294967294})

    (found,) = job_detail.accounted({"jobs": [row]})
    (seen,) = job_detail.current({"jobs": [current(4, "CANCELLED")]})

    assert (found.cancelled_by, found.job.nodes, found.job.started_at) == ("bob", (), None)
    assert job_detail.with_accounts(seen, found).cancelled_by == "bob"
    assert job_detail.with_accounts(seen, None) == seen


@pytest.mark.parametrize(
    "name",
    ["crazy|name", "two words", "tab\there", "new\nline", "naïve-日本", '"q"', "a" * 256, "none", "(null)"],
)
def test_c43_a_name_shifts_nothing(name: str) -> None:
    rows = job_detail.current({"jobs": [current(1), {**current(2), "name": name}, current(3)]})

    assert [(each.job.number, each.job.name) for each in rows] == [(1, "train"), (2, name), (3, "train")]
    assert rows.problems == ()


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param({"job_id": "N/A"}, id="no-number"),
        pytest.param(None, id="no-object"),
        pytest.param({**current(2), "nodes": "gpu-[0"}, id="broken-hostlist"),
        pytest.param({**current(2), "tres_per_node": 7}, id="another-type"),
        pytest.param({**current(2), "memory_per_node": {"set": True, "number": "lots"}}, id="no-quantity"),
    ],
)
def test_c74_one_bad_row_hides_no_other(bad: object) -> None:
    rows = job_detail.current({"jobs": [current(1), bad, current(3)]})

    assert [each.job.number for each in rows] == [1, 3]
    assert len(rows.problems) == 1
