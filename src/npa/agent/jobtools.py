"""The tools `infra.jobs.*`, where jobs are: calls that go on when nobody waits for them any more."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from npa.agent.inputs import Input, NoInput
from npa.agent.jobs import JobDocument, Jobs
from npa.agent.tool import Heard, Output, Tool
from npa.spec.base import says


class JobInput(Input):
    """A job."""

    job: Annotated[str, says("id of the job"), Field(pattern="^[0-9a-f]{12}$")]


class OneJob(Output):
    """How far a job is, and what came of it."""

    schema_version: Literal["npa.tool.job/v1"] = "npa.tool.job/v1"
    job: JobDocument


class AllJobs(Output):
    """The jobs, the oldest first, without what came of them."""

    schema_version: Literal["npa.tool.jobs/v1"] = "npa.tool.jobs/v1"
    jobs: list[JobDocument]


def tools(jobs: Jobs) -> tuple[Tool[Any], ...]:
    """Return the tools that look at these jobs."""

    def all_jobs(_: NoInput, __: Heard) -> AllJobs:
        found = [JobDocument(**{**each.document(), "result": None}) for each in jobs.all()]
        return AllJobs(ok=True, jobs=found)

    def status(asked: JobInput, _: Heard) -> OneJob:
        return OneJob(ok=True, job=JobDocument(**jobs.find(asked.job).document()))

    def stop(asked: JobInput, _: Heard) -> OneJob:
        jobs.find(asked.job).stop()
        return status(asked, _)

    said = "Ask a job to stop before its next step; calling the same tool again goes on from there."
    return (
        Tool("infra.jobs.list", "List the jobs of this server.", NoInput, AllJobs, all_jobs),
        Tool("infra.jobs.status", "Say how far a job is, and what came of it.", JobInput, OneJob, status),
        Tool("infra.jobs.stop", said, JobInput, OneJob, stop, effect="changes"),
    )
