"""The command that ends a cluster: destroy."""

from __future__ import annotations

from npa.cli import agreement, look, request, screen, telling
from npa.cli import nebius_options as nebius
from npa.cli.options import DryRun, Force, Name, NameOption, Output, OutputKind, Place, TargetName, Yes

DESTROY_VERSION = "npa.soperator.destroy/v1"


def destroy(
    name: Name = None,
    name_option: NameOption = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    force: Force = False,
    target: TargetName = None,
    project: nebius.Project = "",
    terraform_dir: nebius.TerraformDir = None,
    ref: nebius.Ref = "",
    timeout: nebius.Timeout = nebius.MINUTES,
    source_preflight_only: nebius.SourceOnly = False,
    private_endpoint: nebius.Private = False,
    accept_unknown: nebius.AcceptUnknown = False,
    output: OutputKind = "text",
) -> None:
    """Remove a cluster and all its data, after asking; names the jobs that would end.

    With `--yes` it refuses to end running jobs unless `--force` says so, too.

    \b
    npa soperator destroy quick
    """
    from npa import api

    cluster = request.cluster(name, name_option, look.known())
    place = api.where(cluster, target, terraform_dir)
    given = nebius.gathered(
        place,
        project=project,
        terraform_dir=terraform_dir,
        ref=ref,
        timeout=timeout,
        source_only=source_preflight_only,
        private=private_endpoint,
        accept_unknown=accept_unknown,
    )
    if place == "nebius":
        from npa.cli import recipe

        if dry_run:
            recipe.show_destroy(cluster, given, force, output)
        else:
            recipe.destroy(cluster, given, yes, force, output)
        return
    _destroy(cluster, place, yes, dry_run, force, output)


def _destroy(cluster: str, place: Place, yes: bool, dry_run: bool, force: bool, output: Output) -> None:
    from npa import api
    from npa.plan import codec, guard, text
    from npa.targets.base import Options

    person = not yes and not dry_run
    # A person is shown the jobs and answers for them; a script has to say so beforehand.
    options = Options(force=force or person)
    agreed = api.plan_destroy(cluster, options=options, target=place)
    if dry_run:
        telling.plan(agreed, f"npa soperator destroy {cluster}", output)
        return
    guard.check(agreed, hint=guard.DESTROY_HINT)
    telling.plan_text(text.text(agreed, ""), output)
    if agreed.steps:
        agreement.agree(f"destroy cluster {cluster}{telling.ending(agreed)}?", yes)
        with telling.progress(agreed) as heard:
            api.destroy(cluster, shown=agreed, options=options, heard=heard, target=place)
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
