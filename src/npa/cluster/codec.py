"""A Cluster as JSON and back, for records of what was asked last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from npa.cluster.model import Cluster, Machine, Partition, Pool, User


def encode(cluster: Cluster) -> dict[str, Any]:
    """Return the cluster as JSON has it, without who decided what."""
    encoded = asdict(cluster)
    del encoded["origins"]
    return encoded


def decode(value: Mapping[str, Any]) -> Cluster:
    """Return the cluster that `encode` wrote; raises KeyError, TypeError or ValueError for anything else."""
    fields = dict(value)
    fields["pools"] = tuple(_pool(each) for each in fields["pools"])
    fields["partitions"] = tuple(
        Partition(**{**each, "pools": tuple(each["pools"])}) for each in fields["partitions"]
    )
    fields["users"] = tuple(
        User(**{**each, "ssh_public_keys": tuple(each["ssh_public_keys"])}) for each in fields["users"]
    )
    fields["slurm_settings"] = tuple((str(key), str(text)) for key, text in fields["slurm_settings"])
    for name in ("root_keys", "controllers", "logins"):
        fields[name] = tuple(fields[name])
    return Cluster(**fields)


def _pool(value: Mapping[str, Any]) -> Pool:
    machine = Machine(**value["machine"])
    return Pool(**{**value, "machine": machine, "features": tuple(value["features"])})
