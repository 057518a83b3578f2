"""The tools `infra.fleet.*`: each asks `npa.sdk.fleet` and says what it said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from npa.agent import digest as digests
from npa.agent.fleet_models import (
    Changed,
    DeployInput,
    DestroyInput,
    FleetInput,
    Fleets,
    Member,
    NameInput,
    PlanInput,
    Planned,
    Schema,
    Status,
    Validation,
)
from npa.agent.inputs import Input, NoInput
from npa.agent.tool import Heard, Tool
from npa.errors import StoppedError
from npa.plan.model import Event
from npa.sdk import fleet as sdk

if TYPE_CHECKING:
    from npa.fleet.crew import FleetEvent
    from npa.fleet.member import Fleet
    from npa.fleet.plan import FleetPlan
    from npa.fleet.run import Run

Kind = Literal["started", "progress", "done", "note"]
KINDS: dict[str, Kind] = {"started": "started", "progress": "progress", "done": "done"}


def validate(asked: FleetInput, _: Heard) -> Validation:
    """Say which clusters a fleet's file asks for."""
    found = _read(asked.spec)
    claims = [each.claim for each in found.members]
    members = [
        Member(project=each.project, cluster=each.cluster, backend=each.backend, target=each.target)
        for each in claims
    ]
    return Validation(ok=True, name=found.name, clusters=members)


def plan(asked: PlanInput, _: Heard) -> Planned:
    """Plan a deploy of a fleet."""
    made = _planned(_read(asked.spec), asked)
    return Planned(
        ok=True, fleet=made.fleet, plan=made.public(), digest=_digest(made, asked), refusals=_refusals(made)
    )


def deploy(asked: DeployInput, heard: Heard) -> Changed:
    """Show a deploy of a fleet, or carry out the plan that was shown."""
    found = _read(asked.spec)
    made = _planned(found, asked)
    if not asked.dry_run:
        digests.require(asked.digest, made.public(), _digest(made, asked))
        run = sdk.deploy(
            found,
            shown=made,
            concurrency=asked.concurrency,
            fail_fast=asked.fail_fast,
            force=asked.force,
            wait_for_jobs=asked.wait_for_jobs_seconds,
        )
        return _changed(made, asked, followed(run, heard))
    return _changed(made, asked, None)


def destroy(asked: DestroyInput, heard: Heard) -> Changed:
    """Show what a destroy of a fleet would end, or end exactly that."""
    made = sdk.plan_destroy(asked.name, projects=asked.projects, clusters=asked.clusters, force=asked.force)
    if not asked.dry_run:
        digests.require(asked.digest, made.public(), _digest(made, asked))
        run = sdk.destroy(
            asked.name,
            shown=made,
            concurrency=asked.concurrency,
            fail_fast=asked.fail_fast,
            force=asked.force,
        )
        return _changed(made, asked, followed(run, heard))
    return _changed(made, asked, None)


def status(asked: NameInput, _: Heard) -> Status:
    """Say how each cluster of a fleet is."""
    found = sdk.status(asked.name)
    return Status(ok=found.ok, fleet=found.fleet, result=found.public())


def fleets(_: NoInput, __: Heard) -> Fleets:
    """List the fleets that this machine knows."""
    return Fleets(ok=True, fleets=list(sdk.fleets()))


def schema(_: NoInput, __: Heard) -> Schema:
    """Return the JSON Schema of a fleet's file."""
    return Schema(ok=True, spec=sdk.json_schema())


def claims_of_deploy(asked: DeployInput) -> tuple[str, ...]:
    """Return what a deploy changes: the fleet's inventory, and every cluster that is meant."""
    if asked.dry_run or not asked.digest:
        return ()
    found = _read(asked.spec)
    return (f"fleet {found.name}", *(f"cluster {each.claim.cluster}" for each in found.members))


def claims_of_destroy(asked: DestroyInput) -> tuple[str, ...]:
    """Return what a destroy changes."""
    from npa.fleet.outside import Outside

    if asked.dry_run or not asked.digest:
        return ()
    records, _ = Outside().store(asked.name).records()
    return (f"fleet {asked.name}", *(f"cluster {each.claim.cluster}" for each in records))


def _read(spec: str | dict[str, Any]) -> Fleet:
    from npa.fleet import load

    return load.parse(spec, "spec") if isinstance(spec, str) else sdk.spec_from_mapping(spec)


def _planned(found: Fleet, asked: PlanInput) -> FleetPlan:
    return sdk.plan(
        found,
        projects=asked.projects,
        clusters=asked.clusters,
        force=asked.force,
        wait_for_jobs=asked.wait_for_jobs_seconds,
    )


def _digest(made: FleetPlan, asked: Input) -> str:
    apart = {"dry_run", "digest", "concurrency", "fail_fast"}
    return digests.digest(f"fleet {made.verb}", asked.model_dump(mode="json", exclude=apart), made.public())


def _refusals(made: FleetPlan) -> list[str]:
    return [f"{each.about}: {each.message}" for each in made.lacks]


def _changed(made: FleetPlan, asked: DeployInput | DestroyInput, result: dict[str, Any] | None) -> Changed:
    done: Literal["deployed", "destroyed"] = "deployed" if made.verb == "deploy" else "destroyed"
    return Changed(
        ok=True,
        status="dry-run" if asked.dry_run else done,
        dry_run=asked.dry_run,
        fleet=made.fleet,
        plan=made.public(),
        digest=_digest(made, asked),
        refusals=_refusals(made),
        result=result,
    )


def followed(run: Run, heard: Heard) -> dict[str, Any]:
    """Follow a run to its end; raises FleetFailedError, with what became of each, unless all is as asked."""
    with run:
        for event in run:
            if run.cancelled:
                continue  # what was begun ends its step
            try:
                heard(_event(event))
            except StoppedError:
                run.cancel()
    result = run.result()
    result.require()
    return result.public()


def _event(event: FleetEvent) -> Event:
    label = f"{event.project}/{event.cluster}"
    kind = KINDS.get(event.kind, "note")
    said = event.message or event.kind
    step = f"{label}/{event.step}" if event.step else label
    return Event(kind, step, f"{label}: {said}", event.seconds, event.fraction)


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "infra.fleet.validate",
        "Check the file of a fleet without a network and name everything wrong with it.",
        FleetInput,
        Validation,
        validate,
    ),
    Tool(
        "infra.fleet.plan",
        "Show what a deploy would do to each cluster of a fleet, and the digest that agrees to it. Where a "
        "cluster's `shows` is `spec`, that is what its file asks for: `caveats` says what is not shown.",
        PlanInput,
        Planned,
        plan,
    ),
    Tool(
        "infra.fleet.deploy",
        "Make clusters what a fleet's file asks for: exactly the plan whose digest is named, or nothing.",
        DeployInput,
        Changed,
        deploy,
        effect="destroys",
        claims=claims_of_deploy,
    ),
    Tool(
        "infra.fleet.status",
        "Say how well each cluster of a fleet is.",
        NameInput,
        Status,
        status,
    ),
    Tool(
        "infra.fleet.destroy",
        "Remove clusters of a fleet with all their data: exactly the plan whose digest is named, or nothing.",
        DestroyInput,
        Changed,
        destroy,
        effect="destroys",
        claims=claims_of_destroy,
    ),
    Tool("infra.fleet.list", "List the fleets that this machine knows.", NoInput, Fleets, fleets),
    Tool("infra.fleet.schema", "Return the JSON Schema of a fleet's file.", NoInput, Schema, schema),
)
