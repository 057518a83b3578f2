"""Options that several commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Output = Literal["text", "json"]
Place = Literal["local", "kubernetes", "nebius"]

SPEC_HELP = "The spec, a YAML file; `-` reads stdin."
NAME_HELP = "Name of the cluster; may be left out where there is only one."

SpecPath = Annotated[str, typer.Option("--spec", "-f", metavar="PATH", help=SPEC_HELP)]
MaybeSpecPath = Annotated[str | None, typer.Option("--spec", "-f", metavar="PATH", help=SPEC_HELP)]
SpecPaths = Annotated[
    list[str], typer.Option("--spec", "-f", metavar="PATH", help=f"{SPEC_HELP} Repeatable.")
]
OutputKind = Annotated[Output, typer.Option("--output", "-o", help="Print text, or one JSON document.")]
TargetName = Annotated[
    Place | None,
    typer.Option("--target", help="Where it runs; without it what the spec says, else nebius."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan and stop.")]
Force = Annotated[bool, typer.Option("--force", help="End running jobs where a step needs their node.")]
ForceSteps = Annotated[
    list[str],
    typer.Option(
        "--force-step", metavar="STEP", help="End running jobs in this step of the plan alone. Repeatable."
    ),
]
Wait = Annotated[
    str | None,
    typer.Option(
        "--wait-for-jobs",
        metavar="DURATION",
        help="Let running jobs end by themselves for this long (30s, 10m, 1h) before their node is removed.",
    ),
]
Name = Annotated[str | None, typer.Argument(metavar="NAME", help=NAME_HELP, show_default=False)]
NameOption = Annotated[str | None, typer.Option("--name", "-n", metavar="NAME", help="The same as NAME.")]
ClusterName = Annotated[str | None, typer.Option("--cluster", "-c", metavar="NAME", help=NAME_HELP)]
Node = Annotated[str, typer.Argument(metavar="NODE", help="Name of a node, as `status` shows it.")]
OutFile = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the plan to a file too.")]
PlanPath = Annotated[
    str | None, typer.Option("--plan", metavar="FILE", help="Do exactly what a file of `plan --out` says.")
]
