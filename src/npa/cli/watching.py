"""Keep a cluster right until told to stop."""

from __future__ import annotations

import signal
import threading
import time
from datetime import datetime
from typing import TYPE_CHECKING

from npa.cli import look, request, screen
from npa.cli.options import Name, NameOption

if TYPE_CHECKING:
    from npa.plan.model import Event


def watch(name: Name = None, name_option: NameOption = None) -> None:
    """Bring back whatever of a cluster ends, until stopped with Ctrl-C or SIGTERM.

    Does what `deploy` would do to get back to what was last asked for, but ends no job and removes nothing.
    What keeps failing is tried less and less often.

    \b
    npa soperator watch quick
    """
    from npa import api

    cluster = request.cluster(name, name_option, look.known())
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    screen.progress(f"watching {cluster}; stop with Ctrl-C")
    api.watch(cluster, _told, stop.is_set)
    screen.progress(f"no longer watching {cluster}")


def _told(event: Event) -> None:
    """Say what was done, with the time, and nothing of what is only on its way."""
    now = datetime.fromtimestamp(time.time()).astimezone().isoformat(timespec="seconds")
    if event.kind == "done":
        screen.progress(f"{now} {event.message} ({event.seconds:.1f}s)")
    elif event.kind == "note":
        screen.progress(f"{now} {event.message}")
