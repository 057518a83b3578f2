"""What was found of one fault, and the page that all of them make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

SOURCE = "<!-- written by `make faults` -->"
INTRODUCTION = """\
Each fault here was made on a real cluster of this machine: a database, two ways in, a controller and workers,
with a job running on a worker that the fault does not touch. What a row says was asserted when this page was
written; `make faults` fails where it does not hold.

A time in `deploy` runs from the start of the command to its end, when every node takes jobs again. A time in
`watch` runs from the fault to the first `status` that is healthy. Several runs are given by their median, and
the least and the most. `status` exits with the number that it is said to say.

A job that started within the last ten seconds before slurmctld was killed starts again: slurmctld writes down
what it knows every few seconds, and that is not a setting. Every other job whose own node lives goes on.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One fault: how it was made, and everything that then held."""

    fault: str
    made: str
    status: str  # what it says while the fault is there
    repair: str
    deploy: tuple[float, ...] = ()  # seconds
    watch: tuple[float, ...] = ()  # seconds
    job: str = "goes on"  # one on a node that the fault does not touch


def render(rows: Iterable[Row], notes: Iterable[str], machine: Mapping[str, str]) -> str:
    """Return the page."""
    lines = [
        SOURCE,
        "",
        "# Faults",
        "",
        INTRODUCTION,
        "What happens when npa is killed on Nebius is [a page of its own](faults-nebius.md).",
        "",
        "| fault | made by | `status` says | repaired by | `deploy` | `watch` | job elsewhere |",
        "|---|---|---|---|---|---|---|",
        *(_line(row) for row in rows),
        "",
        *(f"{note}\n" for note in notes),
        "## The machine",
        "",
        "| | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in machine.items()),
    ]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    cells = (
        row.fault, row.made, row.status, row.repair, seconds(row.deploy), seconds(row.watch), row.job
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def seconds(samples: tuple[float, ...]) -> str:
    """Say how long something took: the median, and its range."""
    if not samples:
        return ""
    spread = f" ({min(samples):.1f} to {max(samples):.1f})" if len(samples) > 1 else ""
    return f"{median(samples):.1f} s{spread}"
