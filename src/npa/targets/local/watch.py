"""Keeps a local cluster right until stopped: the decisions of `deploy`, again and again, with back-off."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from npa.errors import NotFoundError, NpaError
from npa.plan import backoff
from npa.plan.backoff import Tries
from npa.plan.model import Event, Plan
from npa.render.local.steps import POWER
from npa.targets.base import Listener

POLL = 1.0  # seconds
# What a watcher does by itself: bring back what should run. It ends nothing and takes nothing away.
RESTORES = frozenset({"start", "restart", "reconfigure", "resume", "wait", "write"})

Repair = Callable[[Callable[[Plan], Plan]], Plan]  # plans, lets the caller choose the steps, does them


def watch(repair: Repair, heard: Listener, stopped: Callable[[], bool], poll: float = POLL) -> None:
    """Look and repair, `poll` seconds apart, until stopped or until there is no such cluster any more."""
    history: dict[str, Tries] = {}
    said = ""
    while not stopped():
        now = time.monotonic()
        tried: list[str] = []
        problem = ""
        try:
            repair(partial(_choose, history, now, tried))
        except NotFoundError:
            return
        except NpaError as error:
            problem = str(error)
        history = backoff.tried(tried, history, now)
        if problem and problem != said:
            heard(Event("note", "", problem))
        said = problem
        _sleep(poll, stopped)


def _choose(history: Mapping[str, Tries], now: float, tried: list[str], plan: Plan) -> Plan:
    chosen = due(plan, history, now)
    tried += [step.key for step in chosen.steps if step.verb != "wait"]
    return chosen


def due(plan: Plan, history: Mapping[str, Tries], now: float) -> Plan:
    """Return what of a plan is to be done now: what restores, and is not waiting to be tried again."""
    restoring = [step for step in plan.steps if step.verb in RESTORES and not step.key.startswith(POWER)]
    active = backoff.due((step.key for step in restoring if step.verb != "wait"), history, now)
    if not active:
        return replace(plan, steps=())
    # a wait goes with what it waits for
    nodes = {node for step in restoring if step.key in active for node in step.nodes}
    chosen = tuple(
        step for step in restoring if step.key in active or (step.verb == "wait" and nodes & set(step.nodes))
    )
    return replace(plan, steps=chosen)


def _sleep(seconds: float, stopped: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not stopped():
        time.sleep(0.05)
