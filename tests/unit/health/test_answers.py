"""What slurmctld answers, as plans need it: a row that cannot be read is not one that is not there."""

from __future__ import annotations

import pytest

from npa.errors import UnknownError
from npa.health import answers

JOB = {"job_id": 7, "job_state": ["RUNNING"], "nodes": "cpu-0", "name": "train"}
NODE = {"name": "cpu-0", "state": ["IDLE"]}


def test_jobs_are_found_on_their_nodes() -> None:
    seen = answers.view({"nodes": [NODE]}, {"jobs": [JOB]})

    assert [job.id for job in seen.running_on(frozenset({"cpu-0"}))] == ["7"]


@pytest.mark.parametrize(
    ("nodes", "jobs"),
    [
        pytest.param([NODE], [{**JOB, "nodes": "cpu-["}], id="a-job"),
        pytest.param([{"state": ["IDLE"]}], [JOB], id="a-node"),
    ],
)
def test_one_row_that_cannot_be_read_leaves_the_whole_unknown(
    nodes: list[object], jobs: list[object]
) -> None:
    with pytest.raises(UnknownError, match="a part of Slurm's answer could not be read"):
        answers.view({"nodes": nodes}, {"jobs": jobs})
