"""Which target has a cluster: one of this machine, one on Kubernetes, or an installation of the recipe."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING

from npa.errors import PreflightError, RefusedError, UsageError

if TYPE_CHECKING:
    from npa.cluster.model import TargetName
    from npa.targets.base import Summary
    from npa.targets.kubernetes.options import KubeOptions
    from npa.targets.kubernetes.target import KubernetesTarget
    from npa.targets.local.target import LocalTarget
    from npa.targets.nebius.target import NebiusTarget

_given: ContextVar[KubeOptions | None] = ContextVar("kubernetes", default=None)
NAMESPACES = "slurm-"  # begins the namespace of one of many
_NAMES = {"local": "on this machine", "kubernetes": "on Kubernetes", "nebius": "at the provider"}


@contextlib.contextmanager
def reaching(options: KubeOptions | None) -> Iterator[None]:
    """Have every verb inside the block reach Kubernetes so, and put new clusters on this."""
    before = _given.set(options)
    try:
        yield
    finally:
        _given.reset(before)


@contextlib.contextmanager
def apart(cluster: str, *, new: bool) -> Iterator[None]:
    """Have one of many clusters that are reached alike share nothing with the others inside the block.

    A new one gets a namespace of its own; each has a folder of its own below the one that the caller names.
    """
    from dataclasses import replace

    from npa.targets.kubernetes.options import KubeOptions

    said = _given.get() or KubeOptions()
    folder = f"{said.jail_path.rstrip('/')}/{cluster}" if said.jail_path else None
    with reaching(replace(said, namespace=f"{NAMESPACES}{cluster}" if new else None, jail_path=folder)):
        yield


def given() -> KubeOptions | None:
    """Return how Kubernetes is reached inside the block that one is in; None where nobody says."""
    return _given.get()


def of(target: TargetName) -> LocalTarget | KubernetesTarget:
    """Return a target whose plans are steps; raises RefusedError for the provider's."""
    if target == "local":
        return local()
    if target == "kubernetes":
        return kubernetes()
    raise RefusedError(
        f"target {target!r} cannot be deployed like this",
        hint="add `--target local` to run the same spec on this machine",
    )


def holding(name: str, target: TargetName | None = None) -> LocalTarget | KubernetesTarget:
    """Return the target, of those whose plans are steps, that has a cluster; else this machine's own."""
    if target is None and not _is_name(name):
        return local()
    if target is None and _is_on_kubernetes(name):
        target = where(name)
    return of(target or "local")


def here(name: str) -> LocalTarget:
    """Return this machine's target for what only its clusters have; raises RefusedError for others."""
    if _is_name(name) and _is_on_kubernetes(name) and not _is_local(name):
        raise RefusedError(
            f"{name} is on Kubernetes, and this works on clusters of this machine",
            hint=f"look at it with `npa soperator status {name}` and kubectl",
        )
    return local()


def where(name: str) -> TargetName:
    """Return where a cluster of that name lives; raises UsageError where there is more than one."""
    if not _is_name(name):
        return "local"
    found: list[TargetName] = []
    found += ["local"] if _is_local(name) else []
    found += ["kubernetes"] if _is_on_kubernetes(name) else []
    found += ["nebius"] if _is_installed(name) else []
    if len(found) > 1:
        places = " and ".join(_NAMES[each] for each in found)
        flags = " or ".join(f"`--target {each}`" for each in found)
        what = f"there are {len(found)} clusters {name!r}: {places}"
        raise UsageError(what, hint=f"say which with {flags}")
    return found[0] if found else "local"


def every() -> tuple[Summary, ...]:
    """Return the clusters that this machine knows, those elsewhere too."""
    from npa.api import nebius as nebius_api
    from npa.targets.kubernetes import record

    remote: list[Summary] = []
    with contextlib.suppress(PermissionError):  # somebody else's folder; one's own clusters are left
        remote += nebius().list() if nebius_api.root().is_dir() else ()
    with contextlib.suppress(PermissionError):
        remote += record.summaries(record.folder())
    try:
        return (*local().list(), *remote)
    except PreflightError:
        if not remote:
            raise
        return tuple(remote)  # nobody needs to be root for these


def local() -> LocalTarget:
    """Return the target of this machine."""
    from npa.targets.local.target import LocalTarget

    return LocalTarget.here()


def kubernetes() -> KubernetesTarget:
    """Return the target of clusters on Kubernetes."""
    from npa.targets.kubernetes.target import KubernetesTarget

    return KubernetesTarget.here(_given.get())


def nebius() -> NebiusTarget:
    """Return the target of the provider."""
    from npa.api import nebius as nebius_api

    return nebius_api.target()


def _is_name(name: str) -> bool:
    return bool(re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", name))


def _is_installed(name: str) -> bool:
    """Say whether we have an installation of the recipe; none is ours in a folder that we may not read."""
    from npa.api import nebius as nebius_api

    try:
        return nebius_api.has(name)
    except PermissionError:
        return False


def _is_on_kubernetes(name: str) -> bool:
    """Say whether we have a record of a cluster on Kubernetes; likewise. Loads no client of Kubernetes."""
    from npa.targets.kubernetes import record

    try:
        return record.load(record.folder(), name) is not None
    except PermissionError:
        return False


def _is_local(name: str) -> bool:
    """Say whether this machine has a record of a cluster, or will not tell: then its target says why."""
    from pathlib import Path

    from npa.targets.local.paths import Paths

    try:
        return Path(Paths.here().layout(name).record).exists()
    except PermissionError:
        return True
