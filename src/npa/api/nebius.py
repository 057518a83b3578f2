"""The verbs of clusters at the provider, where they differ from those on this machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from npa.plan.model import Event, Plan
    from npa.render.nebius.preflight import Preflight
    from npa.spec.model import SoperatorSpec
    from npa.targets.nebius.doctor import Check
    from npa.targets.nebius.looking import Seen
    from npa.targets.nebius.options import NebiusOptions
    from npa.targets.nebius.outside import Outside
    from npa.targets.nebius.phases import Agree, Shown
    from npa.targets.nebius.target import NebiusTarget
    from npa.tools.nebius_network import Networks

Listener = Callable[["Event"], None]

_outside: ContextVar[Outside | None] = ContextVar("outside", default=None)


@contextlib.contextmanager
def wired(outside: Outside) -> Iterator[None]:
    """Have every verb inside the block use these programs, this provider and this home, not the process's."""
    before = _outside.set(outside)
    try:
        yield
    finally:
        _outside.reset(before)


def root() -> Path:
    """Return the folder of the installations."""
    outside = _outside.get()
    if outside is not None:
        return outside.root
    from npa.targets.nebius import config

    return config.work_root(os.environ)


def has(name: str) -> bool:
    """Say whether there is an installation of this name; loads nothing of the provider for it."""
    from npa.errors import IdentityError
    from npa.targets.nebius import checkout

    try:
        return checkout.locate(root(), name) is not None
    except IdentityError:
        return False  # no name that an installation can have


def target() -> NebiusTarget:
    """Return the target that every surface uses."""
    from npa.targets.nebius.target import NebiusTarget

    return NebiusTarget(_outside.get())


def deploy(
    spec: SoperatorSpec,
    options: NebiusOptions,
    agree: Agree = lambda *_: None,
    heard: Listener = lambda _: None,
) -> dict[str, Any]:
    """Make a cluster at the provider what the spec asks for, and return the result as JSON has it.

    `agree` is called with each plan before it is applied, and with one that is refused; it raises where
    nobody agrees. Raises QuotaError, CapacityError, DestructiveError with the approvals that would allow it,
    and UnhealthyError where the cluster is there and its GPUs did not pass.
    """
    return target().deploy(spec, options, agree, heard)


def check(spec: SoperatorSpec, options: NebiusOptions) -> Preflight:
    """Return whether a spec fits at the provider, and what it costs; changes nothing."""
    return target().check(spec, options)


def planned(spec: SoperatorSpec, options: NebiusOptions, heard: Listener = lambda _: None) -> Shown:
    """Return Terraform's plan in our words, with its addresses, and what refuses it; nothing is applied.

    The provider is asked, and the installation's folder is made ready on this machine.
    """
    return target().planned(spec, options, heard)


def check_all(asked: Sequence[tuple[SoperatorSpec, NebiusOptions]]) -> tuple[str, ...]:
    """Return everything that stands against making several clusters at once, their needs summed."""
    from npa.targets.nebius import together
    from npa.targets.nebius.outside import Outside

    return together.faults(Outside(), asked)


def status(name: str, options: NebiusOptions) -> Seen:
    """Return what is known of an installation; raises NotFoundError where there is none of that name."""
    return target().status(name, options)


def plan_destroy(name: str, options: NebiusOptions, *, force: bool = False) -> Plan:
    """Return what a destroy would end, by recorded ids, naming the jobs that would die."""
    return target().plan_destroy(name, options, force=force)


def destroy(name: str, options: NebiusOptions, *, heard: Listener = lambda _: None) -> dict[str, Any]:
    """End an installation and return the result; raises DestroyIncompleteError unless all is proven gone."""
    return target().destroy(name, options, heard)


def repair(
    name: str, options: NebiusOptions, told: Callable[[str], None] = lambda _: None, timeout: float = 1200.0
) -> tuple[str, ...]:
    """Repair an installation's charts and workers without an apply; returns what did not hold."""
    return target().repair(name, options, told, timeout)


@contextlib.contextmanager
def networks() -> Iterator[Networks]:
    """Sign in to what makes and deletes networks, and sign out at the end of the block."""
    from npa.tools import nebius_network

    with nebius_network.connect() as found:
        assert isinstance(found, nebius_network.Networks)
        yield found


def doctor() -> tuple[Check, ...]:
    """Return what this machine has of what the provider's clusters need."""
    from npa.targets.nebius import doctor
    from npa.targets.nebius.outside import Outside

    return doctor.examine(_outside.get() or Outside())
