"""What an apply leaves in its directory where it outlived its npa, or could not save its state."""

from __future__ import annotations

from pathlib import Path

from npa.errors import RefusedError
from npa.tools import disk

APPLYING = ".npa-apply.lock"  # held by an apply as long as it runs, also without us
OUTPUT = ".npa-terraform.out"  # what it said last
ERRORED = "errored.tfstate"  # what Terraform leaves where it cannot write its state
BUSY = "Terraform still applies here, though the npa that started it is gone; it writes its state as it ends"


def refuse(directory: Path) -> None:
    """Raise RefusedError while an apply still runs here without its npa, or could not save its state."""
    if (directory / APPLYING).exists():
        with disk.lock(directory / APPLYING, BUSY):
            pass
    if (left := directory / ERRORED).exists():
        push = f"terraform -chdir={directory} state push {ERRORED}"
        raise RefusedError(
            f"an apply could not save its state, and left it in {left}",
            hint=f"make the backend reachable, then: {push} && rm {left}",
        )
