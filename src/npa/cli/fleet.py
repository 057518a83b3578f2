"""Commands that change a fleet, and the plan that says how: plan, deploy, destroy."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

import typer

from npa.cli import agreement, fleet_asked, fleet_text, request, screen
from npa.cli import fleet_options as given
from npa.cli import kube_options as kube
from npa.cli.fleet_options import SIDE_BY_SIDE
from npa.cli.options import DryRun, Force, OutFile, Output, OutputKind, PlanPath, Wait, Yes

if TYPE_CHECKING:
    from npa.fleet.member import Claim
    from npa.fleet.plan import FleetPlan
    from npa.fleet.result import Result
    from npa.fleet.run import Run

NOT_ASKED = "not checked: the provider's quotas, reservations and names; add `--check`"


@kube.taken(namespace=False)
def plan(
    spec: given.SpecPath,
    project: given.Projects = [],  # noqa: B006  # typer reads it and makes a new list each time
    cluster: given.Clusters = [],  # noqa: B006
    out: OutFile = None,
    details: given.Details = False,
    check: given.Check = False,
    force: Force = False,
    wait_for_jobs: Wait = None,
    reach: kube.Given = kube.NONE,
    output: OutputKind = "text",
) -> None:
    """Show what a deploy would do to each cluster, and all that stands against it; changes nothing.

    \b
    npa fleet plan --spec fleet.yaml
    npa fleet plan --spec fleet.yaml --out p && npa fleet deploy --plan p
    """
    from npa.fleet import plan, planfile
    from npa.fleet.outside import Outside

    fleet, text = fleet_asked.load(spec)
    selection, options = (
        given.selection(project, cluster),
        fleet_asked.options(force, wait_for_jobs, check=check),
    )
    with fleet_asked.reaching(reach) as require:
        made = plan.deploy(fleet, selection, options, Outside())
    require(made)
    following = f"npa fleet deploy --spec {quote(spec)}"
    if out is not None:
        request.write(out, planfile.encode(planfile.of(text, selection, options, made)))
        following = f"npa fleet deploy --plan {quote(str(out))}"
    _show(made, output, details=details, following=following)
    if not check and any(each.planned and each.planned.steps is None for each in made.items):
        screen.progress(NOT_ASKED)
    _refuse(made, output)


@kube.taken(namespace=False)
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
    reach: kube.Given = kube.NONE,
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

    outside, allowed = Outside(), (force, wait_for_jobs)
    with fleet_asked.reaching(reach) as require:
        shown, options = fleet_asked.agreed(spec, plan_file, (project, cluster), allowed, outside)
        require(shown)
        if dry_run:
            _show(shown, output, details=details, following="")
            _refuse(shown, output)
            return
        shown.require()
        (screen.progress if output == "json" else screen.data)(fleet_text.plan_text(shown, details=details))
        if not shown.idle:
            clusters = fleet_text.many(len(shown.items), "cluster")
            agreement.agree(f"deploy {clusters} of fleet {shown.fleet}?", yes)
        run = verbs.deploy(shown, options, outside, concurrency=concurrency, fail_fast=fail_fast)
        result = _watched(run, shown.claims)
    fleet_text.end(result, output)


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
    chosen = fleet_asked.same(name, fleet_asked.load(spec)[0] if spec else None) or store.chosen(None)
    # A person is shown the jobs and answers for them; a script has to say so beforehand.
    options = fleet_asked.options(force or not (yes or dry_run), None)
    shown = plan.destroy(chosen, given.selection(project, cluster), options, outside)
    if dry_run:
        _show(shown, output, details=details, following=f"npa fleet destroy {chosen}")
        _refuse(shown, output)
        return
    shown.require()
    (screen.progress if output == "json" else screen.data)(fleet_text.plan_text(shown, details=details))
    if shown.items:
        what = f"destroy {fleet_text.many(len(shown.items), 'cluster')} of fleet {chosen} and all their data?"
        agreement.agree(what, yes)
    run = verbs.destroy(shown, options, outside, concurrency=concurrency, fail_fast=fail_fast)
    fleet_text.end(_watched(run, shown.claims), output)


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
