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
from npa.crds.accounting import MariadbOperator
from npa.crds.base import Part
from npa.crds.components import Exporter
from npa.crds.resource import Object

MUNGE = "daemons know one another by auth/slurm: there is no munged"
FORMER = "no longer used by the existing operator either"
FILES = "slurmctld hands its files to every daemon: no process carries them into the jail"
PLUGIN = "the images are made of Debian's packages, which have no such plug-in; name yours in `customPlugins`"
SSSD = "users are those of the jail: there is no SSSD"
EXPORTER = "there is no exporter: slurmctld serves its own metrics, see `controller.openMetrics`"
MARIADB = "the database is a container beside slurmdbd, of which only resources and storage are asked"
ALONE = "a worker's container runs slurmd alone"
NO_CONTROLLER = "nothing acts on objects of this kind yet"

_ACCOUNTING = "spec.slurmNodes.accounting"
_MARIADB_FIELDS = tuple(key for key in schema.fields(MariadbOperator) if key not in ("resources", "storage"))
_SSSD_FIELDS = ("sssd", "sssdDebugLevel", "sssdConfSecretRefName", "sssdLdapCAConfigMapRefName")
_FORMER_FIELDS = ("munge", "volumes", "exporter")
_EXPORTER_FIELDS = tuple(key for key in schema.fields(Exporter) if key not in _FORMER_FIELDS)

IGNORED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "SlurmCluster": {
            "spec.crVersion": "nothing depends on it",
            "spec.useDefaultAppArmorProfile": "no profile is made: name one in `appArmorProfile`",
            "spec.sConfigController": FILES,
            "spec.mpiConfig": "MPI is found by Slurm's own defaults: no mpi.conf is written",
            "spec.topology.blockSize": "blocks are those that the nodes' labels name",
            "spec.plugStackConfig.pyxis": PLUGIN,
            "spec.plugStackConfig.ncclDebug": PLUGIN,
            "spec.plugStackConfig.ncclInspectorPreConf": PLUGIN,
            f"{_ACCOUNTING}.munge": MUNGE,
            f"{_ACCOUNTING}.size": "there is one slurmdbd",
            **{f"{_ACCOUNTING}.mariadbOperator.{each}": MARIADB for each in _MARIADB_FIELDS},
            "spec.slurmNodes.controller.munge": MUNGE,
            **{f"spec.slurmNodes.controller.{each}": SSSD for each in _SSSD_FIELDS},
            "spec.slurmNodes.login.munge": MUNGE,
            **{f"spec.slurmNodes.login.{each}": SSSD for each in _SSSD_FIELDS},
            "spec.slurmNodes.login.userIsolation": "users of a login node are not kept apart",
            **{f"spec.slurmNodes.exporter.{each}": EXPORTER for each in _EXPORTER_FIELDS},
            **{f"spec.slurmNodes.exporter.{each}": FORMER for each in _FORMER_FIELDS},
        },
        "NodeSet": {
            "spec.munge": MUNGE,
            **{f"spec.{each}": SSSD for each in _SSSD_FIELDS},
            "spec.docker": f"{ALONE}: there is no Docker",
            "spec.configMapRefSupervisord": f"{ALONE}: there is no supervisord",
            "spec.configMapRefSshd": f"{ALONE}: there is no sshd",
            "spec.nodeConfig.autoResume": "a drain that is somebody's own stays until they resume the node",
            "spec.ephemeralTopologyWaitTimeout": "no worker waits for its place in the topology",
        },
        "ActiveCheck": {"spec": NO_CONTROLLER},
        "NodeConfigurator": {"spec": NO_CONTROLLER},
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
