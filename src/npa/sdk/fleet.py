"""Many clusters from Python, over the same inventory as `npa fleet`.

A fleet's file is read by the strict rules of the command line, and everything wrong is told at once:

>>> from npa.sdk import fleet
>>> lab = fleet.spec_from_mapping({
...     "name": "lab",
...     "target": "local",
...     "defaults": {"soperator": {"workers": [{"name": "cpu", "preset": "4vcpu-16gb", "size": 2}]}},
...     "projects": [{"name": "team-a", "clusters": [{"name": "alpha"}, {"name": "bravo"}]}],
... })
>>> [member.claim.label for member in lab.members]
['team-a/alpha', 'team-a/bravo']
>>> lab.members[0].spec.worker_count
2
>>> try:
...     fleet.spec_from_mapping({"name": "lab", "projects": [{"name": "a", "clusters": [{"nme": "x"}]}]})
... except fleet.FleetSpecError as error:
...     print(error.problems[0], "-", error.problems[0].hint)
projects[0].clusters[0].nme: unknown key `nme` - did you mean `name`

A plan says what would be done to each cluster and all that stands against it; a deploy does exactly that, and
is an iterator of what happens:

```python
shown = fleet.plan(lab)
shown.require()  # FleetRefusedError, with every reason
with fleet.deploy(lab, shown=shown, concurrency=3) as run:
    for event in run:
        print(event.project, event.cluster, event.message)
        if enough():
            run.cancel()
result = run.result()
print(result.ok, [(each.claim.cluster, each.status) for each in result.outcomes])
fleet.destroy("lab").result()
```

Every failure before the first change is an `npa.NpaError`. What happens to one cluster later is in its
Outcome and stops no other; `result.require()` raises FleetFailedError where not every cluster is as asked.
Nothing here asks, prints or exits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from npa.fleet.backends import Backend, Lack, Options, Planned
    from npa.fleet.crew import FleetEvent
    from npa.fleet.errors import (
        BackendCapabilityError,
        BackendOwnershipError,
        FleetFailedError,
        FleetRefusedError,
        FleetSpecError,
    )
    from npa.fleet.member import Claim, Fleet, Member, Project
    from npa.fleet.plan import FleetPlan
    from npa.fleet.result import Outcome, Result
    from npa.fleet.run import Run

__all__ = [
    "Backend",
    "BackendCapabilityError",
    "BackendOwnershipError",
    "Claim",
    "Fleet",
    "FleetEvent",
    "FleetFailedError",
    "FleetPlan",
    "FleetRefusedError",
    "FleetSpecError",
    "Lack",
    "Member",
    "Options",
    "Outcome",
    "Planned",
    "Project",
    "Result",
    "Run",
    "deploy",
    "destroy",
    "fleets",
    "json_schema",
    "load_spec",
    "plan",
    "plan_destroy",
    "report",
    "spec_from_mapping",
    "status",
]


def load_spec(path: str | PathLike[str]) -> Fleet:
    """Return the fleet in a file; raise FleetSpecError with every problem, each with its line and column."""
    from npa.fleet import load

    return load.parse(Path(path).read_bytes(), str(path))


def spec_from_mapping(mapping: Mapping[str, Any]) -> Fleet:
    """Return the fleet that a mapping says; raise FleetSpecError with every problem."""
    from npa.fleet import load

    return load.from_mapping(mapping)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a fleet's file, for editors.

    >>> sorted(json_schema()["required"])
    ['name', 'projects']
    """
    from npa.fleet import schema

    return schema.json_schema()


def plan(
    spec: Fleet,
    *,
    projects: Sequence[str] = (),
    clusters: Sequence[str] = (),
    force: bool = False,
    wait_for_jobs: float = 0.0,
    check: bool = True,
) -> FleetPlan:
    """Return what a deploy would do to each cluster, and all that stands against it; changes nothing.

    `projects` and `clusters` are patterns such as `team-*`; without any all are meant. `wait_for_jobs` is in
    seconds. Without `check` the provider is not asked whether all of it fits. Raises UsageError for a pattern
    that no name matches.
    """
    from npa.fleet import plan as plans
    from npa.fleet.outside import Outside

    return plans.deploy(
        spec, _selection(projects, clusters), _options(force, wait_for_jobs, check), Outside()
    )


