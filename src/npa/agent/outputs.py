"""What tools answer. The parts are the documents of the command line, each with its own version."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from npa.agent import schema
from npa.agent.tool import Output
from npa.cluster.model import TargetName
from npa.health.assess import SCHEMA_VERSION as STATUS
from npa.health.assess import Report
from npa.health.explain import Explanation as WhyText
from npa.plan.model import SCHEMA_VERSION as PLAN
from npa.plan.model import Plan
from npa.spec.explain import Explanation
from npa.targets.base import Summary

_COUNTS = {"anyOf": [{"type": "object", "additionalProperties": {"type": "integer"}}, {"type": "null"}]}
_FACTS = {"type": "object", "additionalProperties": {"type": "string"}}

PlanDocument = Annotated[dict[str, Any], schema.encoded(Plan, PLAN)]
ReportDocument = Annotated[dict[str, Any], schema.encoded(Report, STATUS, jobs=_COUNTS)]
WhyDocument = Annotated[dict[str, Any], schema.encoded(WhyText, facts=_FACTS)]
Shown = Annotated[
    PlanDocument | None,
    Field(description="the steps compared with what is there; null on nebius, where no provider was asked"),
]
Asked = Annotated[
    dict[str, Any] | None,
    Field(description="nebius: what the spec asks for, made without the provider; else null"),
]
ShownDigest = Annotated[str, Field(description="name it to carry out exactly this")]


class Pool(BaseModel):
    """One pool of a valid spec; of a reservation only the kind of its selector."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    platform: str
    preset: str
    size: int
    preemptible: bool
    capacity_mode: Literal["on-demand", "preemptible", "reserved"]
    reservation_selector: Literal["id", "name"] | None
    docker_cache: bool


class Validation(Output):
    """A spec that keeps every rule."""

    schema_version: Literal["npa.tool.validate/v1"] = "npa.tool.validate/v1"
    apiVersion: str  # noqa: N815 - the key in the file
    name: str
    target: TargetName
    region: str
    control_plane: dict[str, int]
    worker_pools: Annotated[int, Field(description="how many pools there are")]
    docker_cache_pools: Annotated[list[str], Field(description="pools with a cache for images")]
    workers: list[Pool]


class Planned(Output):
    """What a deploy would do now, and the digest that agrees to it."""

    schema_version: Literal["npa.tool.plan/v1"] = "npa.tool.plan/v1"
    cluster: str
    target: TargetName
    plan: Shown
    asked: Asked = None
    digest: ShownDigest
    refusals: Annotated[
        list[str], Field(description="keys of steps that would end running jobs, which nobody allowed")
    ]
    text: Annotated[str, Field(description="the plan for people")]


class Deployed(Output):
    """What a deploy did, or would do."""

    schema_version: Literal["npa.tool.deploy/v1"] = "npa.tool.deploy/v1"
    status: Literal["dry-run", "deployed", "degraded"]
    dry_run: bool
    validation: Validation
    plan: Shown
    asked: Asked = None
    digest: ShownDigest
    refusals: list[str]
    command: Annotated[list[str], Field(description="the command that does the same, with the spec on stdin")]
    solutions_library_ref: Annotated[str | None, Field(description="nebius: commit of the recipe")] = None
    gpu_creation_check_timeout_seconds: float | None = None
    report: ReportDocument | None = None
    result: Annotated[dict[str, Any] | None, Field(description="nebius: the result of the deploy")] = None


class Status(Output):
    """How well a cluster is; `ok` only where it is healthy."""

    schema_version: Literal["npa.tool.status/v1"] = "npa.tool.status/v1"
    name: str
    target: TargetName
    status: str
    report: ReportDocument
    installation: Annotated[
        dict[str, Any] | None, Field(description="nebius: what else is known of the installation")
    ] = None


class Destroyed(Output):
    """What a destroy did, or would do."""

    schema_version: Literal["npa.tool.destroy/v1"] = "npa.tool.destroy/v1"
    status: Literal["dry-run", "destroyed"]
    dry_run: bool
    name: str
    target: TargetName
    plan: PlanDocument
    digest: ShownDigest
    refusals: list[str]
    result: Annotated[dict[str, Any] | None, Field(description="nebius: the result of the destroy")] = None


class Listed(Output):
    """The clusters that this machine knows."""

    schema_version: Literal["npa.tool.list/v1"] = "npa.tool.list/v1"
    clusters: list[Summary]


class Explained(Output):
    """What a field of the spec means."""

    schema_version: Literal["npa.tool.explain/v1"] = "npa.tool.explain/v1"
    field: Explanation


class Schema(Output):
    """The JSON Schema of a spec."""

    schema_version: Literal["npa.tool.schema/v1"] = "npa.tool.schema/v1"
    spec: dict[str, Any]


class WhyNode(Output):
    """Why a node is as it is."""

    schema_version: Literal["npa.soperator.explain-node/v1"] = "npa.soperator.explain-node/v1"
    explanations: list[WhyDocument]


class WhyJob(Output):
    """Why a job is as it is."""

    schema_version: Literal["npa.soperator.explain-job/v1"] = "npa.soperator.explain-job/v1"
    explanations: list[WhyDocument]
