"""What happens to a fleet, on stderr: a table where somebody watches, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from npa.cli import screen

if TYPE_CHECKING:
    from rich.table import Table

    from npa.fleet.crew import FleetEvent
    from npa.fleet.member import Claim
    from npa.fleet.result import Outcome

Listener = Callable[["FleetEvent"], None]
REDRAW = 0.1  # seconds at least between two pictures of the table
_WAITING = "waiting"
_CLAIM = ("project", "cluster", "target")
_SECONDS = 5  # characters


@contextmanager
def shown(claims: Sequence[Claim]) -> Iterator[Listener]:
    """Yield what listens to the events of a fleet and shows them until the end of the block."""
    if sys.stderr and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        with _table(claims) as heard:
            yield heard
    else:
        yield Lines(screen.progress, time.monotonic)


class Lines:
    """One line for each thing that happens: `[12.3s] team/gpu: start lab`."""

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._write, self._clock = write, clock
        self._began = clock()

    def __call__(self, event: FleetEvent) -> None:
        """Write the line of an event, if it has one."""
        said = sentence(event)
        if said and event.kind in ("began", "started", "note", "ended"):
            self._write(f"[{self._clock() - self._began:.1f}s] {event.project}/{event.cluster}: {said}")


def sentence(event: FleetEvent) -> str:
    """Say an event in a line."""
    if event.outcome:
        return f"{ended(event.outcome)} ({event.seconds:.1f}s)"
    said = "begins" if event.kind == "began" else event.message
    if event.kind == "progress" and event.fraction is not None:
        said += f" ({event.fraction:.0%})"
    return said


def ended(outcome: Outcome) -> str:
    """Say how a cluster ended."""
    return f"{outcome.status}: {outcome.message}" if outcome.message else outcome.status


@dataclass(slots=True)
class Row:
    """One cluster of the table."""

    claim: Claim
    phase: str = _WAITING
    status: str = ""
    began: float = 0.0
    seconds: float = 0.0

    def hear(self, event: FleetEvent, now: float) -> None:
        """Take in what happened."""
        if event.kind == "began":
            self.began = now
        if event.outcome:
            self.status, self.seconds = event.outcome.status, event.seconds
            self.phase = ended(event.outcome)
        elif event.kind != "done":
            self.phase = sentence(event)

    @property
    def order(self) -> int:
        """What is at work comes first, then what waits, then what has ended well."""
        if self.status:
            return 1 if self.status in ("failed", "refused", "unknown") else 3
        return 0 if self.began else 2


@contextmanager
def _table(claims: Sequence[Claim]) -> Iterator[Listener]:
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True, highlight=False)
    rows = {(each.project, each.cluster): Row(each) for each in claims}
    drawn = 0.0
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def heard(event: FleetEvent) -> None:
            nonlocal drawn
            now = time.monotonic()
            rows[event.project, event.cluster].hear(event, now)
            if event.outcome or now - drawn >= REDRAW:
                drawn = now
                live.update(picture(tuple(rows.values()), now, console.height, console.width), refresh=True)

        live.update(
            picture(tuple(rows.values()), time.monotonic(), console.height, console.width), refresh=True
        )
        yield heard


def picture(rows: Sequence[Row], now: float, height: int, width: int) -> Table:
    """Return the table of as many clusters as fit, those first that somebody should look at."""
    from rich import box
    from rich.table import Table as Made
    from rich.text import Text

    colours = {"healthy": "green", "absent": "green", "degraded": "yellow"}
    fits = max(1, height - 4)
    table = Made(box=box.SIMPLE_HEAD, expand=False)
    known = {each: max(len(each), *(len(getattr(row.claim, each)) for row in rows)) for each in _CLAIM}
    for name, most in known.items():
        table.add_column(name, no_wrap=True, overflow="ellipsis", width=most)
    # a long message makes its own column short, and no other
    left = width - sum(known.values()) - _SECONDS - 2 * (len(known) + 2) - 2
    table.add_column("phase", no_wrap=True, overflow="ellipsis", max_width=max(left, 10))
    table.add_column("time", no_wrap=True, width=_SECONDS)
    chosen = sorted(rows, key=lambda each: each.order)[:fits] if len(rows) > fits else rows
    for each in chosen:
        spent = each.seconds if each.status else now - each.began if each.began else 0.0
        colour = colours.get(each.status, "red") if each.status else "" if each.began else "dim"
        phase = Text(screen.clean(each.phase).replace("\n", " "), style=colour)
        claim = each.claim
        table.add_row(claim.project, claim.cluster, claim.target, phase, f"{spent:.0f}s" if spent else "")
    ended = sum(bool(each.status) for each in rows)
    table.caption = f"{ended} of {len(rows)} ended"
    return table
