"""The tools `infra.soperator.*`: each asks `npa.api` and says what it said."""

from __future__ import annotations

import dataclasses
from typing import Any

from npa import api
from npa.agent import digest as digests
from npa.agent import inputs, outputs, provider
from npa.agent.errors import InputError
from npa.agent.tool import Heard
from npa.api import checked
from npa.errors import NotFoundError, Problem
from npa.health import explain, text
from npa.plan import codec, guard
from npa.plan import text as plan_text
from npa.plan.model import Options, Plan
from npa.spec import explain as spec_explain
from npa.spec import load, public_plan
from npa.spec.model import SoperatorSpec, WorkerPoolSpec

LOCAL_ONLY = ("force", "force_steps", "wait_for_jobs_seconds")


def validate(asked: inputs.SpecInput, _: Heard) -> outputs.Validation:
    """Say what a spec asks for."""
    return _validated(read(asked.spec))


def plan(asked: inputs.PlanInput, _: Heard) -> outputs.Planned:
    """Plan a deploy."""
    spec = read(asked.spec)
    shown = _planned(spec, asked)
    return outputs.Planned(
        ok=True,
        cluster=spec.name,
        target=api.target_of(spec, asked.target),
        plan=shown.plan,
        asked=shown.asked,
        digest=shown.digest,
        refusals=shown.refusals,
        text=shown.text,
    )


def deploy(asked: inputs.DeployInput, heard: Heard) -> outputs.Deployed:
    """Show a deploy, or carry out the plan that was shown."""
    spec = read(asked.spec)
    target = api.target_of(spec, asked.target)
    _refuse_options(asked, target)
    if asked.dry_run or (target != "nebius" and not asked.digest):
        shown = _planned(spec, asked)
        if not asked.dry_run:
            digests.require("", shown.plan or {}, shown.digest)
        return _told(asked, spec, shown)
    if target == "nebius":
        result = provider.deploy(spec, asked, _facts(spec, asked), heard)
        shown = Shown(None, public_plan.public_plan(spec), asked.digest)
        return _told(asked, spec, shown, status="deployed", result=result)
    made = api.plan(spec, target=target, options=_options(asked))
    shown = _shown(made, spec, asked)
    digests.require(asked.digest, codec.encode(made), shown.digest)
    report = api.deploy(spec, target=target, shown=made, options=_options(asked), heard=heard)
    status = "deployed" if report.ok else "degraded"
    return _told(asked, spec, shown, status=status, report=text.to_dict(report))


def status(asked: inputs.NameInput, _: Heard) -> outputs.Status:
    """Say how well a cluster is."""
    place = api.where(asked.name, asked.target)
    report, installation = (
        provider.status(asked.name) if place == "nebius" else (api.status(asked.name), None)
    )
    require_there(asked.name, place, report.target)
    return outputs.Status(
        ok=report.ok,
        name=asked.name,
        target=place,
        status=report.status,
        report=text.to_dict(report),
        installation=installation,
    )


def destroy(asked: inputs.DestroyInput, heard: Heard) -> outputs.Destroyed:
    """Show what a destroy would end, or end exactly that."""
    place = api.where(asked.name, asked.target)
    options = Options(force=asked.force)
    if place == "nebius":
        made = provider.plan_destroy(asked.name, force=asked.force)
    else:
        made = api.plan_destroy(asked.name, options=options)
    require_there(asked.name, place, made.target)
    document = codec.encode(made)
    current = digests.digest("destroy", {"name": asked.name, "force": asked.force, "target": place}, document)
    result: dict[str, Any] | None = None
    if not asked.dry_run:
        digests.require(asked.digest, document, current)
        guard.check(made, hint=guard.DESTROY_HINT)
        if place == "nebius":
            result = provider.destroy(asked.name, heard)
        else:
            api.destroy(asked.name, shown=made, options=options, heard=heard)
    return outputs.Destroyed(
        ok=True,
        status="dry-run" if asked.dry_run else "destroyed",
        dry_run=asked.dry_run,
        name=asked.name,
        target=place,
        plan=document,
        digest=current,
        refusals=[step.key for step in guard.unallowed(made)],
        result=result,
    )


def clusters(_: inputs.NoInput, __: Heard) -> outputs.Listed:
    """List the clusters that this machine knows."""
    return outputs.Listed(ok=True, clusters=list(api.clusters()))


def field(asked: inputs.FieldInput, _: Heard) -> outputs.Explained:
    """Explain a field of the spec."""
    return outputs.Explained(ok=True, field=spec_explain.explain(asked.path))


def schema(_: inputs.NoInput, __: Heard) -> outputs.Schema:
    """Return the JSON Schema of a spec."""
    return outputs.Schema(ok=True, spec=spec_explain.json_schema())


def why_node(asked: inputs.NodeInput, _: Heard) -> outputs.WhyNode:
    """Explain a node."""
    found = explain.to_dict(explain.NODE_SCHEMA, [api.explain_node(asked.name, asked.node)])
    return outputs.WhyNode(ok=True, **found)


