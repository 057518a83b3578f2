"""The fields that are accepted and not acted on, and why.

They are there so that manifests written for the existing operator are taken unchanged; an object that gives
one a value of its own says so in its condition `IgnoredFields`. A test holds each path to the schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from pydantic.fields import FieldInfo

from npa.crds import definitions, schema
from npa.crds.base import Part
from npa.crds.resource import Object

MUNGE = "daemons know one another by auth/slurm: there is no munged"
FORMER = "no longer used by the existing operator either"
FILES = "slurmctld hands its files to every daemon: no process carries them into the jail"
PLUGIN = "the images are made of Debian's packages, which have no such plug-in; name yours in `customPlugins`"
SSSD = "users are those of the jail: the images have no SSSD, and no library that would ask it"
MARIADB = "mariadb-operator has no such field"
ALONE = "a worker's container runs slurmd alone"
NO_CONTROLLER = "nothing acts on objects of this kind yet"

_NOTHING: tuple[Any, ...] = (None, "", [], {}, ())
_ACCOUNTING = "spec.slurmNodes.accounting"
_MARIADB_FIELDS = ("appArmorProfile", "securityLimitsConfig", "procMount")
_SSSD_FIELDS = ("sssd", "sssdDebugLevel", "sssdConfSecretRefName", "sssdLdapCAConfigMapRefName")
_FORMER_FIELDS = ("munge", "volumes", "exporter")

IGNORED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "SlurmCluster": {
            "spec.crVersion": "nothing depends on it",
            "spec.useDefaultAppArmorProfile": "no profile is made: name one in `appArmorProfile`",
            "spec.sConfigController": FILES,
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
            "spec.slurmNodes.exporter.size": "there is one exporter: two would count everything twice",
            "spec.slurmNodes.exporter.exporterContainer.securityLimitsConfig": "an exporter opens few files",
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
        "NodeConfigurator": {
            "spec.rebooter.logLevel": "the container's own defaults hold: set them by `env` or `command`",
            "spec.rebooter.logFormat": "the container's own defaults hold: set them by `env` or `command`",
        },
    }
)


def ignored_in(obj: Object) -> tuple[str, ...]:
    """Return the paths of an object's fields that have a value of their own and are not acted on."""
    kind = obj.get("kind")
    if not isinstance(kind, str) or kind not in IGNORED:
        return ()
    return tuple(sorted({path for path, value in _values(obj, _tree(kind)) if _own(kind, path, value)}))


def why(kind: str, path: str) -> str:
    """Return why a field is not acted on; "" where it is."""
    names = re.sub(r"\[\]", "", path).split(".")
    table = IGNORED.get(kind, {})
    prefixes = (".".join(names[: count + 1]) for count in range(len(names)))
    return next((table[each] for each in prefixes if each in table), "")


@cache
def field(kind: str, path: str) -> tuple[FieldInfo, type[Part] | None] | None:
    """Return the field that a path leads to, and the part that it is; None where there is no such field."""
    api = next((each for each in definitions.APIS if each.kind == kind), None)
    part: type[Part] | None = api.model if api else None
    found: tuple[FieldInfo, type[Part] | None] | None = None
    for key in path.split("."):
        if part is None or key not in schema.fields(part):
            return None
        found = (schema.fields(part)[key], schema.parts(part).get(key))
        part = found[1]
    return found


@cache
def _tree(kind: str) -> dict[str, Any]:
    """Return the ignored fields by their keys, one within another, down to their paths."""
    tree: dict[str, Any] = {}
    for path in IGNORED[kind]:
        *outer, last = path.split(".")
        held = tree
        for key in outer:
            held = held.setdefault(key, {})
        held[last] = path
    return tree


def _values(held: Any, tree: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what an object holds at ignored paths."""
    if isinstance(held, Mapping):
        for key in tree.keys() & held.keys():
            inner = tree[key]
            if isinstance(inner, str):
                yield inner, held[key]
            else:
                yield from _values(held[key], inner)
    elif isinstance(held, list | tuple):
        for each in held:
            yield from _values(each, tree)


def _own(kind: str, path: str, value: Any) -> bool:
    found = field(kind, path)
    return found is not None and _differs(value, *found)


def _differs(value: Any, of: FieldInfo, part: type[Part] | None) -> bool:
    """Say whether a value is more than what the API server writes by itself."""
    if value in _NOTHING:
        return False
    if part is None or not isinstance(value, Mapping):
        return bool(value != of.default)
    found = schema.default(of)
    whole = found if isinstance(found, Mapping) else {}  # what is written where nothing is given of the part
    known, inner = schema.fields(part), schema.parts(part)
    return any(
        each not in (whole[key], *_NOTHING)
        if key in whole
        else key not in known or _differs(each, known[key], inner.get(key))
        for key, each in value.items()
    )
