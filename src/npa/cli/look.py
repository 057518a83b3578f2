"""Commands that only look: status, list, logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from npa.cli import request, screen
from npa.cli.options import ClusterName, Name, NameOption, Node, OutputKind

DEGRADED = 4
LIST_VERSION = "npa.soperator.list/v1"


def known() -> Iterator[str]:
    """Yield the names of the clusters on this machine; looks only once somebody iterates."""
    from npa import api

    yield from (each.name for each in api.clusters())


def status(name: Name = None, name_option: NameOption = None, output: OutputKind = "text") -> None:
    """Show how well a cluster is: daemons, nodes, jobs, and what can be scheduled. Exits 4 unless healthy.

    \b
    npa soperator status quick
    npa soperator status quick --output json | jq .findings
    """
    from npa import api
    from npa.health import text

    report = api.status(request.cluster(name, name_option, known()))
    if output == "json":
        screen.document(text.to_dict(report))
    else:
        screen.data(text.text(report))
    raise typer.Exit(0 if report.ok else DEGRADED)


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
