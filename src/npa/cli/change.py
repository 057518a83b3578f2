"""Commands that change a cluster, and the plan that says how: plan, deploy, destroy."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import typer

from npa.cli import asked_for, look, request, screen
from npa.cli.options import (
    DryRun,
    Force,
    ForceSteps,
    MaybeSpecPath,
    Name,
    NameOption,
    OutFile,
    Output,
    OutputKind,
    PlanPath,
    SpecPath,
    TargetName,
    Wait,
    Yes,
)
from npa.errors import RefusedError, UsageError

if TYPE_CHECKING:
    from npa.health.assess import Report
    from npa.plan.model import Plan

DEPLOY_VERSION = "npa.soperator.deploy/v1"
DESTROY_VERSION = "npa.soperator.destroy/v1"
DEGRADED = 4
UNCHECKED = (
    "not checked, because no provider was asked: credentials, project and region, quotas, "
    "reservations, what is already there"
)


def plan(
    spec: SpecPath,
    target: TargetName = None,
    out: OutFile = None,
    force: Force = False,
    force_step: ForceSteps = [],  # noqa: B006  # typer reads it and makes a new list each time
    wait_for_jobs: Wait = None,
    output: OutputKind = "text",
) -> None:
    """Show what a deploy would do, step by step with reasons; changes nothing.

    Without a target that can be looked at from here, shows what the spec asks for, safe to show to anybody.

    \b
    npa soperator plan --spec cluster.yaml --target local
    npa soperator plan --spec cluster.yaml --target local --out p && npa soperator deploy --plan p
    """
    asked = asked_for.request(spec, target, (force, force_step), wait_for_jobs)
    if asked.target != "local":
        _show_public(asked, out, output)
    else:
        made = asked_for.planned(asked)
        _show(asked, made, out, output)
        _refuse_shown(made, output)


def deploy(
    spec: MaybeSpecPath = None,
    target: TargetName = None,
    plan_file: PlanPath = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    force: Force = False,
    force_step: ForceSteps = [],  # noqa: B006  # typer reads it and makes a new list each time
    wait_for_jobs: Wait = None,
    output: OutputKind = "text",
) -> None:
    """Make the cluster what the spec asks for: shows the plan, asks, does it, and reports.

    Interrupt it anywhere and run it again: it goes on from what is there. Exits 4 unless the cluster is
    healthy.

    \b
    npa soperator deploy --spec cluster.yaml --target local
    npa soperator deploy --spec - --target local --yes < cluster.yaml
    """
    if plan_file is not None:
        if spec is not None or target is not None or force or force_step or wait_for_jobs:
            what = "`--plan` has its own spec, target and options"
            raise UsageError(what, hint="give only `--plan FILE`, or plan again with other options")
        asked = asked_for.filed(plan_file)
    elif spec is not None:
        asked = asked_for.request(spec, target, (force, force_step), wait_for_jobs)
    else:
        raise UsageError("no spec", hint="name it with `--spec PATH`, or a plan with `--plan FILE`")
    if dry_run and asked.target != "local":
        _show_public(asked, None, output)
        return
    agreed = asked_for.planned(asked)
    if dry_run:
        _show(asked, agreed, None, output)
    else:
        _deploy(asked, agreed, yes, output)


def destroy(
    name: Name = None,
    name_option: NameOption = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    force: Force = False,
    output: OutputKind = "text",
) -> None:
    """Remove a cluster and all its data, after asking; names the jobs that would end.

    With `--yes` it refuses to end running jobs unless `--force` says so, too.

    \b
    npa soperator destroy quick
    """
    from npa import api
    from npa.plan import codec, guard, text
    from npa.targets.base import Options

    cluster = request.cluster(name, name_option, look.known())
    person = not yes and not dry_run
    # A person is shown the jobs and answers for them; a script has to say so beforehand.
    options = Options(force=force or person)
    agreed = api.plan_destroy(cluster, options=options)
    if dry_run:
        command = f"npa soperator destroy {cluster}"
        if output == "json":
            screen.document(codec.encode(agreed))
        else:
            screen.data(text.text(agreed, command))
        return
    guard.check(agreed, hint=guard.DESTROY_HINT)
    _tell(text.text(agreed, ""), output)
    if agreed.steps:
        _agree(f"destroy cluster {cluster}{_ending(agreed)}?", yes)
        with _progress(agreed) as heard:
            api.destroy(cluster, shown=agreed, options=options, heard=heard)
    following = "npa soperator list"
    if output == "json":
        screen.document(
            {
                "schema_version": DESTROY_VERSION,
                "ok": True,
                "plan": codec.encode(agreed),
                "next_command": following,
            }
        )
    else:
        screen.data(f"cluster {cluster} is gone\nnext: {following}")


def _deploy(asked: asked_for.Request, agreed: Plan, yes: bool, output: Output) -> None:
    from npa import api
    from npa.plan import guard, text

    _tell(text.text(agreed, ""), output)
    guard.check(agreed)
    if agreed.steps:
        _agree(f"deploy these {text.counted(agreed)}{_ending(agreed)}?", yes)
    with _progress(agreed) as heard:
        report = api.deploy(asked.spec, target=asked.target, shown=agreed, options=asked.options, heard=heard)
    _report(agreed, report, output)
    raise typer.Exit(0 if report.ok else DEGRADED)


def _report(agreed: Plan, report: Report, output: Output) -> None:
    from npa.health import text
    from npa.plan import codec

    if output == "json":
        document: dict[str, Any] = {
            "schema_version": DEPLOY_VERSION,
            "ok": report.ok,
            "plan": codec.encode(agreed),
            "report": text.to_dict(report),
            "next_command": report.next_command,
        }
        screen.document(document)
    else:
        screen.data(text.text(report))


def _show(asked: asked_for.Request, made: Plan, out: Path | None, output: Output) -> None:
    from npa.plan import codec, text

    following = asked.command("deploy") if made.steps else f"npa soperator status {made.cluster}"
    if asked.shown is not None:
        following = f"npa soperator deploy --plan {quote(asked.path)}"
    if out is not None:
        file = codec.PlanFile(
            asked.text, asked.target, made, asked.force, asked.force_steps, asked.wait_for_jobs
        )
        request.write(out, codec.encode_file(file))
        following = f"npa soperator deploy --plan {quote(str(out))}"
    if output == "json":
        screen.document(codec.encode(made))
    else:
        screen.data(text.text(made, following))


def _refuse_shown(made: Plan, output: Output) -> None:
    """Say that a deploy would refuse this plan, after it was shown; stdout has its one document already."""
    from npa.errors import DestructiveError
    from npa.plan import guard

    try:
        guard.check(made)
    except DestructiveError as error:
        if output == "text":
            raise
        screen.progress(f"error: {error}\nhint: {error.hint}")
        raise typer.Exit(error.exit_code) from error


def _show_public(asked: asked_for.Request, out: Path | None, output: Output) -> None:
    from npa.spec import public_plan

    if out is not None:
        what = f"there is no plan file for target {asked.target}: nothing was looked up"
        raise UsageError(what, hint="leave `--out` away, or add `--target local`")
    if output == "json":
        screen.document(public_plan.public_plan(asked.spec))
    else:
        screen.data(public_plan.public_plan_text(asked.spec))
    screen.progress(UNCHECKED)
    screen.progress(f"next: npa soperator plan --spec {quote(asked.path)} --target local")


def _tell(plan_text: str, output: Output) -> None:
    """Show the plan; in JSON mode stdout is kept for the one document."""
    (screen.progress if output == "json" else screen.data)(plan_text)


def _ending(agreed: Plan) -> str:
    count = len(agreed.killed_jobs)
    return f" and end {count} running job{'s' * (count != 1)}" if count else ""


def _agree(question: str, yes: bool) -> None:
    """Return once somebody agreed; raise RefusedError otherwise."""
    if yes:
        return
    if not screen.has_person():
        raise RefusedError("nobody to ask: this is no terminal", hint="add `--yes` to go on without asking")
    if not screen.asked(question):
        raise RefusedError("not agreed to, nothing was touched", hint="answer `y` to go on")


def _progress(agreed: Plan) -> Any:
    from npa.cli import progress

    return progress.shown(agreed)
