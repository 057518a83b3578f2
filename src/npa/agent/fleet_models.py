"""What the tools of fleets take, and what they answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from npa.agent.inputs import Digest, DryRun, Force, Input, SpecText
from npa.agent.tool import Output
from npa.spec.base import Listed, says

Patterns = tuple[str, ...]
Projects = Annotated[Patterns, Listed, says("only projects that fit one of these patterns; none: all")]
Clusters = Annotated[Patterns, Listed, says("only clusters that fit one of these patterns; none: all")]
FleetName = Annotated[str, says("name of the fleet"), Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
Concurrency = Annotated[int, says("how many clusters are changed side by side"), Field(ge=1, le=64)]
FailFast = Annotated[bool, says("begin with no other cluster once one has failed")]
ShownDigest = Annotated[str, Field(description="name it to carry out exactly this")]
PlanDocument = Annotated[
    dict[str, Any], Field(description="each cluster's plan, and what stands against all")
]
ResultDocument = Annotated[dict[str, Any], Field(description="how it ended for each cluster")]


class FleetInput(Input):
    """A fleet's file."""

    spec: SpecText


class SelectionInput(Input):
    """Which clusters of a fleet are meant."""

    projects: Projects = ()
    clusters: Clusters = ()
    force: Force = False


class PlanInput(FleetInput, SelectionInput):
    """A fleet's file, which of its clusters are meant, and what a deploy may do."""

    wait_for_jobs_seconds: Annotated[
        float, says("how long running jobs may take to end by themselves"), Field(ge=0, le=604_800)
    ] = 0.0


class DeployInput(PlanInput):
    """The same, and the digest of the plan that was shown."""

    dry_run: DryRun = True
    digest: Digest = ""
    concurrency: Concurrency = 4
    fail_fast: FailFast = False


class NameInput(Input):
    """A fleet that is recorded."""

    name: FleetName


class DestroyInput(NameInput, SelectionInput):
    """A fleet, which of its clusters are meant, and the digest of the plan that ends them."""

    dry_run: DryRun = True
    digest: Digest = ""
    concurrency: Concurrency = 4
    fail_fast: FailFast = False


class Member(BaseModel):
    """A cluster of a valid fleet."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    project: str
    cluster: str
    backend: str
    target: str


class Validation(Output):
    """A fleet whose file keeps every rule."""

    schema_version: Literal["npa.tool.fleet-validate/v1"] = "npa.tool.fleet-validate/v1"
    name: str
    clusters: list[Member]


class Planned(Output):
    """What a deploy would do to each cluster now, and the digest that agrees to it."""

    schema_version: Literal["npa.tool.fleet-plan/v1"] = "npa.tool.fleet-plan/v1"
    fleet: str
    plan: PlanDocument
    digest: ShownDigest
    refusals: Annotated[list[str], Field(description="what stands against it; a deploy would be refused")]


class Changed(Output):
    """What was done to each cluster, or would be."""

    schema_version: Literal["npa.tool.fleet-change/v1"] = "npa.tool.fleet-change/v1"
    status: Literal["dry-run", "deployed", "destroyed"]
    dry_run: bool
    fleet: str
    plan: PlanDocument
    digest: ShownDigest
    refusals: list[str]
    result: ResultDocument | None = None


class Status(Output):
    """How each cluster is; `ok` only where all are healthy."""

    schema_version: Literal["npa.tool.fleet-status/v1"] = "npa.tool.fleet-status/v1"
    fleet: str
    result: ResultDocument


class Fleets(Output):
    """The fleets that this machine knows."""

    schema_version: Literal["npa.tool.fleet-list/v1"] = "npa.tool.fleet-list/v1"
    fleets: list[str]


class Schema(Output):
    """The JSON Schema of a fleet's file."""

    schema_version: Literal["npa.tool.fleet-schema/v1"] = "npa.tool.fleet-schema/v1"
    spec: dict[str, Any]
