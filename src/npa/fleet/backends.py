"""What makes the clusters of a fleet: the protocol, and how an installed package adds its own.

A package registers a backend by an entry point of the group `npa.fleet.backends`, whose name is the word that
`backend:` takes and whose object is called without arguments and returns a `Backend`:

```toml
[project.entry-points."npa.fleet.backends"]
mk8s = "my_package.fleet:Mk8sBackend"
```

In the file its clusters have one key of that name beside `name`, `backend` and `target`, and its value is the
backend's own business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from npa.api.identity import Identity
from npa.fleet.errors import BackendCapabilityError
from npa.fleet.member import Claim, Member, Project
from npa.slurm.lookup import Lookup

if TYPE_CHECKING:
    from npa.fleet.merge import Part
    from npa.plan.model import Event, Plan
    from npa.spec.document import Place

GROUP = "npa.fleet.backends"
BUILT_IN = "soperator"

Heard = Callable[["Event"], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller of a fleet's verb allows, for every cluster alike."""

    force: bool = False  # end running jobs where that is needed
    wait_for_jobs: float = 0.0  # seconds
    check: bool = True  # ask the provider, too, whether all of it fits


@dataclass(frozen=True, slots=True)
class Planned:
    """What would be done to one cluster."""

    document: dict[str, Any]  # as JSON has it, safe to show to anybody
    lines: tuple[str, ...]  # for people
    steps: int | None  # None where nobody was asked
    plan: Plan | None = None
    refusal: tuple[str, str] | None = None  # why it would not be done, and what to do
    caveat: str = ""  # what the plan does not show, where it does not show all


@dataclass(frozen=True, slots=True)
class Lack:
    """Why clusters may not be made, found before any of them is."""

    about: str  # `project/cluster`, a project, or the fleet
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """How a cluster is."""

    ok: bool
    status: str  # healthy, degraded, absent, unknown, …
    message: str = ""
    document: dict[str, Any] = field(default_factory=dict)  # the target's own answer


class Backend(Protocol):
    """Everything that a fleet asks of what makes its clusters. Every call has a deadline of its own.

    Failures are NpaErrors. Calls for different clusters come from different threads.
    """

    name: str

    def parse(self, claim: Claim, project: Project, part: Part, places: dict[str, Place], source: str) -> Any:
        """Return what a cluster is to be; raises SpecError with every problem, at its place in the file."""

    def preflight(self, members: Sequence[Member], options: Options) -> tuple[Lack, ...]:
        """Return everything that stands against making all of these, needs summed; changes nothing."""

    def moment(self) -> AbstractContextManager[None]:
        """Return a block in which many clusters are looked at: what they share may be read once."""

    def identity(self, claim: Claim) -> Lookup[Identity]:
        """Return what is there under a cluster's name, whoever made it."""

    def plan(self, member: Member, options: Options) -> Planned:
        """Return what a deploy would do; changes nothing."""

    def deploy(self, member: Member, shown: Planned | None, options: Options, heard: Heard) -> Condition:
        """Make the cluster what it is to be, as shown, and return how it is."""

    def status(self, claim: Claim) -> Condition:
        """Return how a cluster is."""

    def plan_destroy(self, claim: Claim, options: Options) -> Planned:
        """Return what a destroy would do; changes nothing."""

    def destroy(self, claim: Claim, shown: Planned | None, options: Options, heard: Heard) -> Condition:
        """Leave nothing of a cluster; raises unless it is proven gone."""


@cache
def find(name: str) -> Backend:
    """Return a backend by its name; raises BackendCapabilityError for one that is not installed."""
    if name == BUILT_IN:
        from npa.fleet.soperator import SoperatorBackend

        return SoperatorBackend()
    for point in _points():
        if point.name == name:
            made: Backend = point.load()()
            return made
    raise BackendCapabilityError(
        f"no backend {name!r}", hint=f"choose one of {', '.join(names())}, or install its package"
    )


def names() -> tuple[str, ...]:
    """Return the names of all backends, the built-in one first."""
    return (BUILT_IN, *sorted({point.name for point in _points()} - {BUILT_IN}))


def _points() -> Sequence[Any]:
    from importlib.metadata import entry_points

    return tuple(entry_points(group=GROUP))
