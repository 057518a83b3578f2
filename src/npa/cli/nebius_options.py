"""Options of the Nebius target alone, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from npa.errors import UsageError

if TYPE_CHECKING:
    from npa.targets.nebius.options import NebiusOptions

Project = Annotated[
    str, typer.Option("--project", metavar="ALIAS", help="Nebius: project of ~/.npa/config.yaml.")
]
TerraformDir = Annotated[
    Path | None,
    typer.Option(
        "--terraform-dir",
        metavar="DIR",
        help="Nebius: folder `soperator` of your own checkout of the recipe.",
    ),
]
Ref = Annotated[
    str,
    typer.Option(
        "--ref", metavar="SHA", help="Nebius: commit of the recipe, 40 digits; else the pinned one."
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--root-login-ssh-public-key-file", metavar="FILE", help="Nebius: root's OpenSSH public key."
    ),
]
Timeout = Annotated[
    int,
    typer.Option(
        "--timeout", min=1, metavar="MINUTES", help="Nebius: of each Terraform command; of a destroy in all."
    ),
]
GateTimeout = Annotated[
    int,
    typer.Option(
        "--gpu-creation-check-timeout", min=1, metavar="SECONDS", help="Nebius: of the whole GPU check."
    ),
]
Fixes = Annotated[
    bool, typer.Option("--apply-fixes/--skip-fixes", help="Nebius: repair what the charts need repaired.")
]
SourceOnly = Annotated[
    bool,
    typer.Option("--source-preflight-only", help="Nebius: verify the recipe's source and stop."),
]
Approve = Annotated[
    list[str],
    typer.Option(
        "--approve",
        metavar="ADDRESS@DIGEST",
        help="Nebius: allow one destructive change of one plan, as its refusal says. Repeatable.",
    ),
]
Prices = Annotated[
    Path | None, typer.Option("--prices", metavar="FILE", help="Nebius: price table for the estimate.")
]
Backend = Annotated[
    Path | None,
    typer.Option(
        "--backend", metavar="FILE", help="Nebius: Terraform file with a `backend` block, for a remote state."
    ),
]
Definitions = Annotated[
    Path | None,
    typer.Option(
        "--monitoring-definitions",
        metavar="FILE",
        help="Nebius: YAML with the prometheus operator's definitions, in the place of open ones of npa's.",
    ),
]
Private = Annotated[
    bool, typer.Option("--private-endpoint", help="Nebius: reach Kubernetes by its private endpoint.")
]
AcceptUnknown = Annotated[
    bool,
    typer.Option(
        "--accept-unknown", help="Nebius: end with success though Terraform's state was lost before."
    ),
]
Check = Annotated[
    bool,
    typer.Option("--check", help="Nebius: ask the provider whether it fits: quotas, reservations, cost."),
]

MINUTES, SECONDS = 90, 1800


def gathered(target: str, **given: Any) -> NebiusOptions:
    """Return the options; raises UsageError where some are given and the cluster is elsewhere."""
    from npa.targets.nebius.options import NebiusOptions

    given["timeout"] = given.pop("timeout", MINUTES) * 60.0
    given["gate_timeout"] = float(given.pop("gate_timeout", SECONDS))
    given["approvals"] = tuple(given.pop("approvals", ()))
    options = NebiusOptions(**given)
    if target != "nebius" and options != NebiusOptions():
        default = NebiusOptions()
        names = sorted(name for name in given if getattr(options, name) != getattr(default, name))
        what = f"only for target nebius, and this one is {target}: {', '.join(names)}"
        raise UsageError(what, hint="leave them away, or add `--target nebius`")
    return options
