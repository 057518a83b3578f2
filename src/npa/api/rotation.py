"""The verb that gives a cluster a new key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from npa import api
from npa.api import places
from npa.targets.base import Listener, Options

if TYPE_CHECKING:
    from npa.health.assess import Report
    from npa.plan.model import Plan

KeyName = Literal["auth", "jwt"]


def plan(name: str, key: KeyName, *, options: Options | None = None) -> Plan:
    """Return the steps, naming the jobs that would end; changes nothing."""
    chosen = options or Options()
    if places.where(name) == "kubernetes":
        return places.kubernetes().plan_rotation(name, key, chosen)
    from npa.targets.local import rotate

    return places.local().plan_rotation(name, rotate.KEYS[key], chosen)


def apply(
    name: str,
    key: KeyName,
    *,
    shown: Plan | None = None,
    options: Options | None = None,
    heard: Listener = lambda _: None,
) -> Report:
    """Give the cluster a new key and report how well it is with it.

    Raises DestructiveError when running jobs would end and `options.force` is off.
    """
    from npa.plan import guard

    chosen = options or Options()
    agreed = shown or plan(name, key, options=chosen)
    guard.check(agreed, hint=guard.DESTROY_HINT)
    if places.where(name) == "kubernetes":
        places.kubernetes().rotate(name, key, agreed, chosen, heard)
    else:
        from npa.targets.local import rotate

        places.local().rotate(name, rotate.KEYS[key], agreed, chosen, heard)
    return api.status(name)
