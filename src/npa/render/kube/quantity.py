"""Quantities of Kubernetes (`1500m`, `57Gi`, `1e9`) as whole numbers, always rounded down."""

from __future__ import annotations

from npa.crds.quantity import amount

__all__ = ["amount", "mebibytes", "whole"]


def whole(text: object) -> int:
    """Return a count: `3900m` CPUs are 3."""
    return int(amount(text))


def mebibytes(text: object) -> int:
    """Return bytes in MiB: `57Gi` is 58368."""
    return int(amount(text) / (1024 * 1024))
