"""A Report for people, and as JSON has it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from npa.health.assess import NodeRow, Report
from npa.slurm import hostlist


def text(report: Report) -> str:
    """Return the report as a few lines and a table; the last line names the next command."""
    return "\n".join(_lines(report)) + "\n"


def to_dict(report: Report) -> dict[str, Any]:
    """Return the report as JSON has it, lists for tuples included."""
    jobs = None if report.jobs is None else dict(report.jobs)
    document = {"schema_version": report.schema_version, **asdict(report), "jobs": jobs}
    plain: dict[str, Any] = json.loads(json.dumps(document))
    return plain


def _lines(report: Report) -> Iterator[str]:
    version = f", Slurm {report.slurm_version}" if report.slurm_version else ""
    yield f"cluster {report.name} on {report.target}: {report.status}{version}"
    if report.status != "stopped":
        yield from table([*_capacity(report), ("daemons", _daemons(report)), ("jobs", _jobs(report))])
    if report.nodes:
        yield from table([("NODES", "STATE", "CPUS", "GRES", "REASON"), *_groups(report.nodes)])
    for finding in report.findings:
        yield f"{finding.severity}: {finding.subject}: {finding.message}"
        if finding.hint:
            yield f"hint: {finding.hint}"
    if report.next_command:
        yield f"next: {report.next_command}"


def table(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Return rows of equal length as aligned lines, indented by two."""
    every = [[" ".join(cell.split()) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*every, strict=True)]
    for row in every:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield ("  " + "  ".join(cells)).rstrip()


def _capacity(report: Report) -> Iterator[tuple[str, str]]:
    for name in ("nodes", "cpus", "gpus"):
        nominal = getattr(report.nominal, name)
        able = "unknown" if report.schedulable is None else getattr(report.schedulable, name)
        if nominal or able:
            yield name, f"{able} of {nominal} schedulable"


def _daemons(report: Report) -> str:
    up = sum(daemon.state == "up" for daemon in report.daemons)
    return f"{up} of {len(report.daemons)} up"


def _jobs(report: Report) -> str:
    if report.jobs is None:
        return "unknown"
    return ", ".join(f"{count} {state}" for state, count in report.jobs) or "none"


def _groups(rows: Iterable[NodeRow]) -> Iterator[tuple[str, ...]]:
    """Yield one line for all nodes that look the same."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        looks: tuple[str, ...] = (row.state, f"{row.cpus_allocated}/{row.cpus}", row.gres, row.reason)
        groups.setdefault(looks, []).append(row.name)
    for looks, names in groups.items():
        yield hostlist.compress(hostlist.ordered(names)), *looks
