"""The page of a fleet: how each cluster is, and what can be read of each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from npa.api import page as api
from npa.errors import NpaError
from npa.fleet import glance, verbs
from npa.fleet.backends import BUILT_IN
from npa.fleet.member import Claim
from npa.fleet.outside import Outside
from npa.fleet.result import Outcome
from npa.fleet.select import Selection
from npa.page import page
from npa.page.facts import Facts, Member

if TYPE_CHECKING:
    from npa.cluster.model import TargetName

# of these nothing is left to read, or it is not ours to show
_NOT_THERE = frozenset({"absent", "foreign", "unknown"})


def _built_in(claim: Claim, days: int) -> Facts:
    return api.facts(claim.cluster, target=cast("TargetName", claim.target), days=days)


def html(
    name: str,
    selection: Selection,
    outside: Outside,
    *,
    days: int = api.DAYS,
    read: Callable[[Claim, int], Facts] = _built_in,
) -> str:
    """Return the page of the recorded clusters; raises NotFoundError for a fleet of which none is.

    A cluster that cannot be read is on it with the reason, and hides no other. `read` gives what there is to
    see of one.
    """
    seen = verbs.status(name, selection, outside)
    by_claim = {each.claim: each for each in seen.outcomes}

    def look(claim: Claim) -> Member:
        return _member(by_claim[claim], lambda claim: read(claim, days))

    members = [future.result() for _, future in glance.each(list(by_claim), look, outside)]
    lost = [
        Member("not known", record, "not known", "unknown", False, f"its record: {why}")
        for record, why in seen.unreadable
    ]
    return page.fleet(name, [*members, *lost], datetime.now(UTC))


def _member(outcome: Outcome, read: Callable[[Claim], Facts]) -> Member:
    claim = outcome.claim
    facts, message = None, outcome.message
    if claim.backend == BUILT_IN and outcome.status not in _NOT_THERE:
        try:
            facts = read(claim)
        except NpaError as error:
            message = "; ".join(each for each in (message, str(error)) if each)
    return Member(claim.project, claim.cluster, claim.target, outcome.status, outcome.ok, message, facts)
