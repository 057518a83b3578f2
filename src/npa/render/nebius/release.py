"""Which versions go together, in which order they are raised, and what is the root of a stuck start; pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from npa.render.objects import Object, dig, name_of
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.spec import catalog

UPGRADE_ORDER = ("definitions", "operator", "slurmdbd", "slurmctld", "slurmd")
_CHART_ENDINGS = ("-soperator",)
_KRUISE = "kruise-controller-manager"
_COMPONENT, _ACCOUNTING = "app.kubernetes.io/component", "accounting"
_DBD = ("accounting", "slurmdbd")  # what operators call the container of slurmdbd
_VERSION = re.compile(r"slurm(?:-wlm)? (\d+\.\d+\S*)")


@dataclass(frozen=True, slots=True)
class Release:
    """Versions of one cluster; "" where unknown or not there."""

    operator: str = ""
    chart: str = ""
    definitions: str = ""  # the operator that the installed definitions came with
    slurmdbd: str = ""
    slurmctld: str = ""
    slurmd: str = ""
    default_profile: bool = False  # whether workers keep the default AppArmor profile


def problems(release: Release) -> Iterator[str]:
    """Yield what does not go together: checked before anything is planned."""
    if release.operator and release.operator not in catalog.OPERATOR_VERSIONS:
        known = ", ".join(catalog.OPERATOR_VERSIONS)
        yield f"operator {release.operator} is not one that this recipe was verified with: {known}"
    elif (
        release.operator
        and release.operator != catalog.UNCONFINED_OPERATOR_VERSION
        and not release.default_profile
    ):
        yield f"operator {release.operator} needs use_default_apparmor_profile: true"
    if release.chart and release.operator and release.chart != release.operator:
        yield f"the operator is {release.operator} and its chart {release.chart}: they have to be the same"
    if release.definitions and release.operator and _older(release.definitions, release.operator):
        yield (
            f"the definitions are of {release.definitions}, older than operator {release.operator}: "
            "raise the definitions first"
        )
    yield from _slurm_order(release)


def changes(found: Release, wanted: Release) -> Iterator[str]:
    """Yield why a cluster cannot be taken from one release to another; going back is never one."""
    for part in ("operator", "definitions", "slurmdbd", "slurmctld", "slurmd"):
        now, then = getattr(found, part), getattr(wanted, part)
        if now and then and _older(then, now):
            yield f"{part} cannot go back from {now} to {then}: its state is in the newer one's format"


def order(found: Release, wanted: Release) -> tuple[str, ...]:
    """Return the parts that change, in the order in which they may: no daemon is older than those below."""
    return tuple(
        part
        for part in UPGRADE_ORDER
        if getattr(wanted, part) and getattr(found, part) != getattr(wanted, part)
    )


def chart_version(releases: Lookup[tuple[Object, ...]]) -> Lookup[str]:
    """Return the version of the operator's chart that Flux last installed."""
    if not isinstance(releases, Found):
        return releases
    matching = [each for each in releases.value if name_of(each).endswith(_CHART_ENDINGS)]
    for each in matching:
        history = dig(each, "status", "history")
        newest = history[0] if isinstance(history, list) and history else None
        version = dig(newest, "chartVersion") or dig(each, "status", "lastAppliedRevision")
        if isinstance(version, str) and version:
            return Found(version.partition("+")[0])
    return Unknown("the operator's release names no version") if matching else Absent()


def dbd_containers(pods: Lookup[tuple[Object, ...]]) -> Lookup[tuple[tuple[str, str], ...]]:
    """Return where slurmdbd runs, pod and container; Absent where there is none."""
    if not isinstance(pods, Found):
        return pods
    matching = [each for each in pods.value if dig(each, "metadata", "labels", _COMPONENT) == _ACCOUNTING]
    if not matching:
        return Absent()
    running = [each for each in matching if dig(each, "status", "phase") == "Running"]
    found = tuple((name_of(pod), name) for pod in running for name in _containers(pod) if name in _DBD)
    return Found(found) if found else Unknown("the pod of slurmdbd does not run")


def dbd_version(printed: str) -> Lookup[str]:
    """Return the version that `slurmdbd -V` printed."""
    found = _VERSION.fullmatch(printed.strip())
    return Found(found[1]) if found else Unknown(f"`slurmdbd -V` printed {printed.strip()[:60]!r}")


def root_cause(deployments: Lookup[tuple[Object, ...]]) -> str:
    """Return why no pod can be made: a webhook that every pod has to pass is down; "" where it is not."""
    if not isinstance(deployments, Found):
        return ""
    for each in deployments.value:
        if name_of(each) == _KRUISE and not dig(each, "status", "readyReplicas"):
            return "kruise webhook not ready: no pod can be made until it is"
    return ""


def _containers(pod: Object) -> Iterator[str]:
    listed = dig(pod, "spec", "containers")
    for each in listed if isinstance(listed, list) else ():
        name = dig(each, "name")
        if isinstance(name, str):
            yield name


def _slurm_order(release: Release) -> Iterator[str]:
    chain = (("slurmdbd", release.slurmdbd), ("slurmctld", release.slurmctld), ("slurmd", release.slurmd))
    known = [(name, version) for name, version in chain if version]
    for (upper, newer), (lower, version) in itertools.pairwise(known):
        if _older(newer, version):
            yield f"{upper} {newer} is older than {lower} {version}: raise {upper} first"


def _older(one: str, other: str) -> bool:
    return numbers(one) < numbers(other)


def numbers(version: str) -> tuple[int, ...]:
    """Return a version as it is compared."""
    return tuple(int(part) for part in version.split("-")[0].split(".") if part.isdigit())
