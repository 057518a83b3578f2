"""The verb that gives a cluster on this machine a new key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npa import api
from npa.targets.base import Listener, Options
from npa.targets.local import rotate
from npa.targets.local.rotate import KeyName
from npa.targets.local.target import LocalTarget

if TYPE_CHECKING:
    from npa.health.assess import Report
    from npa.plan.model import Plan


def plan(name: str, key: KeyName, *, options: Options | None = None) -> Plan:
    """Return the steps, naming the jobs that would end; changes nothing."""
    return LocalTarget.here().plan_rotation(name, rotate.KEYS[key], options or Options())


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
    LocalTarget.here().rotate(name, rotate.KEYS[key], agreed, chosen, heard)
    return api.status(name)
