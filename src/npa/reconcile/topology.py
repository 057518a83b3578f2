"""Where workers are in the network, by the labels of the Kubernetes nodes below them.

A worker without labels, without a pod or without a machine is in the unknown unit of its fabric: it starts
and takes jobs all the same, and a condition says so. A static worker whose pod is being replaced stays where
it was, so that a rollout does not move every node twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from npa.cluster.model import Cluster
from npa.reconcile.conditions import Condition
from npa.reconcile.decision import Decision
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.kube import differs, names, topology_text
from npa.render.kube.topology_text import Tiers
from npa.render.objects import CONFIG_MAP, NODE, NODE_SET, POD, SLURM_CLUSTER, Object, dig, name_of
from npa.slurm import hostlist
from npa.slurm.conf import Line

KNOWN = "TopologyKnown"
PLACES = "places.json"  # key of the ConfigMap that remembers where workers were
READS = frozenset({SLURM_CLUSTER, NODE_SET, POD, NODE, CONFIG_MAP})  # of which `decide` looks at objects
_TIER = re.compile(r"tier-([0-9]{1,3})")
_ROOT = "root"


@dataclass(frozen=True, slots=True)
class Planned:
    """The topology of a cluster."""

    text: str = ""  # of the file that slurmctld reads; "" where no label says anything
    condition: Condition = field(
        default_factory=lambda: Condition(KNOWN, "False", "NoLabels", "no node's label says where it is")
    )


def name(cluster: str) -> str:
    """Name of the ConfigMap that remembers where workers are."""
    return f"{cluster}-topology-config"


def places(world: World, settings: Settings) -> dict[str, Tiers]:
    """Return the tiers of each worker of which they are known: (number, unit), the nearest first."""
    remembered = _remembered(world)
    found: dict[str, Tiers] = {}
    for nodeset in world.nodesets:
        static = not dig(nodeset, "spec", "ephemeralNodes")
        prefix = f"{name_of(nodeset)}-"
        if static:
            found |= {each: tiers for each, tiers in remembered.items() if _is_of(each, prefix)}
        for pod in world.pods(name_of(nodeset)):
            machine = world.nodes.get(str(dig(pod, "spec", "nodeName") or ""))
            tiers = _tiers(machine, settings.topology_prefix) if machine is not None else ()
            if tiers:
                found[name_of(pod)] = tiers
            elif machine is not None:
                found.pop(name_of(pod), None)  # it is somewhere else now
    return found


def decide(world: World, cluster: str, settings: Settings) -> Decision:
    """Return that what is known of places is kept, where anything is."""
    if world.cluster is None or {"Pod", "Node", "ConfigMap"} & set(world.unread):
        return Decision()
    found = places(world, settings)
    if not found and world.find(CONFIG_MAP.kind, name(cluster)) is None:
        return Decision()
    text = json.dumps({each: dict(tiers) for each, tiers in sorted(found.items())}, separators=(",", ":"))
    wanted = CONFIG_MAP.object(
        name(cluster), str(dig(world.cluster, "metadata", "namespace") or ""), data={PLACES: text}
    )
    wanted["metadata"] |= {
        "labels": names.labels(cluster, "common"),
        "ownerReferences": [
            {
                "apiVersion": "slurm.nebius.ai/v1",
                "kind": "SlurmCluster",
                "name": cluster,
                "uid": dig(world.cluster, "metadata", "uid"),
            }
        ],
    }
    return Decision(apply=differs.pending([wanted], world.find))


def plan(
    world: World, cluster: Cluster, retired: tuple[Line, ...], plugin: str, settings: Settings
) -> Planned:
    """Return the topology of the nodes that Slurm's files name, every one of them exactly once."""
    found = places(world, settings)
    fabrics: dict[str, list[str]] = {}
    for pool in cluster.pools:
        if pool.nodes:
            fabrics.setdefault(pool.fabric or _ROOT, []).extend(pool.nodes)
    for line in retired:
        fabrics.setdefault(_ROOT, []).extend(hostlist.expand(line.get("NodeName")))
    gpus = {node for pool in cluster.pools if pool.fabric for node in pool.nodes}
    known = {node: tiers for node, tiers in found.items() if node in gpus}
    if not known:
        return Planned()
    block = plugin == "topology/block"
    drawn = topology_text.draw(fabrics, known, block=block)
    text = topology_text.render(drawn, cluster, block=block)
    lost = sorted(gpus - set(drawn.placed))
    if lost:
        message = f"no labels say where {hostlist.compress(lost)} are"
        return Planned(text, Condition(KNOWN, "False", "SomeUnknown", "; ".join((message, *drawn.warnings))))
    return Planned(text, Condition(KNOWN, "True", "AllKnown", "; ".join(drawn.warnings)))


def _tiers(machine: Object, prefix: str) -> Tiers:
    labels: Mapping[str, object] = dig(machine, "metadata", "labels") or {}
    found = []
    for key, value in labels.items():
        tier = _TIER.fullmatch(key.removeprefix(f"{prefix}/")) if key.startswith(f"{prefix}/") else None
        if tier and isinstance(value, str) and value:
            found.append((int(tier[1]), value))
    return tuple(sorted(found))


def _remembered(world: World) -> dict[str, Tiers]:
    held = world.find(CONFIG_MAP.kind, name(name_of(world.cluster or {})))
    try:
        read = json.loads(str(dig(held, "data", PLACES) or "{}"))
        return {
            str(node): tuple(sorted((int(tier), str(unit)) for tier, unit in tiers.items()))
            for node, tiers in read.items()
        }
    except (ValueError, AttributeError):
        return {}


def _is_of(node: str, prefix: str) -> bool:
    return node.startswith(prefix) and node[len(prefix) :].isdecimal()
