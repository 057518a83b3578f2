"""A job that slurmctld does not know, and one that it could not be asked for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from npa.errors import NotFoundError, ToolError, ToolTimeoutError, UnknownError
from npa.tools.slurm import Execute, Slurm


def failing(error: ToolError) -> Execute:
    def execute(_: Sequence[str]) -> str:
        raise error

    return execute


def test_an_id_that_slurmctld_refuses_is_not_found() -> None:
    said = "slurm_load_jobs error: Invalid job id specified"
    slurm = Slurm(failing(ToolError(("scontrol", "show"), 1, said)))

    with pytest.raises(NotFoundError):
        slurm.show_job(12)


@pytest.mark.parametrize(
    "error",
    [
        ToolError(("scontrol", "show"), 1, "slurm_load_jobs error: Unable to contact slurm controller"),
        ToolTimeoutError(("scontrol", "show"), 20),
    ],
)
def test_no_answer_is_unknown_and_never_not_found(error: ToolError) -> None:
    with pytest.raises(UnknownError):
        Slurm(failing(error)).show_job(12)


def test_a_job_is_asked_for_by_its_number_alone() -> None:
    asked: list[list[str]] = []

    def execute(argv: Sequence[str]) -> str:
        asked.append(list(argv))
        return '{"jobs": []}'

    slurm = Slurm(execute)

    assert slurm.show_job(12) == slurm.accounted(12) == {"jobs": []}
    assert asked == [["scontrol", "show", "job", "12", "--json"], ["sacct", "--json", "--jobs", "12"]]
