"""The fields that are accepted and not acted on, and why.

They are there so that manifests written for the existing operator are taken unchanged; an object that gives
one a value of its own says so in its condition `IgnoredFields`. A test holds each path to the schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pydantic.fields import FieldInfo

from npa.crds import definitions, schema
from npa.crds.base import Part
from npa.crds.resource import Object

MUNGE = "daemons know one another by auth/slurm: there is no munged"
FORMER = "no longer used by the existing operator either"
FILES = "slurmctld hands its files to every daemon: no process carries them into the jail"

IGNORED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "SlurmCluster": {
            "spec.crVersion": "nothing depends on it",
            "spec.sConfigController": FILES,
            "spec.slurmNodes.accounting.munge": MUNGE,
            "spec.slurmNodes.accounting.size": "there is one slurmdbd",
            "spec.slurmNodes.controller.munge": MUNGE,
            "spec.slurmNodes.login.munge": MUNGE,
            "spec.slurmNodes.exporter.munge": FORMER,
            "spec.slurmNodes.exporter.volumes": FORMER,
            "spec.slurmNodes.exporter.exporter": FORMER,
            "spec.plugStackConfig.pyxis.containerImageSave": FORMER,
        },
        "NodeSet": {
            "spec.munge": MUNGE,
            "spec.configMapRefSupervisord": "a worker's container runs slurmd alone: there is no supervisord",
        },
        "ActiveCheck": {
            "spec.k8sJobSpec.mungeContainer": MUNGE,
            "spec.slurmJobSpec.mungeContainer": MUNGE,
        },
    }
)


def ignored_in(obj: Object) -> tuple[str, ...]:
    """Return the paths of an object's fields that have a value of their own and are not acted on."""
    kind = obj.get("kind")
    table = IGNORED.get(kind, {}) if isinstance(kind, str) else {}
    return tuple(path for path in sorted(table) if _given(str(kind), path, obj))


def why(kind: str, path: str) -> str:
    """Return why a field is not acted on; "" where it is."""
    names = re.sub(r"\[\]", "", path).split(".")
    table = IGNORED.get(kind, {})
    prefixes = (".".join(names[: count + 1]) for count in range(len(names)))
    return next((table[each] for each in prefixes if each in table), "")


def field(kind: str, path: str) -> FieldInfo | None:
    """Return the field that a path leads to; None where there is none."""
    api = next((each for each in definitions.APIS if each.kind == kind), None)
    part: type[Part] | None = api.model if api else None
    found: FieldInfo | None = None
    for key in path.split("."):
        found = schema.fields(part).get(key) if part else None
        if found is None:
            return None
        part = schema.part_in(found.annotation)
    return found


def _given(kind: str, path: str, obj: Object) -> bool:
    found = field(kind, path)
    return found is not None and any(_differs(value, found) for value in _values(obj, path.split(".")))


def _values(held: Any, keys: list[str]) -> Iterator[Any]:
    if isinstance(held, list | tuple):
        for each in held:
            yield from _values(each, keys)
    elif not keys:
        yield held
    elif isinstance(held, Mapping):
        yield from _values(held.get(keys[0]), keys[1:])


def _differs(value: Any, of: FieldInfo) -> bool:
    """Say whether a value is more than what the API server writes by itself."""
    if value in (None, "", [], {}, ()):
        return False
    part = schema.part_in(of.annotation)
    if part is not None and isinstance(value, Mapping):
        known = schema.fields(part)
        return any(key not in known or _differs(each, known[key]) for key, each in value.items())
    return bool(value != of.default)
