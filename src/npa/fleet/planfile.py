"""The file of `plan --out`: a fleet's file with what was agreed to, to be done later and exactly so."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from npa.errors import RefusedError
from npa.fleet.backends import Options
from npa.fleet.plan import FleetPlan
from npa.fleet.select import Selection

SCHEMA = "npa.fleet.plan-file/v1"


@dataclass(frozen=True, slots=True)
class PlanFile:
    """What was planned, and of what."""

    spec: str  # the fleet's file
    selection: Selection
    options: Options
    clusters: dict[str, Any]  # each cluster's plan, as JSON has it


def of(spec: str, selection: Selection, options: Options, plan: FleetPlan) -> PlanFile:
    """Return what to write down of a plan."""
    plans = {each.claim.cluster: each.planned.document if each.planned else None for each in plan.items}
    return PlanFile(spec, selection, options, json.loads(json.dumps(plans)))


def encode(file: PlanFile) -> str:
    """Return the text of the file."""
    document = {
        "schema_version": SCHEMA,
        "spec": file.spec,
        "projects": list(file.selection.projects),
        "clusters": list(file.selection.clusters),
        "force": file.options.force,
        "wait_for_jobs": file.options.wait_for_jobs,
        "plans": file.clusters,
    }
    return json.dumps(document, indent=1) + "\n"


def decode(text: str | bytes) -> PlanFile:
    """Return what `encode` wrote; raise RefusedError for anything else."""
    try:
        found = json.loads(text)
        if found.pop("schema_version") != SCHEMA:
            raise ValueError("another version")
        file = PlanFile(
            str(found.pop("spec")),
            Selection(tuple(map(str, found.pop("projects"))), tuple(map(str, found.pop("clusters")))),
            Options(bool(found.pop("force")), float(found.pop("wait_for_jobs"))),
            dict(found.pop("plans")),
        )
        if found:
            raise ValueError(f"unknown keys: {', '.join(found)}")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RefusedError(
            f"this is no plan of a fleet: {error!r:.120}", hint="write one: npa fleet plan --out FILE"
        ) from error
    return file


def require_same(file: PlanFile, now: FleetPlan) -> None:
    """Raise RefusedError where the world has moved on since the plan was made."""
    plans = of(file.spec, file.selection, file.options, now).clusters
    moved = sorted(name for name in {*plans, *file.clusters} if plans.get(name) != file.clusters.get(name))
    if moved:
        shown = ", ".join(moved[:5]) + (f" and {len(moved) - 5} more" if len(moved) > 5 else "")
        raise RefusedError(
            f"the world has moved on since this plan was made: {shown}",
            hint="plan again, and look at what changed",
        )
