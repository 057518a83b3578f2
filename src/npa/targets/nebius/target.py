"""The Nebius target: the public recipe, driven safely. The verbs are in modules of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from npa.spec.model import SoperatorSpec
from npa.targets.base import Summary
from npa.targets.nebius import deploying, ending, looking
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.outside import Outside
from npa.targets.nebius.phases import Agree, Shown
from npa.targets.nebius.runs import Listener

if TYPE_CHECKING:
    from npa.page.facts import Facts
    from npa.plan.model import Plan
    from npa.render.nebius.preflight import Preflight
    from npa.targets.nebius.looking import Seen


class NebiusTarget:
    """Installations of the recipe below one work root."""

    def __init__(self, outside: Outside | None = None) -> None:
        self._outside = outside or Outside()

    def check(self, spec: SoperatorSpec, options: NebiusOptions) -> Preflight:
        """Return whether a spec fits, and what it costs; changes nothing."""
        return deploying.preflighted(self._outside, spec, options)

    def deploy(
        self, spec: SoperatorSpec, options: NebiusOptions, agree: Agree, heard: Listener
    ) -> dict[str, Any]:
        """Make the cluster what the spec asks for, and return the result; see `deploying`."""
        return deploying.deploy(self._outside, spec, options, agree, heard)

    def planned(self, spec: SoperatorSpec, options: NebiusOptions, heard: Listener) -> Shown:
        """Return Terraform's plan in our words, and what refuses it; nothing is applied."""
        return deploying.planned(self._outside, spec, options, heard)

    def plan_destroy(self, name: str, options: NebiusOptions, *, force: bool) -> Plan:
        """Return what a destroy would end."""
        return ending.plan(self._outside, name, options, force=force)

    def destroy(self, name: str, options: NebiusOptions, heard: Listener) -> dict[str, Any]:
        """End an installation, and return the result; raises DestroyIncompleteError unless all is gone."""
        return ending.document(ending.destroy(self._outside, name, options, heard))

    def status(self, name: str, options: NebiusOptions) -> Seen:
        """Return what is known of an installation."""
        return looking.status_of(self._outside, name, options)

    def page(self, name: str, options: NebiusOptions, days: int) -> Facts:
        """Return what the page of an installation shows."""
        from npa.targets.nebius import page

        return page.facts(self._outside, name, options, days)

    def repair(
        self, name: str, options: NebiusOptions, told: Callable[[str], None], timeout: float
    ) -> tuple[str, ...]:
        """Repair what is there, and return a warning for each repair that did not hold."""
        return looking.repair(self._outside, name, options, told, timeout)

    def list(self) -> Iterator[Summary]:
        """Return the installations below the work root."""
        return looking.summaries(self._outside.root)