def deploy(
    spec: Fleet,
    *,
    shown: FleetPlan | None = None,
    projects: Sequence[str] = (),
    clusters: Sequence[str] = (),
    concurrency: int = 4,
    fail_fast: bool = False,
    force: bool = False,
    wait_for_jobs: float = 0.0,
) -> Run:
    """Return the run that makes the clusters what the file asks for: iterate over it, then take its result.

    `shown` is a plan of `plan` that somebody agreed to, made with the same `force`: its clusters are
    deployed, and one whose world has moved on since ends refused. Raises FleetRefusedError, with every
    reason, before anything is touched.
    """
    from npa.fleet import verbs
    from npa.fleet.outside import Outside

    options = _options(force, wait_for_jobs, True)
    agreed = shown or plan(
        spec, projects=projects, clusters=clusters, force=force, wait_for_jobs=wait_for_jobs
    )
    return verbs.deploy(agreed, options, Outside(), concurrency=concurrency, fail_fast=fail_fast)


def status(fleet: str | Fleet, *, projects: Sequence[str] = (), clusters: Sequence[str] = ()) -> Result:
    """Return how each cluster is: the recorded ones, and of a Fleet those too that are not deployed yet.

    Raises NotFoundError for a name of which nothing is recorded.
    """
    from npa.fleet import verbs
    from npa.fleet.outside import Outside

    members = None if isinstance(fleet, str) else fleet.members
    return verbs.status(_name(fleet), _selection(projects, clusters), Outside(), members)


def report(
    fleet: str | Fleet, *, projects: Sequence[str] = (), clusters: Sequence[str] = (), days: int = 7
) -> str:
    """Return a page about the recorded clusters, as HTML complete in itself, with `days` of accounting."""
    from npa.fleet import page
    from npa.fleet.outside import Outside

    return page.html(_name(fleet), _selection(projects, clusters), Outside(), days=days)


def plan_destroy(
    fleet: str | Fleet,
    *,
    projects: Sequence[str] = (),
    clusters: Sequence[str] = (),
    force: bool = False,
) -> FleetPlan:
    """Return what a destroy of recorded clusters would do; changes nothing."""
    from npa.fleet import plan as plans
    from npa.fleet.outside import Outside

    options = _options(force, 0.0, True)
    return plans.destroy(_name(fleet), _selection(projects, clusters), options, Outside())


def destroy(
    fleet: str | Fleet,
    *,
    shown: FleetPlan | None = None,
    projects: Sequence[str] = (),
    clusters: Sequence[str] = (),
    concurrency: int = 4,
    fail_fast: bool = False,
    force: bool = False,
) -> Run:
    """Return the run that leaves nothing of recorded clusters, and of networks that none uses any more.

    Raises FleetRefusedError while jobs run and `force` is off, before anything is touched.
    """
    from npa.fleet import verbs
    from npa.fleet.outside import Outside

    agreed = shown or plan_destroy(fleet, projects=projects, clusters=clusters, force=force)
    options = _options(force, 0.0, True)
    return verbs.destroy(agreed, options, Outside(), concurrency=concurrency, fail_fast=fail_fast)


def fleets() -> tuple[str, ...]:
    """Return the names of the fleets that this machine knows."""
    from npa.fleet import store

    return store.fleets()


def _name(fleet: str | Fleet) -> str:
    return fleet if isinstance(fleet, str) else fleet.name


def _selection(projects: Sequence[str], clusters: Sequence[str]) -> Any:
    from npa.fleet.select import Selection

    return Selection(tuple(projects), tuple(clusters))


def _options(force: bool, wait_for_jobs: float, check: bool) -> Options:
    from npa.fleet.backends import Options

    return Options(force, wait_for_jobs, check)


_LATER = {
    **dict.fromkeys(("Backend", "Lack", "Options", "Planned"), "npa.fleet.backends"),
    **dict.fromkeys(("Claim", "Fleet", "Member", "Project"), "npa.fleet.member"),
    **dict.fromkeys(("Outcome", "Result"), "npa.fleet.result"),
    **dict.fromkeys(
        (
            "BackendCapabilityError",
            "BackendOwnershipError",
            "FleetFailedError",
            "FleetRefusedError",
            "FleetSpecError",
        ),
        "npa.fleet.errors",
    ),
    "FleetEvent": "npa.fleet.crew",
    "FleetPlan": "npa.fleet.plan",
    "Run": "npa.fleet.run",
}


def __getattr__(name: str) -> Any:
    """Import a class once somebody uses it."""
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
