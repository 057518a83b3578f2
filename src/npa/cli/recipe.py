"""The commands of clusters at the provider: what is shown, asked and printed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import typer

from npa.cli import agreement, progress, screen, telling
from npa.cli.options import Output

if TYPE_CHECKING:
    from npa.plan.model import Plan
    from npa.render.nebius.preflight import Preflight
    from npa.spec.model import SoperatorSpec
    from npa.targets.nebius.options import NebiusOptions


def deploy(spec: SoperatorSpec, options: NebiusOptions, yes: bool, output: Output) -> None:
    """Deploy: shows each plan of Terraform's as ours, asks, does exactly that, and prints the result."""
    from npa.api import nebius as nebius_api
    from npa.plan import text

    def agree(plan: Plan, asks: bool) -> None:
        telling.plan_text(text.text(plan, ""), output)
        if asks:
            agreement.agree(f"do exactly this to cluster {plan.cluster}?", yes)

    result = nebius_api.deploy(spec, options, agree, _lines(spec.name))
    _print(result, output)


def show(spec: SoperatorSpec, options: NebiusOptions, output: Output) -> None:
    """Show Terraform's plan as ours, and stop; raises what refuses it, after it was shown."""
    from npa.api import nebius as nebius_api
    from npa.plan import codec, text

    shown = nebius_api.planned(spec, options, _lines(spec.name))
    if output == "json" and not shown.refusal:
        screen.document(codec.encode(shown.plan))
    elif output != "json":
        screen.data(text.text(shown.plan, f"npa soperator deploy --spec {spec.name}.yaml"))
    if shown.refusal:
        raise shown.refusal


def destroy(name: str, options: NebiusOptions, yes: bool, force: bool, output: Output) -> None:
    """Destroy: shows what is recorded, asks, and prints what became of it."""
    from npa.api import nebius as nebius_api
    from npa.plan import guard, text

    if not options.source_only:
        plan = nebius_api.plan_destroy(name, options, force=force or not yes)
        guard.check(plan, hint=guard.DESTROY_HINT)
        telling.plan_text(text.text(plan, ""), output)
        question = f"destroy cluster {name} and all its data{telling.ending(plan)}?"
        agreement.agree(question, yes or force)
    _print(nebius_api.destroy(name, options, heard=_lines(name)), output)


def show_destroy(name: str, options: NebiusOptions, force: bool, output: Output) -> None:
    """Show what a destroy would end, and stop."""
    from npa.api import nebius as nebius_api
    from npa.plan import codec, text

    plan = nebius_api.plan_destroy(name, options, force=force)
    if output == "json":
        screen.document(codec.encode(plan))
    else:
        screen.data(text.text(plan, f"npa soperator destroy {name}"))


def status(name: str, options: NebiusOptions, output: Output) -> None:
    """Print what is known of a cluster; exits 4 unless it is healthy."""
    from npa.api import nebius as nebius_api
    from npa.health import text

    seen = nebius_api.status(name, options)
    if output == "json":
        screen.document(seen.document())
    else:
        screen.data("\n".join((*([seen.sinfo.rstrip()] if seen.sinfo else []), *_capacity(seen.document()))))
        screen.data(text.text(seen.report))
    raise typer.Exit(0 if seen.report.ok else telling.DEGRADED)


def checked(found: Preflight, public: dict[str, Any], output: Output) -> None:
    """Print whether a spec fits; raises what stands against it, after it was shown."""
    from npa.errors import NpaError
    from npa.render.nebius import preflight

    if output == "json":
        screen.document({**public, "preflight": found.public()})
    else:
        screen.data("\n".join(_preflight(found)))
    try:
        preflight.refuse(found)
    except NpaError as error:
        screen.progress(f"error: {error}\nhint: {error.hint}")
        raise typer.Exit(error.exit_code) from error


def _preflight(found: Preflight) -> list[str]:
    lines = [f"reservation: {each}" for each in found.capacity.refusals]
    lines += [f"quota: {each}" for each in (*found.quotas.shortfalls, *found.quotas.unreadable)]
    if found.ok:
        lines.append("it fits: quotas and reservations reach")
    return [*lines, str(found.cost)]


def _capacity(document: dict[str, Any]) -> list[str]:
    if document["capacity_status"] == "unknown":
        return ["capacity: unknown, Terraform's state was not found or could not be read"]
    return [
        f"pool {each['name']}: {each['capacity_mode']}, {each['nodes']} nodes in {each['node_groups']} groups"
        for each in document["workers"]
    ]


def _print(result: dict[str, Any], output: Output) -> None:
    if output == "json":
        screen.document(result)
        return
    screen.data(f"cluster {result['name']}: {result['status']}")
    if result.get("install_dir"):
        screen.data(f"installation: {result['install_dir']}")
    for key in ("post_deploy_fix_warnings", "notes"):
        for each in result.get(key, ()):
            screen.data(f"warning: {each}")
    if result.get("next_command"):
        screen.data(f"next: {result['next_command']}")


def _lines(name: str) -> progress.Listener:
    from npa.plan.model import Plan

    return progress.Lines(Plan(name, "nebius", ()), screen.progress, time.monotonic)
