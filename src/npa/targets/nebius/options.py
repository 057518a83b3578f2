"""What a caller asks of the Nebius target besides the spec."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TIMEOUT = 5400.0  # seconds, for each Terraform command of a deploy; of a destroy for all of it
GATE_TIMEOUT = 1800.0


@dataclass(frozen=True, slots=True)
class NebiusOptions:
    """How an installation is found, and what may be done to it."""

    project: str = ""  # alias in config.yaml
    terraform_dir: Path | None = None  # the folder `soperator` of the caller's own checkout
    ref: str = ""  # commit of the recipe; empty: the installation's own, else the pinned one
    key_file: Path | None = None
    timeout: float = TIMEOUT
    gate_timeout: float = GATE_TIMEOUT  # seconds, for all pools together
    fixes: bool = True
    source_only: bool = False  # stop before Terraform and the provider are asked anything
    approvals: tuple[str, ...] = ()  # `ADDRESS@DIGEST`
    prices: Path | None = None
    backend: Path | None = None  # Terraform's own words on where it keeps its state
    definitions: Path | None = None  # a file with the prometheus operator's definitions
    private: bool = False  # reach the cluster by its private endpoint
    accept_unknown: bool = False  # take it for destroyed though a lost state held nobody knows what
