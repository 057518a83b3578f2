"""Whether this machine has room for several new clusters at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from npa.spec.model import SoperatorSpec


def lacks(specs: Sequence[SoperatorSpec]) -> tuple[tuple[str, str], ...]:
    """Return what is lacking for all of them together, each with what to do; changes nothing.

    Raises PreflightError where this machine can hold none at all.
    """
    from npa.targets.local import preflight, room
    from npa.targets.local.paths import Paths

    preflight.require_root()
    workers = [spec.worker_count for spec in specs]
    return tuple(room.lacks(workers, [spec.slurm.version for spec in specs], Paths.here()))
