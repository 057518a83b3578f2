"""What every target can do."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from npa.cluster.facts import Facts
from npa.cluster.model import Cluster
from npa.health.observation import Observation
from npa.plan.model import Event, Options, Plan, Step
from npa.spec.model import SoperatorSpec

__all__ = ["Listener", "Options", "Summary", "Target"]

Listener = Callable[[Event], None]


@contextlib.contextmanager
def told(step: Step, heard: Listener) -> Iterator[None]:
    """Tell that a step begins and, unless it fails, that it is done."""
    label, started = f"{step.verb} {step.subject}", time.monotonic()
    heard(Event("started", step.key, label))
    yield
    heard(Event("done", step.key, label, seconds=time.monotonic() - started))


def told_of(plan: Plan, key: str, heard: Listener) -> AbstractContextManager[None]:
    """Tell likewise of a step of the plan; of one that is not in it, nothing."""
    step = next((each for each in plan.steps if each.key == key), None)
    return told(step, heard) if step else contextlib.nullcontext()


@dataclass(frozen=True, slots=True)
class Summary:
    """One line about a cluster that this machine knows."""

    name: str
    target: str
    state: str  # present, stopped
    workers: int
    slurm_version: str
    created: str  # RFC 3339, UTC


class Target(Protocol):
    """Reads, plans, applies and inspects; the verbs are in `npa.api`."""

    def facts(self, spec: SoperatorSpec) -> Facts:
        """Look up what the spec leaves to this place. Raises PreflightError, with all that is lacking."""

    def plan(self, cluster: Cluster, options: Options) -> Plan:
        """Compare what is asked with what is there; changes nothing."""

    def apply(self, cluster: Cluster, plan: Plan, options: Options, heard: Listener) -> None:
        """Do the steps of the plan; raises RefusedError when the world is no longer the plan's."""

    def plan_destroy(self, name: str, options: Options) -> Plan:
        """Return the steps that leave nothing of a cluster."""

    def destroy(self, name: str, plan: Plan, options: Options, heard: Listener) -> None:
        """Do them; ends only when nothing of the cluster is left."""

    def inspect(self, name: str) -> Observation:
        """Read what is there now."""

    def list(self) -> Iterator[Summary]:
        """Return the clusters known here, by name."""
