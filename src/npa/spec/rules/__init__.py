"""What holds between the fields of a spec: one function per rule, named as the fact it demands."""

from __future__ import annotations

from collections.abc import Iterator

from npa.spec.finding import Finding
from npa.spec.model import SoperatorSpec
from npa.spec.rules import access, control_plane, names, pools, slurm
from npa.spec.rules.settings import MANAGED_SETTINGS

__all__ = ["MANAGED_SETTINGS", "RULES", "broken"]

RULES = (*control_plane.RULES, *names.RULES, *pools.RULES, *access.RULES, *slurm.RULES)


def broken(spec: SoperatorSpec) -> Iterator[Finding]:
    """Yield everything that the spec breaks."""
    for rule in RULES:
        yield from rule(spec)
