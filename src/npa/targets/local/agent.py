"""The power agent of a cluster with elastic pools: `python -m npa.targets.local.agent STATE`.

Does as slurmctld wishes with elastic nodes. slurmctld rings by writing to a file, but nothing hangs on that:
every few seconds the agent looks by itself.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from npa.errors import NotFoundError
from npa.plan.model import Event, Plan
from npa.render.local import power
from npa.render.local.layout import Layout
from npa.render.local.steps import POWER

LOOK = 2.0  # seconds between two looks without a ring
EAR = 0.05  # seconds between two ears at the door


def main() -> int:
    """Serve until SIGTERM, or until the cluster is gone."""
    from npa.targets.local.target import LocalTarget

    layout = Layout(sys.argv[1])
    name = Path(layout.state).name
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    target = LocalTarget.here()
    heard = 0
    while not stop.is_set():
        try:
            target.repair(name, only_power, told)
        except NotFoundError:
            return 0
        except Exception as error:  # the loop outlives whatever one round meets
            told(Event("note", "", f"{type(error).__name__}: {error}"))
        heard = wait(lambda: rings(layout), heard, stop)
    return 0


def only_power(plan: Plan) -> Plan:
    """Return what of a plan is Slurm's wish."""
    return replace(plan, steps=tuple(step for step in plan.steps if step.key.startswith(POWER)))


def rings(layout: Layout) -> int:
    """Return what changes with each ring: the size of the file that slurmctld's programs write to."""
    try:
        return os.stat(f"{layout.ctld}/{power.REQUESTS}").st_size
    except FileNotFoundError:
        return 0


def wait(rings: Callable[[], int], heard: int, stop: threading.Event) -> int:
    """Wait for a ring, the next look or the end; returns the rings heard by then."""
    deadline = time.monotonic() + LOOK
    while rings() == heard and time.monotonic() < deadline and not stop.wait(EAR):
        pass
    return rings()


def told(event: Event) -> None:
    """Write what was done into the log."""
    if event.kind in ("done", "note"):
        print(f"{time.strftime('%FT%T%z')} {event.message}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
