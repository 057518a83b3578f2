"""The smallest objects that mean something, to be changed by tests."""

from __future__ import annotations

import copy
from typing import Any

Object = dict[str, Any]

GROUP = "slurm.nebius.ai"


def cluster(name: str = "c", **changes: Any) -> Object:
    """Return a SlurmCluster; `changes` are dotted paths within its spec, with `__` for the dots."""
    spec = {
        "populateJail": {"image": "jail:1"},
        "volumeSources": [{"name": "jail", "persistentVolumeClaim": {"claimName": "jail"}}],
        "slurmNodes": {
            "controller": {
                "slurmctld": {"image": "slurm:1"},
                "volumes": {
                    "spool": {"volumeClaimTemplateSpec": {"resources": {"requests": {"storage": "10Gi"}}}},
                    "jail": {"volumeSourceName": "jail"},
                },
            },
            "login": {
                "sshd": {"image": "slurm:1", "resources": {"memory": "8Gi"}},
                "sshRootPublicKeys": ["ssh-ed25519 AAAA one"],
                "sshdServiceType": "ClusterIP",
                "volumes": {"jail": {"volumeSourceName": "jail"}},
            },
        },
    }
    return _object("v1", "SlurmCluster", name, spec, changes)


def nodeset(name: str = "w", **changes: Any) -> Object:
    """Return a NodeSet of cluster `c`."""
    spec = {
        "clusterName": "c",
        "slurmd": {
            "image": {"repository": "slurm", "tag": "1"},
            "resources": {"cpu": "4", "memory": "8Gi"},
            "volumes": {"spool": {"emptyDir": {}}, "jail": {"persistentVolumeClaim": {"claimName": "jail"}}},
        },
    }
    return _object("v1alpha1", "NodeSet", name, spec, changes)


def check(name: str = "hello", **changes: Any) -> Object:
    """Return an ActiveCheck of cluster `c`."""
    spec = {
        "name": name,
        "slurmClusterRefName": "c",
        "checkType": "slurmJob",
        "slurmJobSpec": {"sbatchScript": "#!/bin/sh\ntrue\n"},
    }
    return _object("v1alpha1", "ActiveCheck", name, spec, changes)


def other(kind: str, name: str = "x", **spec: Any) -> Object:
    """Return an object of one of the smaller kinds."""
    return _object("v1alpha1", kind, name, spec, {})


def _object(version: str, kind: str, name: str, spec: Object, changes: dict[str, Any]) -> Object:
    spec = copy.deepcopy(spec)
    for path, value in changes.items():
        *outer, last = path.split("__")
        held = spec
        for key in outer:
            held = held.setdefault(key, {})
        held[last] = value
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": metadata, "spec": spec}
