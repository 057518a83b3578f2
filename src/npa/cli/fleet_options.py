"""Options of the fleet's commands, each declared once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from npa.fleet.select import Selection

SPEC_HELP = "The fleet's file, YAML; `-` reads stdin."

SpecPath = Annotated[str, typer.Option("--spec", "-f", metavar="PATH", help=SPEC_HELP)]
MaybeSpecPath = Annotated[str | None, typer.Option("--spec", "-f", metavar="PATH", help=SPEC_HELP)]
Name = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME", help="Name of the fleet; may be left out where there is one.", show_default=False
    ),
]
Projects = Annotated[
    list[str],
    typer.Option("--project", metavar="PATTERN", help="Only these projects, as `team-*`. Repeatable."),
]
Clusters = Annotated[
    list[str],
    typer.Option("--cluster", metavar="PATTERN", help="Only these clusters, as `gpu-*`. Repeatable."),
]
Concurrency = Annotated[
    int,
    typer.Option("--concurrency", "-j", min=1, max=64, metavar="N", help="How many clusters at a time."),
]
FailFast = Annotated[
    bool,
    typer.Option("--fail-fast/--keep-going", help="Begin with no other cluster once one has failed."),
]
Details = Annotated[bool, typer.Option("--details", help="Show every step of every cluster.")]
Check = Annotated[
    bool, typer.Option("--check", help="Ask the provider, too, whether all clusters fit together.")
]

SIDE_BY_SIDE = 4


def selection(projects: list[str], clusters: list[str]) -> Selection:
    """Return which clusters are meant."""
    from npa.fleet.select import Selection

    return Selection(tuple(projects), tuple(clusters))
