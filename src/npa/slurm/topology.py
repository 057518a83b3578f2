"""topology.yaml or topology.conf: which workers can talk over one fabric.

Every worker hangs on exactly one leaf switch: one leaf per InfiniBand fabric, and one for all workers without
any. The leaves have no common root: Slurm would read one as a link between fabrics and place a job over both.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from npa.cluster.model import Cluster
from npa.slurm import conf, hostlist, version
from npa.slurm.runtime import Runtime

# Slurm reads topology.yaml from 25.05 on, and topology.conf before.
_YAML_SINCE = "25.05"
_NO_FABRIC = "no-fabric"
_YAML_HEAD = "- topology: fabrics\n  cluster_default: true\n  tree:\n    switches:\n"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf switch and the workers on it."""

    name: str
    nodes: str  # as a hostlist


def name(cluster: Cluster) -> str:
    """Return the name of the file that this Slurm reads."""
    return "topology.yaml" if version.at_least(cluster.slurm_version, _YAML_SINCE) else "topology.conf"


def render(cluster: Cluster, runtime: Runtime) -> str:  # noqa: ARG001  # one signature for every file
    """Return the file; "" without workers, as a topology without switches stops slurmctld."""
    leaves = switches(cluster)
    if not leaves:
        return ""
    if name(cluster) == "topology.conf":
        lines = [conf.line(("SwitchName", leaf.name), ("Nodes", leaf.nodes)) for leaf in leaves]
        return conf.text([conf.comment(conf.HEADER), *lines])
    text = (
        f"{conf.comment(conf.HEADER)}\n- topology: fabrics\n  cluster_default: true\n  tree:\n    switches:\n"
    )
    return text + "".join(
        f"      - switch: {json.dumps(conf.word('switch', leaf.name))}\n"
        f"        nodes: {json.dumps(conf.word('nodes', leaf.nodes))}\n"
        for leaf in leaves
    )


def switches(cluster: Cluster) -> tuple[Leaf, ...]:
    """Return the leaves, by name; pools without workers have no part in them."""
    fabrics: dict[str, list[str]] = {}
    for pool in cluster.pools:
        if pool.size:
            fabrics.setdefault(pool.fabric or _NO_FABRIC, []).extend(pool.nodes)
    return tuple(Leaf(fabric, hostlist.compress(nodes)) for fabric, nodes in sorted(fabrics.items()))
