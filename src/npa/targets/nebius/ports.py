"""What the steps after an apply need from the outside; `npa.tools` gives it, and tests their own."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from npa.render.objects import Kind, Object
from npa.slurm.lookup import Lookup
from npa.tools.kube import Access, Executed


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

    def get(self, kind: Kind, name: str, namespace: str = "") -> Lookup[Object]:
        """Return one object."""

    def list(self, kind: Kind, namespace: str = "") -> Lookup[tuple[Object, ...]]:
        """Return the objects of a kind."""

    def apply(self, wanted: Object) -> Object:
        """Server-side apply."""

    def patch(
        self, kind: Kind, name: str, namespace: str, body: object, how: Literal["json", "merge"] = "merge"
    ) -> Object:
        """Change an object."""

    def delete(self, kind: Kind, name: str, namespace: str = "") -> bool:
        """Ask for an object to be deleted."""


@dataclass(frozen=True, slots=True)
class ProviderCluster:
    """A Kubernetes cluster as the provider describes it."""

    id: str
    name: str
    project_id: str  # metadata.parent_id
    state: str = ""
    deleting: bool = False


class Provider(Protocol):
    """What is asked of the provider. Each lookup is absent only by its NotFound of exactly this id.

    Deletions return once they are asked for; whether the thing is gone is another lookup. They raise
    NpaError where the provider refuses or cannot be asked.
    """

    def cluster(self, cluster_id: str, timeout: float) -> Lookup[ProviderCluster]:
        """Return a cluster by its id."""

    def delete_cluster(self, cluster_id: str, timeout: float) -> None:
        """Ask for a cluster to be deleted."""

    def auxiliary(self, kind: Literal["filesystem", "allocation"], id_: str, timeout: float) -> Lookup[str]:
        """Return the name of a filesystem or an address by its id."""

    def delete_auxiliary(self, kind: Literal["filesystem", "allocation"], id_: str, timeout: float) -> None:
        """Ask for a filesystem or an address to be deleted."""

    def access(self, cluster_id: str, timeout: float) -> Lookup[Access]:
        """Return the endpoint and the authority of a cluster, and who renews tokens for it."""


class Terraform(Protocol):
    """Terraform in one installation."""

    def init(self, timeout: float) -> None:
        """Fetch providers and modules."""

    def state_pull(self, timeout: float) -> Mapping[str, Any]:
        """Return the state, empty where there is none."""

    def plan_destroy(self, out: Path, timeout: float) -> None:
        """Save the plan that destroys everything."""

    def show(self, plan: Path, timeout: float) -> Mapping[str, Any]:
        """Return a saved plan, decoded."""

    def apply(self, plan: Path, timeout: float) -> None:
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
