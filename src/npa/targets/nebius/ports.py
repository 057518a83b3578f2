"""What the steps after an apply need from the outside; `npa.tools` gives it, and tests their own."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from npa.render import objects
from npa.render.objects import Object
from npa.slurm.lookup import Lookup
from npa.tools.kube import Executed
from npa.tools.nebius_records import Kind, Kubernetes, Resource, Token
from npa.tools.terraform import Saved


class Clock(Protocol):
    """Time that passes."""

    def monotonic(self) -> float:
        """Return seconds since some moment."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The clock of this machine."""

    def monotonic(self) -> float:
        """Return seconds since some moment."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


class Executes(Protocol):
    """Runs commands in pods of one cluster."""

    def exec(
        self, pod: str, namespace: str, argv: Sequence[str], *, container: str = "", timeout: float = 30.0
    ) -> Executed:
        """Run a command to its end. Raises KubeError where it could not be run or did not end."""


class KubeApi(Executes, Protocol):
    """The Kubernetes API of one cluster: `tools.kube.Kube`."""

    @property
    def cluster_id(self) -> str:
        """The provider's id of the cluster that it reaches."""

    def get(self, kind: objects.Kind, name: str, namespace: str = "") -> Lookup[Object]:
        """Return one object."""

    def list(self, kind: objects.Kind, namespace: str = "") -> Lookup[tuple[Object, ...]]:
        """Return the objects of a kind."""

    def apply(self, wanted: Object) -> Object:
        """Server-side apply."""

    def patch(
        self,
        kind: objects.Kind,
        name: str,
        namespace: str,
        body: object,
        how: Literal["json", "merge"] = "merge",
    ) -> Object:
        """Change an object."""

    def delete(self, kind: objects.Kind, name: str, namespace: str = "") -> bool:
        """Ask for an object to be deleted."""


class Provider(Protocol):
    """What is asked of the provider: `tools.nebius.Nebius`, whose calls have deadlines of their own.

    ProviderNotFoundError of an id proves that it is gone; no other error does.
    """

    def cluster(self, resource_id: str) -> Kubernetes:
        """Return a Kubernetes cluster by its id."""

    def owned(self, kind: Kind, resource_id: str) -> Resource:
        """Return a filesystem, an address or a cluster by its id."""

    def all_owned(self, kind: Kind, project: str) -> tuple[Resource, ...]:
        """Return every one of a kind in a project."""

    def delete(self, kind: Kind, resource_id: str) -> None:
        """Ask for one of them to be deleted; whether it is gone is another lookup."""

    def token(self) -> Token:
        """Return a token that is good now."""


class Terraform(Protocol):
    """Terraform in one installation, whose lock the caller holds: `tools.terraform.Terraform`."""

    def init(self) -> None:
        """Fetch providers and modules."""

    def state_pull(self) -> Mapping[str, Any]:
        """Return the state, empty where there is none."""

    def planned(
        self, *, destroy: bool = False, timeout: float | None = None
    ) -> AbstractContextManager[Saved]:
        """Plan into a file that is there inside the `with` block only."""

    def show(self, saved: Saved) -> Any:
        """Return a saved plan, decoded."""

    def apply(self, saved: Saved, *, timeout: float | None = None) -> None:
        """Apply exactly a saved plan."""


class Deadline:
    """One end for many calls."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self._until = clock, clock.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds left; 0 once it has passed."""
        return max(0.0, self._until - self._clock.monotonic())

    def cap(self, seconds: float) -> float:
        """Return a time-out for one call, within what is left."""
        return min(seconds, self.left)