def why_job(asked: inputs.JobInput, _: Heard) -> outputs.WhyJob:
    """Explain a job."""
    found = explain.to_dict(explain.JOB_SCHEMA, api.explain_job(asked.name, asked.job))
    return outputs.WhyJob(ok=True, **found)


def read(spec: str | dict[str, Any]) -> SoperatorSpec:
    """Return the spec that a call has in it; raise SpecError with everything that is wrong with it."""
    if isinstance(spec, str):
        return checked.spec(spec, "spec")
    found = load.from_mapping(spec)
    checked.refuse_settings(found, "", "spec")
    return found


def changes(asked: inputs.DeployInput | inputs.DestroyInput) -> tuple[str, ...]:
    """Return what a call changes; nothing where it only shows a plan, or names none."""
    if asked.dry_run or not asked.digest:
        return ()
    name = asked.name if isinstance(asked, inputs.DestroyInput) else read(asked.spec).name
    return (f"cluster {name}",)


@dataclasses.dataclass(frozen=True, slots=True)
class Shown:
    """A plan as a caller sees it."""

    plan: dict[str, Any] | None
    asked: dict[str, Any] | None  # nebius: what stands for a plan before the provider is asked
    digest: str
    refusals: list[str] = dataclasses.field(default_factory=list)
    text: str = ""


def _planned(spec: SoperatorSpec, asked: inputs.PlanInput) -> Shown:
    target = api.target_of(spec, asked.target)
    if target == "nebius":
        public = public_plan.public_plan(spec)
        said = public_plan.public_plan_text(spec)
        return Shown(None, public, digests.digest("deploy", _facts(spec, asked), public), text=said)
    return _shown(api.plan(spec, target=target, options=_options(asked)), spec, asked)


def _shown(made: Plan, spec: SoperatorSpec, asked: inputs.PlanInput) -> Shown:
    document = codec.encode(made)
    keys = [step.key for step in guard.unallowed(made)]
    digest = digests.digest("deploy", _facts(spec, asked), document)
    return Shown(document, None, digest, keys, plan_text.text(made, ""))


def _facts(spec: SoperatorSpec, asked: inputs.PlanInput) -> dict[str, Any]:
    """Return all that decides what carrying out a plan does, besides the plan."""
    return {
        "spec": spec.model_dump(mode="json"),
        "target": api.target_of(spec, asked.target),
        **{name: getattr(asked, name) for name in LOCAL_ONLY},
    }


def _options(asked: inputs.PlanInput) -> Options:
    return Options(asked.force, asked.force_steps, asked.wait_for_jobs_seconds)


def require_there(name: str, said: str, found: str) -> None:
    """Raise NotFoundError where a cluster of the name is elsewhere than the caller says."""
    if said != found:
        what = f"no cluster {name!r} on target {said}: the one of this name is on {found}"
        raise NotFoundError(what, hint=f"say `target` {found} if that one is meant")


def _refuse_options(asked: inputs.DeployInput, target: str) -> None:
    """Raise InputError for what means nothing where the cluster runs."""
    foreign = LOCAL_ONLY if target == "nebius" else provider.OPTIONS
    wrong = [
        Problem(0, 0, name, f"means nothing on target {target}", "leave it out")
        for name in foreign
        if getattr(asked, name) != type(asked).model_fields[name].default
    ]
    if wrong:
        raise InputError(wrong)


def _told(
    asked: inputs.DeployInput, spec: SoperatorSpec, shown: Shown, *, status: Any = "dry-run", **found: Any
) -> outputs.Deployed:
    target = api.target_of(spec, asked.target)
    nebius = {
        "solutions_library_ref": provider.ref(asked),
        "gpu_creation_check_timeout_seconds": asked.gpu_creation_check_timeout_seconds,
    }
    return outputs.Deployed(
        ok=status != "degraded",
        status=status,
        dry_run=asked.dry_run,
        validation=_validated(spec),
        plan=shown.plan,
        asked=shown.asked,
        digest=shown.digest,
        refusals=shown.refusals,
        command=[
            "npa",
            "soperator",
            "deploy",
            "--spec",
            "-",
            "--target",
            target,
            "--yes",
            "--output",
            "json",
        ],
        **(nebius if target == "nebius" else {}),
        **found,
    )


def _validated(spec: SoperatorSpec) -> outputs.Validation:
    public = public_plan.public_plan(spec)
    selectors = [each["reservation_selector"] for each in public["workers"]]
    return outputs.Validation(
        ok=True,
        apiVersion=spec.apiVersion,
        name=spec.name,
        target=api.target_of(spec),
        region=public["region"],
        control_plane=public["control_plane"],
        worker_pools=len(spec.workers),
        docker_cache_pools=[each.name for each in spec.workers if each.docker_cache],
        workers=[_pool(each, kind) for each, kind in zip(spec.workers, selectors, strict=True)],
    )


def _pool(each: WorkerPoolSpec, selector: Any) -> outputs.Pool:
    return outputs.Pool(
        name=each.name,
        platform=each.platform,
        preset=each.preset,
        size=each.size,
        preemptible=each.preemptible,
        capacity_mode=each.capacity_mode,
        reservation_selector=selector,
        docker_cache=each.docker_cache,
    )
