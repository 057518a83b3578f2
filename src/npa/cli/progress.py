"""Events on stderr: a bar where somebody watches, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from npa.cli import screen

if TYPE_CHECKING:
    from npa.plan.model import Event, Plan

Listener = Callable[["Event"], None]
QUIET_SECONDS = 5.0  # between two plain lines about how far a step is


@contextmanager
def shown(plan: Plan) -> Iterator[Listener]:
    """Yield what listens to the events of a plan and shows them until the end of the block."""
    if plan.steps and sys.stderr and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        with _bar(plan) as heard:
            yield heard
    else:
        yield Lines(plan, screen.progress, time.monotonic)


class Lines:
    """One line for each thing that happens: `[12.3s] start pool gpu: 2 nodes`."""

    def __init__(self, plan: Plan, write: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._labels = labels(plan)
        self._write, self._clock = write, clock
        self._began = clock()
        self._progress_told = self._began

    def __call__(self, event: Event) -> None:
        """Write the line of an event, if it has one now."""
        now = self._clock()
        if event.kind == "progress":
            if now - self._progress_told < QUIET_SECONDS:
                return
            self._progress_told = now
        said = sentence(event, self._labels)
        if said:
            self._write(f"[{now - self._began:.1f}s] {said}")


def labels(plan: Plan) -> dict[str, str]:
    """Return what each step is called, by its key."""
    return {step.key: f"{step.verb} {step.subject}" for step in plan.steps}


def sentence(event: Event, names: dict[str, str]) -> str:
    """Say an event in a line; what a target left out is said from the plan, a bare end not at all."""
    label = names.get(event.step, "")
    if event.kind == "done" and event.message in ("", label):
        return ""
    said = event.message or label
    if said and label and not said.startswith(label):
        said = f"{label}: {said}"
    if said and event.kind == "progress" and event.fraction is not None:
        said += f" ({event.fraction:.0%})"
    return said


@contextmanager
def _bar(plan: Plan) -> Iterator[Listener]:
    # Only where somebody watches: rich is slower to import than all of npa.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    names = labels(plan)
    # Refreshed at each event: a thread would have to be told of every fork and of Ctrl-C.
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[done]}/{task.total:.0f}"),
        TimeElapsedColumn(),
        console=Console(stderr=True, highlight=False),
        auto_refresh=False,
        transient=True,  # the report says how it ended
    )
    task = bar.add_task("", total=len(plan.steps), done=0)
    done = 0

    def heard(event: Event) -> None:
        nonlocal done
        said = screen.clean(sentence(event, names))
        if event.kind == "note":
            bar.console.print(said, markup=False)
            return
        done += event.kind == "done"
        completed = min(len(plan.steps), done + (event.fraction or 0.0))
        bar.update(task, description=said or None, completed=completed, done=done, refresh=True)

    with bar:
        yield heard
