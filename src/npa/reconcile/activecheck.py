"""ActiveChecks are accepted and not run; each of them says so."""

from __future__ import annotations

from npa.reconcile import conditions, nodeset_status
from npa.reconcile.conditions import Condition
from npa.reconcile.decision import Decision
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.objects import ACTIVE_CHECK, dig

_NOT_RUN = Condition(
    "Ready", "False", "NotActedOn", "nothing runs ActiveChecks yet: run the check as a CronJob or by scrontab"
)


def decide(world: World, name: str, settings: Settings) -> Decision:  # noqa: ARG001  # as all controllers
    """Return that the check says of itself that it does not run."""
    found = world.find(ACTIVE_CHECK.kind, name)
    if found is None or dig(found, "metadata", "deletionTimestamp"):
        return Decision()
    old = dig(found, "status") or {}
    status = {
        **old,
        "conditions": conditions.rows(found, [_NOT_RUN, nodeset_status.ignored_fields(found)], world.now),
    }
    return Decision(status=None if conditions.same(old, status) else status)
