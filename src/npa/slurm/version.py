"""Which Slurm: releases are named by year and month, and what they read differs."""

from __future__ import annotations


def at_least(version: str, release: str) -> bool:
    """Say whether `version` (`26.05`, `26.05.5`) is of this release or a later one."""
    return _number(version) >= _number(release)


def _number(version: str) -> tuple[int, int]:
    year, _, month = version.partition(".")
    return int(year), int(month.partition(".")[0])
