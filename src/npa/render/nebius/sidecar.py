"""The sidecar: what must be known to find an installation's cluster again, whatever else is lost.

Its keys are those of the tool before this one, which wrote no version; both read what we write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from npa.errors import IdentityError, OwnershipError

FILE = ".npa-soperator-env.json"
SCHEMA = "npa.nebius.sidecar/v1"
BACKEND = "soperator"

Kind = Literal["filesystem", "allocation"]
KINDS: Mapping[str, Kind] = {  # type in Terraform's state -> what it is to us
    "nebius_compute_v1_filesystem": "filesystem",
    "nebius_vpc_v1_allocation": "allocation",
}
_TEXTS = (
    "region",
    "tenant_id",
    "project_id",
    "subnet_id",
    "o11y_profile",
    "auth_profile",
    "cluster_id",
    "cluster_name",
    "provider_cluster_name",
    "ref",
)
_IDENTITY = _TEXTS[:4]
_HINT = f"restore {FILE} from a backup; nothing is assumed in its place"


@dataclass(frozen=True, slots=True)
class Auxiliary:
    """Something of the installation that outlives its cluster unless it is deleted by its id."""

    kind: Kind
    provider_type: str
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Sidecar:
    """Who owns an installation, and what it owns at the provider."""

    region: str = ""
    tenant_id: str = ""
    project_id: str = ""
    subnet_id: str = ""
    cluster_name: str = ""  # the name in the spec
    provider_cluster_name: str = ""
    cluster_id: str = ""  # empty until the cluster has been made
    auth_profile: str = ""  # whom destroy logs in as
    o11y_profile: str = ""  # only passed on to the recipe
    ref: str = ""  # commit of the recipe; empty where an older tool wrote the record
    auxiliaries: tuple[Auxiliary, ...] = ()
    unnamed_filesystems: tuple[str, ...] = ()  # ids that an older tool recorded without a name
    unnamed_allocations: tuple[str, ...] = ()
    versioned: bool = True  # whether this tool wrote it

    @property
    def filesystem_ids(self) -> tuple[str, ...]:
        """Every filesystem the installation owns."""
        return (*_ids(self.auxiliaries, "filesystem"), *self.unnamed_filesystems)

    @property
    def allocation_ids(self) -> tuple[str, ...]:
        """Every address the installation owns."""
        return (*_ids(self.auxiliaries, "allocation"), *self.unnamed_allocations)


def encode(sidecar: Sidecar) -> dict[str, Any]:
    """Return the record as JSON has it."""
    return {
        "schema": SCHEMA,
        "backend": BACKEND,
        **{each: getattr(sidecar, each) for each in _TEXTS},
        "owned_filesystem_ids": list(sidecar.filesystem_ids),
        "owned_allocation_ids": list(sidecar.allocation_ids),
        "owned_auxiliary_resources": [asdict(each) for each in sidecar.auxiliaries],
    }


def decode(document: object) -> Sidecar:
    """Return the record that `encode`, or the tool before this one, wrote.

    Raises IdentityError with every fault. Only a record without a version may lack parts of its identity:
    whoever uses it decides whether that will do.
    """
    if not isinstance(document, Mapping):
        raise IdentityError("the installation's record is not a JSON object", hint=_HINT)
    if document.get("backend", BACKEND if "schema" in document else None) != BACKEND:
        raise OwnershipError(
            "the installation's record is another backend's",
            expected=BACKEND,
            found=str(document.get("backend") or "none"),
            hint="use the tool that made this installation",
        )
    versioned = "schema" in document
    if versioned and document["schema"] != SCHEMA:
        raise IdentityError(
            f"the installation's record has schema {str(document['schema'])[:60]!r}, not {SCHEMA!r}",
            hint="use the version of npa that wrote it",
        )
    faults = list(_faults(document, versioned))
    if faults:
        raise IdentityError(*faults, hint=_HINT)
    owned = tuple(_auxiliary(each) for each in _listed(document, "owned_auxiliary_resources"))
    named = {each.id for each in owned}
    return Sidecar(
        **{each: (document.get(each) or "").strip() for each in _TEXTS},
        auxiliaries=owned,
        unnamed_filesystems=_rest(document, "owned_filesystem_ids", named),
        unnamed_allocations=_rest(document, "owned_allocation_ids", named),
        versioned=versioned,
    )


def owning(
    sidecar: Sidecar, *, cluster_id: str, provider_cluster_name: str, auxiliaries: tuple[Auxiliary, ...]
) -> Sidecar:
    """Return the record with what a phase has made; what was owned before stays owned.

    Raises OwnershipError where the cluster is another one than recorded.
    """
    if sidecar.cluster_id and cluster_id and sidecar.cluster_id != cluster_id:
        raise OwnershipError(
            "Terraform's state holds another cluster than the installation's record",
            expected=sidecar.cluster_id,
            found=cluster_id,
            hint="restore the state that belongs to this record; nothing is deleted by name",
        )
    if cluster_id and not (provider_cluster_name or sidecar.provider_cluster_name):
        raise IdentityError(f"cluster {cluster_id} has no name in Terraform's state", hint="run deploy again")
    now = {each.id: each for each in (*sidecar.auxiliaries, *auxiliaries)}
    return replace(
        sidecar,
        cluster_id=cluster_id or sidecar.cluster_id,
        provider_cluster_name=provider_cluster_name or sidecar.provider_cluster_name,
        auxiliaries=tuple(now.values()),
        unnamed_filesystems=tuple(each for each in sidecar.unnamed_filesystems if each not in now),
        unnamed_allocations=tuple(each for each in sidecar.unnamed_allocations if each not in now),
        versioned=True,
    )


def _faults(document: Mapping[str, Any], versioned: bool) -> Iterator[str]:
    for key in _TEXTS:
        value = document.get(key)
        if value is not None and not isinstance(value, str):
            yield f"the installation's record: {key} is not text"
        elif versioned and key in _IDENTITY and not (value or "").strip():
            yield f"the installation's record lacks {key}"
    for key in ("owned_filesystem_ids", "owned_allocation_ids"):
        if not _texts(_listed(document, key)):
            yield f"the installation's record: {key} is not a list of ids"
    owned = _listed(document, "owned_auxiliary_resources")
    if not isinstance(owned, list):
        yield "the installation's record: owned_auxiliary_resources is not a list"
        return
    for index, each in enumerate(owned):
        if not _is_auxiliary(each):
            yield f"the installation's record: owned_auxiliary_resources[{index}] lacks a kind, id or name"


def _listed(document: Mapping[str, Any], key: str) -> Any:
    """Return a list, an empty one only where there is none: anything else is a fault, however empty."""
    value = document.get(key)
    return [] if value is None else value


def _is_auxiliary(value: object) -> bool:
    if not isinstance(value, Mapping) or not _texts(
        [value.get(k) for k in ("kind", "provider_type", "id", "name")]
    ):
        return False
    return value["kind"] in get_args(Kind) and KINDS.get(value["provider_type"]) == value["kind"]


def _auxiliary(value: Mapping[str, Any]) -> Auxiliary:
    return Auxiliary(value["kind"], value["provider_type"], value["id"], value["name"])


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) and each.strip() for each in value)


def _rest(document: Mapping[str, Any], key: str, named: set[str]) -> tuple[str, ...]:
    return tuple(each for each in _listed(document, key) if each not in named)


def _ids(owned: tuple[Auxiliary, ...], kind: Kind) -> tuple[str, ...]:
    return tuple(each.id for each in owned if each.kind == kind)
