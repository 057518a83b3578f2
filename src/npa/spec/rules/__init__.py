"""What holds between the fields of a spec: one function per rule, named as the fact it demands."""

from __future__ import annotations

from collections.abc import Iterator

from npa.spec.finding import Finding
from npa.spec.model import SoperatorSpec


def broken(spec: SoperatorSpec) -> Iterator[Finding]:
    """Yield everything that the spec breaks."""
    return iter(())
