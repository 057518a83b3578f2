"""Commands that make a cluster, and the plan that says how: plan, deploy."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import typer

from npa.cli import agreement, asked_for, request, screen, telling
from npa.cli import kube_options as kube
from npa.cli import nebius_options as nebius
from npa.cli.options import (
    DryRun,
    Force,
    ForceSteps,
    MaybeSpecPath,
    OutFile,
    Output,
    OutputKind,
    Place,
    PlanPath,
    SpecPath,
    TargetName,
    Wait,
    Yes,
)
from npa.errors import UsageError

if TYPE_CHECKING:
    from npa.plan.model import Plan
    from npa.targets.nebius.options import NebiusOptions

DEPLOY_VERSION = "npa.soperator.deploy/v1"
UNCHECKED = (
    "not checked, because no provider was asked: credentials, project and region, quotas, "
    "reservations, what is already there"
)


@kube.taken()
def plan(
    spec: SpecPath,
    target: TargetName = None,
    out: OutFile = None,
    force: Force = False,
    force_step: ForceSteps = [],  # noqa: B006  # typer reads it and makes a new list each time
    wait_for_jobs: Wait = None,
    check: nebius.Check = False,
    prices: nebius.Prices = None,
    project: nebius.Project = "",
    terraform_dir: nebius.TerraformDir = None,
    reach: kube.Given = kube.NONE,
    output: OutputKind = "text",
) -> None:
    """Show what a deploy would do, step by step with reasons; changes nothing.

    For Nebius it shows what the spec asks for, safe to show to anybody, and asks nobody; `--check` asks the
    provider whether it fits and what it costs.

    \b
    npa soperator plan --spec cluster.yaml --target local
    npa soperator plan --spec cluster.yaml --target local --out p && npa soperator deploy --plan p
    npa soperator plan --spec cluster.yaml --check --prices prices.yaml
    """
    from npa.api import places

    asked = asked_for.request(spec, target, (force, force_step), wait_for_jobs)
    given = nebius.gathered(asked.target, prices=prices, project=project, terraform_dir=terraform_dir)
    reached = kube.gathered(asked.target, reach)
    if check:
        _check(asked, given, output)
    elif asked.target == "nebius":
        _show_public(asked, out, output)
    else:
        with places.reaching(reached):
            made = asked_for.planned(asked)
        _show(asked, made, out, output)
        _refuse_shown(made, output)


@kube.taken()
def deploy(
    spec: MaybeSpecPath = None,
    target: TargetName = None,
    plan_file: PlanPath = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    force: Force = False,
    force_step: ForceSteps = [],  # noqa: B006  # typer reads it and makes a new list each time
    wait_for_jobs: Wait = None,
    project: nebius.Project = "",
    terraform_dir: nebius.TerraformDir = None,
    ref: nebius.Ref = "",
    root_login_ssh_public_key_file: nebius.KeyFile = None,
    timeout: nebius.Timeout = nebius.MINUTES,
    gpu_creation_check_timeout: nebius.GateTimeout = nebius.SECONDS,
    apply_fixes: nebius.Fixes = True,
    source_preflight_only: nebius.SourceOnly = False,
    approve: nebius.Approve = [],  # noqa: B006  # typer reads it and makes a new list each time
    prices: nebius.Prices = None,
    backend: nebius.Backend = None,
    monitoring_definitions: nebius.Definitions = None,
    private_endpoint: nebius.Private = False,
    reach: kube.Given = kube.NONE,
    output: OutputKind = "text",
) -> None:
    """Make the cluster what the spec asks for: shows the plan, asks, does it, and reports.

    Interrupt it anywhere and run it again: it goes on from what is there. Exits 4 unless the cluster is
    healthy.

    \b
    npa soperator deploy --spec cluster.yaml --target local
    npa soperator deploy --spec - --target local --yes < cluster.yaml
    npa soperator deploy --spec cluster.yaml --project lab
    """
    from npa.api import places

    asked = _asked(spec, target, plan_file, (force, force_step), wait_for_jobs)
    given = nebius.gathered(
        asked.target,
        project=project,
        terraform_dir=terraform_dir,
        ref=ref,
        key_file=root_login_ssh_public_key_file,
        timeout=timeout,
        gate_timeout=gpu_creation_check_timeout,
        fixes=apply_fixes,
        source_only=source_preflight_only,
        approvals=approve,
        prices=prices,
        backend=backend,
        definitions=monitoring_definitions,
        private=private_endpoint,
    )
    if asked.target == "nebius":
        _deploy_nebius(asked, given, yes, dry_run, output)
        return
    reached = kube.gathered(asked.target, reach)
    with places.reaching(reached):
        agreed = asked_for.planned(asked)
        if dry_run:
            _show(asked, agreed, None, output)
        else:
            _deploy(asked, agreed, yes, output)


def _asked(
    spec: str | None,
    target: Place | None,
    plan_file: str | None,
    force: tuple[bool, list[str]],
    wait: str | None,
) -> asked_for.Request:
    if plan_file is not None:
        if spec is not None or target is not None or any(force) or wait:
            what = "`--plan` has its own spec, target and options"
            raise UsageError(what, hint="give only `--plan FILE`, or plan again with other options")
        return asked_for.filed(plan_file)
    if spec is not None:
        return asked_for.request(spec, target, force, wait)
    raise UsageError("no spec", hint="name it with `--spec PATH`, or a plan with `--plan FILE`")


def _deploy_nebius(
    asked: asked_for.Request, given: NebiusOptions, yes: bool, dry_run: bool, output: Output
) -> None:
    from npa.cli import recipe

    if asked.force or asked.force_steps or asked.wait_for_jobs:
        what = "`--force`, `--force-step` and `--wait-for-jobs` allow nothing on target nebius"
        raise UsageError(what, hint="allow one change of one plan with `--approve ADDRESS@DIGEST`")
    if dry_run:
        recipe.show(asked.spec, given, output)
    else:
        recipe.deploy(asked.spec, given, yes, output)


def _check(asked: asked_for.Request, given: NebiusOptions, output: Output) -> None:
    from npa.api import nebius as nebius_api
    from npa.cli import recipe
    from npa.spec import public_plan

    if asked.target != "nebius":
        raise UsageError("`--check` asks the provider", hint="leave it away, or add `--target nebius`")
    recipe.checked(nebius_api.check(asked.spec, given), public_plan.public_plan(asked.spec), output)


def _deploy(asked: asked_for.Request, agreed: Plan, yes: bool, output: Output) -> None:
    from npa import api
    from npa.plan import guard, text

    telling.plan_text(text.text(agreed, ""), output)
    guard.check(agreed)
    if agreed.steps:
        agreement.agree(f"deploy these {text.counted(agreed)}{telling.ending(agreed)}?", yes)
    with telling.progress(agreed) as heard:
        report = api.deploy(asked.spec, target=asked.target, shown=agreed, options=asked.options, heard=heard)
    telling.report(DEPLOY_VERSION, agreed, report, output)
    raise typer.Exit(0 if report.ok else telling.DEGRADED)


def _show(asked: asked_for.Request, made: Plan, out: Path | None, output: Output) -> None:
    from npa.plan import codec

    following = asked.command("deploy") if made.steps else f"npa soperator status {made.cluster}"
    if asked.shown is not None:
        following = f"npa soperator deploy --plan {quote(asked.path)}"
    if out is not None:
        file = codec.PlanFile(
            asked.text, asked.target, made, asked.force, asked.force_steps, asked.wait_for_jobs
        )
        request.write(out, codec.encode_file(file))
        following = f"npa soperator deploy --plan {quote(str(out))}"
    telling.plan(made, following, output)


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
