"""Clusters at the provider as a fleet has them: what is shown of one beforehand, and how one is made.

What Terraform would change is known only while a deploy runs, so what a fleet shows and agrees to is what its
file asks for. Within that a deploy makes, grows and changes in place. What would end nodes or data needs an
approval of its very plan, which a fleet does not take: that cluster is refused, and says how to approve it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from npa.errors import DestructiveError, UnhealthyError
from npa.fleet.backends import Condition, Heard, Planned
from npa.fleet.member import Member, Project

if TYPE_CHECKING:
    from npa.plan.model import Plan
    from npa.spec.model import SoperatorSpec
    from npa.targets.nebius.looking import Seen
    from npa.targets.nebius.options import NebiusOptions
    from npa.targets.nebius.phases import Agree

CAVEAT = (
    "at Nebius this is what the file asks for: what Terraform changes for it is known once it runs, and "
    "what would end nodes or data is refused then, cluster by cluster"
)
ALONE = "a fleet takes no approval: give it to `npa soperator deploy`, with this cluster's spec alone"
_INSPECTED = "each of Terraform's plans is inspected before it is applied"


class Provider(Protocol):
    """The verbs of clusters at the provider, as `npa.api.nebius` has them."""

    def check_all(self, asked: Sequence[tuple[SoperatorSpec, NebiusOptions]]) -> tuple[str, ...]:
        """Return everything that stands against making several clusters at once."""

    def deploy(
        self, spec: SoperatorSpec, options: NebiusOptions, agree: Agree, heard: Heard
    ) -> dict[str, Any]:
        """Make a cluster what its spec asks for."""

    def status(self, name: str, options: NebiusOptions) -> Seen:
        """Return what is known of an installation."""

    def plan_destroy(self, name: str, options: NebiusOptions, *, force: bool = False) -> Plan:
        """Return what a destroy would end."""

    def destroy(self, name: str, options: NebiusOptions, *, heard: Heard) -> dict[str, Any]:
        """End an installation."""


def planned(spec: SoperatorSpec) -> Planned:
    """Return what a spec asks for, in the place of steps that nobody knows yet."""
    from npa.spec import public_plan

    lines = public_plan.public_plan_text(spec).splitlines()
    return Planned(public_plan.public_plan(spec), tuple(lines), None, caveat=CAVEAT)


def deploy(provider: Provider, member: Member, heard: Heard) -> Condition:
    """Make a cluster what it is to be; raises DestructiveError for a plan that would end something."""
    from npa.plan import text
    from npa.plan.model import Event

    def agree(plan: Plan, asks: bool) -> None:
        if asks:  # the whole fleet was agreed to, and a plan that the guard refuses raises by itself
            heard(Event("note", "", f"plan of Terraform's: {text.counted(plan)}; {_INSPECTED}"))

    try:
        result = provider.deploy(member.spec, options_of(member.project), agree, heard)
    except DestructiveError as error:
        error.hint = "; ".join(each for each in (error.hint, ALONE) if each)
        raise
    except UnhealthyError as error:
        kept = getattr(error, "result", {})
        return Condition(False, "degraded", str(error), kept if isinstance(kept, dict) else {})
    return Condition(True, "healthy", document=result)


def options_of(project: Project) -> NebiusOptions:
    """Return how a project's clusters are deployed: without an id, as the configuration says of its name."""
    from npa.targets.nebius.options import NebiusOptions

    return NebiusOptions(project="" if project.project_id else project.display_name)


def options() -> NebiusOptions:
    """Return how a cluster that is there is looked at, and ended."""
    from npa.targets.nebius.options import NebiusOptions

    return NebiusOptions()
