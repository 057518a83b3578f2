"""Puts the operator into a Kubernetes cluster, takes it out again, and says how it is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from npa.crds import definitions, installed
from npa.errors import DestructiveError, KubeError
from npa.render.kube import differs, installation
from npa.render.kube.installation import NAME, Installation
from npa.render.objects import (
    CLAIM,
    CRD,
    DEPLOYMENT,
    GROUP,
    LEASE,
    NAMESPACE,
    SECRET,
    SLURM_CLUSTER,
    VALIDATING_WEBHOOK,
    Kind,
    Object,
    dig,
    is_true,
    name_of,
)
from npa.slurm.lookup import Found, Lookup, Unknown
from npa.tools.kube import Kube, kind_of

_T = TypeVar("_T")

WITHIN = 180.0  # seconds for the operator to be there
_LOOK = 1.0  # seconds between two looks
_SHOWN = 3  # fields that a problem names


@dataclass(frozen=True, slots=True)
class Change:
    """What an installation does to one object."""

    verb: Literal["create", "update", "delete"]
    kind: str
    name: str
    namespace: str
    wanted: Object | None = None

    def __str__(self) -> str:
        where = f" in {self.namespace}" if self.namespace else ""
        return f"{self.verb} {self.kind} {self.name}{where}"


@dataclass(frozen=True, slots=True)
class State:
    """How the operator is in a cluster; every problem with what to do."""

    installed: bool
    image: str
    ready: int
    wanted: int
    leader: str
    clusters: tuple[tuple[str, str, str], ...]  # namespace, name, phase
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether it is there and well."""
        return self.installed and not self.problems


def plan(kube: Kube, asked: Installation, *, crds: bool = True) -> tuple[Change, ...]:
    """Return what has to be written; nothing where all is there already."""
    return tuple(_changes(kube, installation.render(asked, crds=crds)))


def apply(kube: Kube, changes: Sequence[Change], heard: Callable[[str], None]) -> None:
    """Do it, in this order."""
    for change in changes:
        if change.wanted is not None:
            kube.apply(change.wanted)
        else:
            kube.delete(_kind(change.kind), change.name, change.namespace)
        heard(str(change))


def wait(kube: Kube, namespace: str, seconds: float = WITHIN) -> None:
    """Return once the operator is ready; KubeError where it is not in time."""
    deadline = time.monotonic() + seconds
    while True:
        found = kube.get(DEPLOYMENT, NAME, namespace)
        if isinstance(found, Found) and _rolled_out(found.value):
            return
        if time.monotonic() > deadline:
            hint = f"see `kubectl -n {namespace} describe deployment {NAME}` and its pods"
            raise KubeError(f"the operator is not ready after {seconds:g} s", hint=hint)
        time.sleep(_LOOK)


def plan_removal(
    kube: Kube, namespace: str, *, crds: bool = False, keep_clusters: bool = False
) -> tuple[Change, ...]:
    """Return what is deleted. Refused while there is something that would be left alone, or lost."""
    if not keep_clusters:
        _refuse(_left(kube, SLURM_CLUSTER), "nobody would look after", "--keep-clusters")
    for api in definitions.APIS if crds else ():
        kind = Kind(GROUP, api.version, api.kind, api.plural)
        _refuse(_left(kube, kind), "their definition holds", "")
    asked = Installation("", namespace, _watched(kube, namespace))
    own = (SECRET.object(installation.SECRET, namespace), LEASE.object(NAME, namespace))
    first, *made = installation.render(asked, crds=crds)
    changes = [_deletion(each) for each in (*reversed(made), *own)]
    # A namespace takes everything in it along.
    if not _left(kube, CLAIM, namespace) and not _left(kube, SLURM_CLUSTER, namespace):
        changes.append(_deletion(first))
    return tuple(each for each in changes if _there(kube, each))


def is_there(kube: Kube, namespace: str) -> bool:
    """Say whether an operator is installed and its kinds are served, of whatever version."""
    there = _known(kube.get(DEPLOYMENT, NAME, namespace)) is not None
    return there and all(_established(kube, f"{each.plural}.{GROUP}") for each in definitions.APIS)


