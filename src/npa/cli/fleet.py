"""Commands of a fleet: validate, schema, plan, deploy, status, destroy, list."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

import typer

from npa.cli import agreement, fleet_text, request, screen
from npa.cli import fleet_options as given
from npa.cli.fleet_options import SIDE_BY_SIDE
from npa.cli.options import DryRun, Force, OutFile, Output, OutputKind, PlanPath, Wait, Yes
from npa.errors import UsageError

if TYPE_CHECKING:
    from npa.fleet.backends import Options
    from npa.fleet.member import Claim, Fleet
    from npa.fleet.plan import FleetPlan
    from npa.fleet.result import Result
    from npa.fleet.run import Run

VALIDATION_VERSION = "npa.fleet.validation/v1"
LIST_VERSION = "npa.fleet.list/v1"
NOT_ASKED = "not checked: the provider's quotas, reservations and names; add `--check`"


def validate(spec: given.SpecPath, output: OutputKind = "text") -> None:
    """Check a fleet's file without a network and name everything wrong, its clusters' parts too.

    \b
    npa fleet validate --spec fleet.yaml
    """
    fleet, _ = _load(spec)
    count, projects = len(fleet.members), len(fleet.projects)
    if output == "json":
        clusters = [
            {"project": each.claim.project, "cluster": each.claim.cluster, "target": each.claim.target}
            for each in fleet.members
        ]
        screen.document(
            {"schema_version": VALIDATION_VERSION, "ok": True, "fleet": fleet.name, "clusters": clusters}
        )
        return
    screen.data(f"{spec}: valid: fleet {fleet.name}, {_many(projects, 'project')}, {_many(count, 'cluster')}")
    screen.data(f"next: npa fleet plan --spec {quote(spec)}")


def schema() -> None:
    """Print the JSON Schema of a fleet's file, for editors.

    \b
    npa fleet schema > fleet.schema.json
    """
    from npa.fleet import schema

    screen.document(schema.json_schema())


def plan(
    spec: given.SpecPath,
    project: given.Projects = [],  # noqa: B006  # typer reads it and makes a new list each time
    cluster: given.Clusters = [],  # noqa: B006
    out: OutFile = None,
    details: given.Details = False,
    check: given.Check = False,
    force: Force = False,
    wait_for_jobs: Wait = None,
    output: OutputKind = "text",
) -> None:
    """Show what a deploy would do to each cluster, and all that stands against it; changes nothing.

    \b
    npa fleet plan --spec fleet.yaml
    npa fleet plan --spec fleet.yaml --out p && npa fleet deploy --plan p
    """
    from npa.fleet import plan, planfile
    from npa.fleet.outside import Outside

    fleet, text = _load(spec)
    selection, options = given.selection(project, cluster), _options(force, wait_for_jobs, check=check)
    made = plan.deploy(fleet, selection, options, Outside())
    following = f"npa fleet deploy --spec {quote(spec)}"
    if out is not None:
        request.write(out, planfile.encode(planfile.of(text, selection, options, made)))
        following = f"npa fleet deploy --plan {quote(str(out))}"
    _show(made, output, details=details, following=following)
    if not check and any(each.planned and each.planned.steps is None for each in made.items):
        screen.progress(NOT_ASKED)
    _refuse(made, output)


def deploy(
    spec: given.MaybeSpecPath = None,
    plan_file: PlanPath = None,
    project: given.Projects = [],  # noqa: B006
    cluster: given.Clusters = [],  # noqa: B006
    concurrency: given.Concurrency = SIDE_BY_SIDE,
    fail_fast: given.FailFast = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    details: given.Details = False,
    force: Force = False,
    wait_for_jobs: Wait = None,
    output: OutputKind = "text",
) -> None:
    """Make the clusters what the file asks for: checks all, shows the plan, asks, and does it side by side.

    Everything is looked at before anything is made. Interrupt it anywhere and run it again: it goes on from
    what is there. Exits 5 where some clusters are as asked and others failed, 1 where all failed, 4 where
    some are not well.

    \b
    npa fleet deploy --spec fleet.yaml
    npa fleet deploy --spec fleet.yaml --project team-* --concurrency 8 --yes
    """
    from npa.fleet import verbs
    from npa.fleet.outside import Outside

    outside = Outside()
    shown, options = _agreed(spec, plan_file, (project, cluster), (force, wait_for_jobs), outside)
    if dry_run:
        _show(shown, output, details=details, following="")
        _refuse(shown, output)
        return
    shown.require()
    (screen.progress if output == "json" else screen.data)(fleet_text.plan_text(shown, details=details))
    if not shown.idle:
        agreement.agree(f"deploy {_many(len(shown.items), 'cluster')} of fleet {shown.fleet}?", yes)
    run = verbs.deploy(shown, options, outside, concurrency=concurrency, fail_fast=fail_fast)
    _end(_watched(run, shown.claims), output)


def status(
    name: given.Name = None,
    spec: given.MaybeSpecPath = None,
    project: given.Projects = [],  # noqa: B006
    cluster: given.Clusters = [],  # noqa: B006
    output: OutputKind = "text",
) -> None:
    """Show how well each cluster of a fleet is. Exits 4 unless all are healthy.

    \b
    npa fleet status lab
    npa fleet status lab --output json | jq '.clusters[] | select(.ok | not)'
    """
    from npa.fleet import store, verbs
    from npa.fleet.outside import Outside

    fleet = _load(spec)[0] if spec else None
    chosen = _same(name, fleet) or store.chosen(None)
    members = fleet.members if fleet else None
    _end(verbs.status(chosen, given.selection(project, cluster), Outside(), members), output)


def destroy(
    name: given.Name = None,
    spec: given.MaybeSpecPath = None,
    project: given.Projects = [],  # noqa: B006
    cluster: given.Clusters = [],  # noqa: B006
    concurrency: given.Concurrency = SIDE_BY_SIDE,
    fail_fast: given.FailFast = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    details: given.Details = False,
    force: Force = False,
    output: OutputKind = "text",
) -> None:
    """Remove clusters that this fleet made, with all their data, after asking; and networks nobody uses.

    \b
    npa fleet destroy lab
    npa fleet destroy lab --project team-a --yes
    """
    from npa.fleet import plan, store, verbs
    from npa.fleet.outside import Outside

    outside = Outside()
    chosen = _same(name, _load(spec)[0] if spec else None) or store.chosen(None)
    # A person is shown the jobs and answers for them; a script has to say so beforehand.
    options = _options(force or not (yes or dry_run), None)
    shown = plan.destroy(chosen, given.selection(project, cluster), options, outside)
    if dry_run:
        _show(shown, output, details=details, following=f"npa fleet destroy {chosen}")
        _refuse(shown, output)
        return
    shown.require()
    (screen.progress if output == "json" else screen.data)(fleet_text.plan_text(shown, details=details))
    if shown.items:
        what = f"destroy {_many(len(shown.items), 'cluster')} of fleet {chosen} and all their data?"
        agreement.agree(what, yes)
    run = verbs.destroy(shown, options, outside, concurrency=concurrency, fail_fast=fail_fast)
    _end(_watched(run, shown.claims), output)


def list_(output: OutputKind = "text") -> None:
    """List the fleets that this machine knows.

    \b
    npa fleet list
    """
    from npa.fleet import store

    found = [(each, store.Store(each).records()[0]) for each in store.fleets()]
    if output == "json":
        fleets = [
            {"name": name, "clusters": [each.claim.cluster for each in records]} for name, records in found
        ]
        screen.document({"schema_version": LIST_VERSION, "fleets": fleets})
    elif found:
        screen.data("\n".join(f"{name}: {_many(len(records), 'cluster')}" for name, records in found))
    else:
        screen.progress("no fleet on this machine")
        screen.progress("next: npa fleet deploy --spec fleet.yaml")


def _load(path: str) -> tuple[Fleet, str]:
    from npa.fleet import load

    content = request.read(path)
    fleet = load.parse(content, "<stdin>" if path == request.STDIN else path)
    return fleet, content.decode("utf-8-sig")


def _agreed(
    spec: str | None,
    plan_file: str | None,
    chosen: tuple[list[str], list[str]],
    allowed: tuple[bool, str | None],
    outside: object,
) -> tuple[FleetPlan, Options]:
    """Return what is to be done: what a file of `plan --out` says, or a new plan."""
    from npa.fleet import load, plan, planfile
    from npa.fleet.outside import Outside

    assert isinstance(outside, Outside)
    if plan_file is None:
        if spec is None:
            raise UsageError("no file", hint="name it with `--spec PATH`, or a plan with `--plan FILE`")
        options = _options(*allowed)
        return plan.deploy(_load(spec)[0], given.selection(*chosen), options, outside), options
    if spec is not None or any(chosen) or any(allowed):
        what = "`--plan` has its own file, selection and options"
        raise UsageError(what, hint="give only `--plan FILE`, or plan again with other options")
    file = planfile.decode(request.read(plan_file))
    made = plan.deploy(load.parse(file.spec, plan_file), file.selection, file.options, outside)
    planfile.require_same(file, made)
    return made, file.options


def _options(force: bool, wait: str | None, *, check: bool = True) -> Options:
    from npa.fleet.backends import Options

    return Options(force, request.seconds(wait) if wait else 0.0, check)


def _same(name: str | None, fleet: Fleet | None) -> str:
    if name and fleet and fleet.name != name:
        raise UsageError(f"two fleets: {name!r} and {fleet.name!r} in the file", hint="give one")
    return name or (fleet.name if fleet else "")


def _show(made: FleetPlan, output: Output, *, details: bool, following: str) -> None:
    if output == "json":
        screen.document(made.public())
    else:
        screen.data(fleet_text.plan_text(made, details=details, following=following if made.ok else ""))


def _refuse(made: FleetPlan, output: Output) -> None:
    """Say that a deploy would be refused, after it was shown; stdout has its one document already."""
    from npa.fleet.errors import FleetRefusedError

    try:
        made.require()
    except FleetRefusedError as error:
        if output == "text":
            raise
        for what, fix in error.lacks:
            screen.progress(f"error: {what}" + (f"\nhint: {fix}" if fix else ""))
        raise typer.Exit(error.exit_code) from error


def _watched(run: Run, claims: tuple[Claim, ...]) -> Result:
    """Show what happens until the end; the first Ctrl-C stops every cluster in order."""
    from npa.cli import fleet_progress

    with run, fleet_progress.shown(claims) as heard:
        while not run.done:
            try:
                for event in run:
                    heard(event)
            except KeyboardInterrupt:
                if run.cancelled:
                    raise
                run.cancel()
                screen.progress("stopping: every cluster ends its step; Ctrl-C again leaves at once")
    return run.result()


def _end(result: Result, output: Output) -> None:
    if output == "json":
        screen.document(result.public())
    else:
        screen.data(fleet_text.result_text(result))
    raise typer.Exit(result.exit_code)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
