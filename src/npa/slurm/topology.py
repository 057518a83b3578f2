"""topology.yaml or topology.conf: which workers can talk over one fabric.

Every worker hangs on exactly one leaf switch: one leaf per InfiniBand fabric, and one for all workers without
any. A root above them lets a job that fits on no leaf alone run over several; Slurm fills as few leaves as it
can, and a job that must stay on one fabric asks for `--switches=1` or a partition of that pool.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from npa.cluster.model import Cluster
from npa.slurm import conf, hostlist, version
from npa.slurm.runtime import Runtime, Site

# Slurm reads topology.yaml from 25.05 on, and topology.conf before.
PLAIN = Site()  # nothing besides the cluster
_YAML_SINCE = "25.05"
_NO_FABRIC = "no-fabric"
_ROOT = "all-fabrics"
_YAML_HEAD = "- topology: fabrics\n  cluster_default: true\n  tree:\n    switches:\n"


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch and what hangs on it."""

    name: str
    nodes: str = ""  # as a hostlist
    children: str = ""  # switches below it, as a hostlist; a switch has either


def name(cluster: Cluster) -> str:
    """Return the name of the file that this Slurm reads."""
    return "topology.yaml" if version.at_least(cluster.slurm_version, _YAML_SINCE) else "topology.conf"


def render(cluster: Cluster, runtime: Runtime) -> str:
    """Return the file; "" without workers, as a topology without switches stops slurmctld."""
    found = switches(cluster, runtime.site)
    if not found:
        return ""
    if name(cluster) == "topology.conf":
        lines = [conf.line(("SwitchName", each.name), _below(each, "Nodes", "Switches")) for each in found]
        return conf.text([conf.comment(conf.HEADER), *lines])
    written = [f"{conf.comment(conf.HEADER)}\n{_YAML_HEAD}"]
    for each in found:
        key, below = _below(each, "nodes", "children")
        written.append(f"      - switch: {json.dumps(conf.word('switch', each.name))}\n")
        written.append(f"        {key}: {json.dumps(conf.word(key, below))}\n")
    return "".join(written)


def switches(cluster: Cluster, site: Site = PLAIN) -> tuple[Switch, ...]:
    """Return the leaves by name, then the root of several; pools without workers have no part in them."""
    fabrics: dict[str, list[str]] = {}
    for pool in cluster.pools:
        if pool.size:
            fabrics.setdefault(pool.fabric or _NO_FABRIC, []).extend(pool.nodes)
    for line in site.retired:
        fabrics.setdefault(_NO_FABRIC, []).extend(hostlist.expand(line.get("NodeName")))
    leaves = tuple(Switch(fabric, hostlist.compress(nodes)) for fabric, nodes in sorted(fabrics.items()))
    if len(leaves) < 2:
        return leaves
    return (*leaves, Switch(_ROOT, children=",".join(leaf.name for leaf in leaves)))


def _below(switch: Switch, nodes: str, children: str) -> tuple[str, str]:
    return (nodes, switch.nodes) if switch.nodes else (children, switch.children)
