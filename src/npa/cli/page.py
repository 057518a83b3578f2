"""Commands that write a page to look at: report, of a cluster and of a fleet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from npa.cli import fleet_options, look, request, screen
from npa.cli import nebius_options as nebius
from npa.cli.options import Name, NameOption, Output, OutputKind, TargetName
from npa.errors import UsageError

VERSION = "npa.soperator.report/v1"
FLEET_VERSION = "npa.fleet.report/v1"

OutPath = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="The file to write, NAME.html without it; `-` prints it.",
        show_default=False,
    ),
]
Days = Annotated[
    int, typer.Option("--days", min=1, max=90, metavar="N", help="How far back accounting is asked.")
]


def cluster(
    name: Name = None,
    name_option: NameOption = None,
    target: TargetName = None,
    terraform_dir: nebius.TerraformDir = None,
    private_endpoint: nebius.Private = False,
    out: OutPath = None,
    days: Days = 7,
    output: OutputKind = "text",
) -> None:
    """Write a page about a cluster: one HTML file, complete in itself, to look at and to pass on.

    It shows how the cluster is put together, nodes by state, use and queue over time, jobs and why they wait,
    who took nodes away, and the plans that were applied. Says what could not be read; exits 0 once written.

    \b
    npa soperator report quick
    npa soperator report quick --out /var/www/quick.html --days 30
    """
    from npa import api
    from npa.api import page

    _one_document(out, output)
    chosen = request.cluster(name, name_option, look.known())
    place = api.where(chosen, target, terraform_dir)
    given = nebius.gathered(place, terraform_dir=terraform_dir, private=private_endpoint)
    html = page.html(chosen, target=place, nebius=given, days=days)
    _write(VERSION, html, Path(out or f"{chosen}.html"), output)


def fleet(
    name: fleet_options.Name = None,
    project: fleet_options.Projects = [],  # noqa: B006
    cluster: fleet_options.Clusters = [],  # noqa: B006
    out: OutPath = None,
    days: Days = 7,
    output: OutputKind = "text",
) -> None:
    """Write a page about a fleet: how each cluster is, then what `npa soperator report` shows of each.

    \b
    npa fleet report lab
    npa fleet report lab --project 'team-*' --out lab.html
    """
    from npa.fleet import page, store
    from npa.fleet.outside import Outside

    _one_document(out, output)
    chosen = name or store.chosen(None)
    html = page.html(chosen, fleet_options.selection(project, cluster), Outside(), days=days)
    _write(FLEET_VERSION, html, Path(out or f"{chosen}.html"), output)


def _one_document(out: str | None, output: Output) -> None:
    if out == request.STDIN and output == "json":
        raise UsageError("`--out -` prints the page", hint="leave `--output json` away, or name a file")


def _write(version: str, html: str, path: Path, output: Output) -> None:
    if str(path) == request.STDIN:
        screen.data(html)
        return
    request.write(path, html, 0o644)  # whoever used sudo opens it as themselves
    if output == "json":
        screen.document({"schema_version": version, "ok": True, "file": str(path.absolute())})
    else:
        screen.data(f"{path}: written, {max(1, len(html.encode()) >> 10)} KiB")
        screen.data(f"next: open {path.absolute().as_uri()} in a browser")
