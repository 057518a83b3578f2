"""What was measured, as a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

SOURCE = "<!-- written by `make bench` -->"


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement: several samples of one thing, against what is aimed at."""

    what: str
    unit: str  # s, MiB
    samples: tuple[float, ...]
    aim: float | None = None  # at most; None where nothing is aimed at
    bound: str = ""  # what bounds it, said where the aim is missed

    @property
    def met(self) -> bool | None:
        """Whether the median is within the aim; None without an aim."""
        return None if self.aim is None else median(self.samples) <= self.aim


def render(rows: Iterable[Row], machine: Mapping[str, str]) -> str:
    """Return the page."""
    lines = [
        SOURCE,
        "",
        "# Performance",
        "",
        "Measured by `make bench`, which writes this page anew: the median, and the least and the most.",
        "Clusters have accounting and the REST API; memory counts shared pages once.",
        "",
        "| what | aim | measured | runs | |",
        "|---|---|---|---|---|",
        *(_row(row) for row in rows),
        "",
        "## The machine",
        "",
        "| | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in machine.items()),
    ]
    return "\n".join(lines) + "\n"


def _row(row: Row) -> str:
    aim = "" if row.aim is None else f"≤ {row.aim:g} {row.unit}"
    measured = f"{_number(median(row.samples))} {row.unit}"
    if len(row.samples) > 1:
        measured += f" ({_number(min(row.samples))} to {_number(max(row.samples))})"
    verdict = {True: "met", False: f"missed: {row.bound or 'not looked into'}", None: row.bound}[row.met]
    return f"| {row.what} | {aim} | {measured} | {len(row.samples)} | {verdict} |"


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"
