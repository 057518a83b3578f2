"""What tools take. Everything is in the call itself: no field names a file of the machine that runs it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from npa.cluster.model import TargetName
from npa.spec.base import Listed, Model, says

NAME = r"^[a-z0-9][a-z0-9-]{0,62}$"
DIGEST = r"^(sha256:[0-9a-f]{64})?$"
# What older callers say, and what it is called here.
OLDER = {
    "spec_yaml": "spec",
    "yaml": "spec",
    "solutions_library_ref": "ref",
    "timeout": "timeout_minutes",
}


def _spec(value: object) -> object:
    if isinstance(value, str | dict):
        return value
    raise PydanticCustomError("spec_type", "the text of a spec, or the spec as an object")


SpecText = Annotated[
    str | dict[str, Any],
    BeforeValidator(_spec),
    says("the spec: its YAML text, or the same as an object; never a path", minLength=1, minProperties=1),
]
Target = Annotated[
    TargetName | None, says("where the cluster runs; null or absent: what the spec says, else nebius")
]
ClusterName = Annotated[
    str, says("name of the cluster", "lower-case letters, digits and hyphens"), Field(pattern=NAME)
]
Digest = Annotated[
    str,
    says("digest of the plan that was shown; without it, or when the world moved on, nothing is done"),
    Field(pattern=DIGEST),
]
DryRun = Annotated[bool, says("show the plan and change nothing; to act, say false and name the digest")]
Force = Annotated[bool, says("end running jobs where a step needs their node")]


class Input(Model):
    """What every tool takes; the words of older callers are understood."""

    @model_validator(mode="before")
    @classmethod
    def _understand(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        fields = cls.model_fields
        known = {old: new for old, new in OLDER.items() if new in fields and new not in value}
        taken: dict[Any, Any] = {}
        for name, each in value.items():
            new = known.get(name, name)
            taken[name if new in taken else new] = each
        return taken


class NoInput(Input):
    """Nothing."""


class SpecInput(Input):
    """A spec."""

    spec: SpecText


class PlanInput(SpecInput):
    """A spec, and what a deploy of it may do."""

    target: Target = None
    force: Force = False
    force_steps: Annotated[
        tuple[str, ...], Listed, says("keys of the steps in which running jobs may be ended")
    ] = ()
    wait_for_jobs_seconds: Annotated[
        float,
        says("how long running jobs may take to end by themselves before their node is removed"),
        Field(ge=0, le=604_800),
    ] = 0.0


class DeployInput(PlanInput):
    """A spec, what a deploy may do, and the digest of the plan that was shown."""

    dry_run: DryRun = True
    digest: Digest = ""
    project: Annotated[str, says("nebius: alias of a project in config.yaml")] = ""
    ref: Annotated[
        str, says("nebius: commit of the recipe", "all 40 digits"), Field(pattern=r"^([0-9a-f]{40})?$")
    ] = ""
    timeout_minutes: Annotated[
        float, says("nebius: for each of Terraform's commands"), Field(gt=0, le=1440)
    ] = 90.0
    gpu_creation_check_timeout_seconds: Annotated[
        float, says("nebius: for the check of all GPUs together"), Field(gt=0, le=86_400)
    ] = 1800.0
    apply_fixes: Annotated[bool, says("nebius: repair what the charts need repaired")] = True
    approvals: Annotated[
        tuple[str, ...],
        Listed,
        says("nebius: changes that are allowed", "ADDRESS@DIGEST, as a refusal names it"),
    ] = ()


class NameInput(Input):
    """A cluster that is there."""

    name: ClusterName
    target: Annotated[TargetName | None, says("where the cluster is; null or absent: looked up")] = None


class DestroyInput(NameInput):
    """A cluster, and the digest of the plan that ends it."""

    force: Force = False
    dry_run: DryRun = True
    digest: Digest = ""


class FieldInput(Input):
    """A field of the spec."""

    path: Annotated[
        str, says("field, as in `workers.fabric`; empty: the whole spec"), Field(max_length=200)
    ] = ""


class NodeInput(Input):
    """A node of a cluster."""

    name: ClusterName
    node: Annotated[str, says("name of the node, as `status` shows it"), Field(min_length=1, max_length=200)]


class JobInput(Input):
    """A job of a cluster."""

    name: ClusterName
    job: Annotated[
        str, says("id as squeue shows it: `12`, `12_3`, `12+1`"), Field(min_length=1, max_length=60)
    ]
