"""Commands that only look: status, list, logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from npa.cli import nebius_options as nebius
from npa.cli import request, screen, telling
from npa.cli.options import ClusterName, Name, NameOption, Node, OutputKind, TargetName

LIST_VERSION = "npa.soperator.list/v1"
DOCTOR_VERSION = "npa.soperator.doctor/v1"


def known() -> Iterator[str]:
    """Yield the names of the clusters on this machine; looks only once somebody iterates."""
    from npa import api

    yield from (each.name for each in api.clusters())


def status(
    name: Name = None,
    name_option: NameOption = None,
    target: TargetName = None,
    terraform_dir: nebius.TerraformDir = None,
    private_endpoint: nebius.Private = False,
    output: OutputKind = "text",
) -> None:
    """Show how well a cluster is: daemons, nodes, jobs, and what can be scheduled. Exits 4 unless healthy.

    \b
    npa soperator status quick
    npa soperator status quick --output json | jq .findings
    """
    from npa import api
    from npa.health import text

    cluster = request.cluster(name, name_option, known())
    place = api.where(cluster, target, terraform_dir)
    given = nebius.gathered(place, terraform_dir=terraform_dir, private=private_endpoint)
    if place == "nebius":
        from npa.cli import recipe

        recipe.status(cluster, given, output)
    report = api.status(cluster, place)
    if output == "json":
        screen.document(text.to_dict(report))
    else:
        screen.data(text.text(report))
    raise typer.Exit(0 if report.ok else telling.DEGRADED)


def list_(output: OutputKind = "text") -> None:
    """List the clusters on this machine.

    \b
    npa soperator list
    """
    from dataclasses import asdict

    from npa import api
    from npa.health import text

    found = api.clusters()
    if output == "json":
        screen.document({"schema_version": LIST_VERSION, "clusters": [asdict(each) for each in found]})
    elif found:
        rows = [(c.name, c.target, c.state, str(c.workers), c.slurm_version, c.created) for c in found]
        head = ("NAME", "TARGET", "STATE", "WORKERS", "SLURM", "CREATED")
        screen.data("\n".join(text.table([head, *rows])))
    else:
        screen.progress("no cluster on this machine")
        screen.progress("next: npa soperator deploy --target local --spec cluster.yaml")


def doctor(output: OutputKind = "text") -> None:
    """Say whether this machine has what clusters at Nebius need. Exits 4 where something is missing.

    \b
    npa soperator doctor
    """
    from dataclasses import asdict

    from npa.api import nebius as nebius_api
    from npa.health import text
    from npa.targets.nebius import doctor

    found = nebius_api.doctor()
    well = doctor.ok(found)
    if output == "json":
        checks = [asdict(each) for each in found]
        screen.document({"schema_version": DOCTOR_VERSION, "ok": well, "checks": checks})
    else:
        screen.data("\n".join(text.table([(each.state, each.name, each.found) for each in found])))
        for each in found:
            if each.hint:
                screen.data(f"hint: {each.name}: {each.hint}")
    raise typer.Exit(0 if well else telling.DEGRADED)


def logs(
    node: Node,
    cluster: ClusterName = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what is added.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, help="How many lines to begin with.")] = 100,
) -> None:
    """Show what the daemons of a node logged.

    \b
    npa soperator logs controller-0 -n 20
    npa soperator logs gpu-0 -f
    """
    from npa import api

    for line in api.logs(request.cluster(cluster, None, known()), node, lines=lines, follow=follow):
        screen.data(line)
