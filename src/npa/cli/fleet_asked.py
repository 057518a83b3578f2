"""What a fleet's command was asked for: a file, or the file of a plan, and what is allowed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from npa.cli import fleet_options, kube_options, request
from npa.errors import UsageError

if TYPE_CHECKING:
    from npa.fleet.backends import Options
    from npa.fleet.member import Fleet
    from npa.fleet.outside import Outside
    from npa.fleet.plan import FleetPlan


def load(path: str) -> tuple[Fleet, str]:
    """Return the fleet in a file, or on stdin for `-`, and its text."""
    from npa.fleet import load

    content = request.read(path)
    fleet = load.parse(content, "<stdin>" if path == request.STDIN else path)
    return fleet, content.decode("utf-8-sig")


def agreed(
    spec: str | None,
    plan_file: str | None,
    chosen: tuple[list[str], list[str]],
    allowed: tuple[bool, str | None],
    outside: Outside,
) -> tuple[FleetPlan, Options]:
    """Return what is to be done: what a file of `plan --out` says, or a new plan."""
    from npa.fleet import load as loading
    from npa.fleet import plan, planfile

    if plan_file is None:
        if spec is None:
            raise UsageError("no file", hint="name it with `--spec PATH`, or a plan with `--plan FILE`")
        given = options(*allowed)
        return plan.deploy(load(spec)[0], fleet_options.selection(*chosen), given, outside), given
    if spec is not None or any(chosen) or any(allowed):
        what = "`--plan` has its own file, selection and options"
        raise UsageError(what, hint="give only `--plan FILE`, or plan again with other options")
    file = planfile.decode(request.read(plan_file))
    made = plan.deploy(loading.parse(file.spec, plan_file), file.selection, file.options, outside)
    planfile.require_same(file, made)
    return made, file.options


@contextlib.contextmanager
def reaching(reach: kube_options.Given) -> Iterator[Callable[[FleetPlan], None]]:
    """Have Kubernetes be reached as a command was told; the fleet says which namespace.

    Yields what raises UsageError where something is said of Kubernetes and no cluster is there.
    """
    from npa.api import places

    given = kube_options.gathered("kubernetes", reach)

    def require(made: FleetPlan) -> None:
        if given and all(each.target != "kubernetes" for each in made.claims):
            kube_options.gathered(made.claims[0].target, reach)

    with places.reaching(given):
        yield require


def options(force: bool, wait: str | None, *, check: bool = True) -> Options:
    """Return what the caller allows."""
    from npa.fleet.backends import Options

    return Options(force, request.seconds(wait) if wait else 0.0, check)


def same(name: str | None, fleet: Fleet | None) -> str:
    """Return which fleet is named, by either way; "" where none is."""
    if name and fleet and fleet.name != name:
        raise UsageError(f"two fleets: {name!r} and {fleet.name!r} in the file", hint="give one")
    return name or (fleet.name if fleet else "")
