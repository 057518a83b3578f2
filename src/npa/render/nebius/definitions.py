"""Definitions of the prometheus operator's kinds for a cluster that has none: nothing is fetched; pure.

The charts make objects of these kinds whether or not somebody reads them. Ours only let them be made:
whatever an object says is kept and nothing is checked. Whoever wants that gives the operator's definitions
in a file, which then replace ours.
"""

from __future__ import annotations

from npa.render.objects import CRD, Kind, Object, dig

GROUP = "monitoring.coreos.com"
KINDS = tuple(
    Kind(GROUP, "v1", kind, f"{kind.lower()}s") for kind in ("ServiceMonitor", "PodMonitor", "Probe")
)
MARK = ("npa.nebius.com/definition", "open")  # label of those that are ours

_OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def open_definition(kind: Kind) -> Object:
    """Return a definition that takes any object of a kind."""
    schema = {"type": "object", "properties": {"spec": _OPEN, "status": _OPEN}}
    names = {"kind": kind.kind, "listKind": f"{kind.kind}List", "plural": kind.plural}
    version = {"name": kind.version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    found = CRD.object(
        kind.crd,
        spec={
            "group": kind.group,
            "scope": "Namespaced",
            "names": {**names, "singular": kind.kind.lower()},
            "versions": [version],
        },
    )
    found["metadata"]["labels"] = dict([MARK])
    return found


OPEN = {kind.crd: open_definition(kind) for kind in KINDS}


def is_ours(found: Object) -> bool:
    """Say whether a definition is one of ours, and may be replaced."""
    key, value = MARK
    return bool(dig(found, "metadata", "labels", key) == value)
