"""The command that gives a cluster a new key: rotate."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from npa.cli import agreement, look, request, telling
from npa.cli.options import DryRun, Force, Name, NameOption, OutputKind, Yes

ROTATE_VERSION = "npa.soperator.rotate/v1"


class WhichKey(StrEnum):
    """A key that can be replaced."""

    auth = "auth"
    jwt = "jwt"


KeyOption = Annotated[
    WhichKey,
    typer.Option(
        "--key", help="auth: what daemons and clients share. jwt: what signs tokens of the REST API."
    ),
]


def rotate(
    key: KeyOption,
    name: Name = None,
    name_option: NameOption = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    force: Force = False,
    output: OutputKind = "text",
) -> None:
    """Give a cluster on this machine or on Kubernetes a new key, after asking.

    Whoever has read the old key is stopped, the key is replaced, and all of it starts again; where it does
    not come up the old key is put back. A new `auth` key ends running jobs, whose steps know only the old
    one: without `--force` it waits for nobody and refuses. A new `jwt` key ends none, and every token.

    \b
    npa soperator rotate quick --key jwt
    npa soperator rotate quick --key auth --dry-run
    """
    from npa.api import rotation
    from npa.plan import guard, text
    from npa.targets.base import Options

    cluster = request.cluster(name, name_option, look.known())
    options = Options(force=force or not (yes or dry_run))
    agreed = rotation.plan(cluster, key.value, options=options)
    if dry_run:
        telling.plan(agreed, f"npa soperator rotate {cluster} --key {key.value}", output)
        return
    guard.check(agreed, hint=guard.DESTROY_HINT)
    telling.plan_text(text.text(agreed, ""), output)
    agreement.agree(f"replace the {key.value} key of {cluster}{telling.ending(agreed)}?", yes)
    with telling.progress(agreed) as heard:
        report = rotation.apply(cluster, key.value, shown=agreed, options=options, heard=heard)
    telling.report(ROTATE_VERSION, agreed, report, output)
    raise typer.Exit(0 if report.ok else telling.DEGRADED)