def inspect(kube: Kube, namespace: str) -> State:
    """Return how the operator is."""
    problems: list[str] = []
    found = _known(kube.get(DEPLOYMENT, NAME, namespace))
    missing = [each for each in definitions.APIS if not _established(kube, f"{each.plural}.{GROUP}")]
    if found is None:
        problems.append(f"there is no operator in namespace {namespace}: npa operator install")
    elif not _rolled_out(found):
        problems.append(f"its Deployment is not available: kubectl -n {namespace} get pods")
    if missing:
        names = ", ".join(each.kind for each in missing)
        problems.append(f"kinds that are not served: {names}: npa operator install")
    problems += _outdated(kube)
    hook = _known(kube.get(VALIDATING_WEBHOOK, NAME))
    if found is not None and not all(dig(each, "clientConfig", "caBundle") for each in _hooks(hook)):
        problems.append("the API server does not ask the operator before it takes objects in")
    lease = _known(kube.get(LEASE, NAME, namespace))
    clusters: tuple[Object, ...] = (() if missing else _known(kube.list(SLURM_CLUSTER))) or ()
    containers = dig(found, "spec", "template", "spec", "containers") or [{}]
    return State(
        found is not None,
        str(containers[0].get("image", "")),
        int(dig(found, "status", "readyReplicas") or 0),
        int(dig(found, "spec", "replicas") or 0),
        str(dig(lease, "spec", "holderIdentity") or ""),
        tuple((_space(each), name_of(each), str(dig(each, "status", "phase") or "")) for each in clusters),
        tuple(problems),
    )


def _changes(kube: Kube, wanted: Sequence[Object]) -> Iterator[Change]:
    for each in map(differs.stamp, wanted):
        kind = kind_of(each)
        found = _known(kube.get(kind, name_of(each), _space(each)))
        if differs.differs(each, found):
            verb: Literal["create", "update"] = "create" if found is None else "update"
            yield Change(verb, kind.kind, name_of(each), _space(each), each)


def _deletion(made: Object) -> Change:
    return Change("delete", str(made["kind"]), name_of(made), _space(made))


def _there(kube: Kube, change: Change) -> bool:
    """Say whether what would be deleted is there, and was made by an installation."""
    found = _known(kube.get(_kind(change.kind), change.name, change.namespace))
    made = dig(found, "metadata", "labels", "app.kubernetes.io/managed-by") == "npa"
    return found is not None and (made or change.kind != NAMESPACE.kind)


def _kind(word: str) -> Kind:
    every = installation.render(Installation("", "x", ("y",)))
    kinds = {kind_of(each).kind: kind_of(each) for each in every}
    return {**kinds, SECRET.kind: SECRET, LEASE.kind: LEASE}[word]


def _watched(kube: Kube, namespace: str) -> tuple[str, ...]:
    """Return the namespaces that an operator was told to watch."""
    found = _known(kube.get(DEPLOYMENT, NAME, namespace))
    containers = dig(found, "spec", "template", "spec", "containers") or [{}]
    option = "--namespace="
    return tuple(each[len(option) :] for each in containers[0].get("args") or () if each.startswith(option))


def _left(kube: Kube, kind: Kind, namespace: str = "") -> list[str]:
    """Return the objects of a kind; what could not be read may be there."""
    found = kube.list(kind, namespace)
    if isinstance(found, Unknown):
        raise KubeError(f"whether there are {kind.plural} could not be read: {found.why}")
    return [
        f"{kind.kind} {_space(each)}/{name_of(each)}"
        for each in (found.value if isinstance(found, Found) else ())
    ]


def _refuse(left: Sequence[str], why: str, option: str) -> None:
    if left:
        shown = ", ".join(left[:5]) + (f" and {len(left) - 5} more" if len(left) > 5 else "")
        hint = f"delete them first{f', or leave them alone with `{option}`' if option else ''}"
        raise DestructiveError(f"{why} {shown}", left, hint=hint)


def _known(found: Lookup[_T]) -> _T | None:
    """Return what is there, None where it is absent; what could not be read is neither."""
    if isinstance(found, Unknown):
        raise KubeError(found.why)
    return found.value if isinstance(found, Found) else None


def _established(kube: Kube, name: str) -> bool:
    found = kube.get(CRD, name)
    return isinstance(found, Found) and is_true(found.value, "Established")


def _outdated(kube: Kube) -> Iterator[str]:
    """Yield the definitions that lack what this operator writes: it would be lost, and written again."""
    for each in definitions.APIS:
        found = _known(kube.get(CRD, f"{each.plural}.{GROUP}"))
        if found is not None and (lacks := installed.lacks(found)):
            more = f" and {len(lacks) - _SHOWN} more" if len(lacks) > _SHOWN else ""
            shown = f"{', '.join(lacks[:_SHOWN])}{more}"
            yield f"the definition of {each.kind} is older, it lacks {shown}: npa operator install"


def _rolled_out(found: Object) -> bool:
    wanted = dig(found, "spec", "replicas")
    seen = dig(found, "status", "observedGeneration") == dig(found, "metadata", "generation")
    updated = dig(found, "status", "updatedReplicas") == wanted
    return bool(seen and updated and dig(found, "status", "readyReplicas") == wanted)


def _hooks(found: object) -> tuple[Object, ...]:
    return tuple(dig(found, "webhooks") or ({},))


def _space(found: Object) -> str:
    return str(dig(found, "metadata", "namespace") or "")
