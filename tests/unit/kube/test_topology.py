"""Where workers are in the network, as slurmctld reads it."""

from __future__ import annotations

from typing import Any

import pytest

from npa.cluster.model import Cluster, Machine, Partition, Pool
from npa.reconcile import topology
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.kube import names, topology_text
from npa.render.kube.topology_text import Unit
from npa.render.objects import NODE, NODE_SET, POD, SLURM_CLUSTER, Object, dig
from npa.slurm import lint

SETTINGS = Settings()
NOW = 1_800_000_000.0


def pool(name: str, size: int, fabric: str = "") -> Pool:
    return Pool(name, name, size, Machine(8, 65536, 8 if fabric else 0), "", "", fabric=fabric)


def cluster(*pools: Pool, version: str = "26.05") -> Cluster:
    partitions = (Partition("main", (), default=True),)
    return Cluster("slurm1", "kubernetes", pools, partitions, slurm_version=version)


def world(placed: dict[str, dict[str, str]], *more: Object, elastic: bool = False) -> World:
    """Return a world where each worker runs on a machine of its own with these tiers."""
    sets = sorted({name.rpartition("-")[0] for name in placed})
    nodesets = tuple(NODE_SET.object(name, spec={"ephemeralNodes": elastic}) for name in sets)
    objects: dict[tuple[str, str], Object] = {}
    nodes: dict[str, Object] = {}
    for name, tiers in placed.items():
        pod = POD.object(name, spec={"nodeName": f"machine-of-{name}"})
        pod["metadata"]["labels"] = {names.NODE_SET: name.rpartition("-")[0], names.WORKER: "true"}
        objects["Pod", name] = pod
        machine = NODE.object(f"machine-of-{name}")
        machine["metadata"]["labels"] = {f"topology.nebius.com/{key}": unit for key, unit in tiers.items()}
        nodes[f"machine-of-{name}"] = machine
    objects |= {(str(each["kind"]), str(each["metadata"]["name"])): each for each in more}
    return World(SLURM_CLUSTER.object("slurm1", "soperator"), nodesets, objects, nodes, now=NOW)


def drawn(asked: Cluster, seen: World, *, block: bool = False) -> tuple[Unit, ...]:
    fabrics: dict[str, list[str]] = {}
    for each in asked.pools:
        fabrics.setdefault(each.fabric or "root", []).extend(each.nodes)
    gpus = {node for each in asked.pools if each.fabric for node in each.nodes}
    known = {name: tiers for name, tiers in topology.places(seen, SETTINGS).items() if name in gpus}
    return topology_text.draw(fabrics, known, block=block).units


def errors(asked: Cluster, text: str, plugin: str = "topology/tree") -> list[str]:
    """Return what the checker has against these nodes with this topology."""
    lines = [f"NodeName={each.name}-[0-{each.size - 1}] CPUs=8 RealMemory=1024" for each in asked.pools]
    page = "topology.yaml" if asked.slurm_version == "26.05" else "topology.conf"
    conf = ["ClusterName=slurm1", "SlurmctldHost=controller", f"TopologyPlugin={plugin}", *lines]
    conf.append("PartitionName=main Nodes=ALL Default=YES")
    files = {"slurm.conf": "\n".join(conf) + "\n", page: text}
    found = lint.errors(lint.check(files, version=asked.slurm_version))
    return [str(each.problem()) for each in found if each.file == page]


C35 = {
    "a-0": {"tier-1": "s1", "tier-2": "c1"},
    "a-1": {"tier-1": "s1", "tier-2": "c1"},
    "b-0": {"tier-1": "s9"},
    "b-1": {"tier-1": "s9"},
    "c-0": {"tier-1": "s1"},
}
POOLS = (pool("a", 3, "f1"), pool("b", 2, "f2"), pool("c", 2))


def test_c35_fabrics_are_trees_of_their_own_and_cpu_workers_are_in_neither() -> None:
    assert drawn(cluster(*POOLS), world(C35)) == (
        Unit("s1", ("a-0", "a-1")),
        Unit("c1", children=("s1",)),
        Unit("f1.unknown", ("a-2",)),
        Unit("f1", children=("c1", "f1.unknown")),
        Unit("s9", ("b-0", "b-1")),
        Unit("unknown", ("c-0", "c-1")),
    )


def test_c35_missing_tiers_are_skipped_and_tiers_are_ordered_as_numbers() -> None:
    placed = {
        "a-0": {"tier-0": "r1", "tier-2": "s1", "tier-10": "core"},
        "a-1": {"tier-2": "s1", "tier-10": "core"},
    }

    assert drawn(cluster(pool("a", 2, "f")), world(placed)) == (
        Unit("s1", ("a-0", "a-1")),
        Unit("core", children=("s1",)),
    )


def test_c35_a_switch_has_one_parent_and_who_disagrees_is_told() -> None:
    placed = {
        "a-0": {"tier-1": "s1", "tier-2": "c1"},
        "a-1": {"tier-1": "s1", "tier-2": "c2"},
        "a-2": {"tier-1": "s1", "tier-2": "c2"},
    }
    planned = topology.plan(world(placed), cluster(pool("a", 3, "f")), (), "topology/tree", SETTINGS)

    assert planned.condition.message == "s1 is below c2, although some nodes say below c1"
    assert errors(cluster(pool("a", 3, "f")), planned.text) == []


def test_c35_without_any_label_nothing_is_drawn() -> None:
    planned = topology.plan(world({"a-0": {}}), cluster(pool("a", 1, "f")), (), "topology/tree", SETTINGS)

    assert planned.text == ""
    assert planned.condition.reason == "NoLabels"


@pytest.mark.parametrize("version", ["24.11", "26.05"])
@pytest.mark.parametrize("plugin", ["topology/tree", "topology/block"])
def test_the_checker_takes_what_is_drawn(plugin: str, version: str) -> None:
    placed = {
        name: {**tiers, **({"tier-0": f"rack-{name[0]}"} if name != "a-1" else {})}
        for name, tiers in C35.items()
    }
    asked = cluster(*POOLS, version=version)
    planned = topology.plan(world(placed), asked, (), plugin, SETTINGS)

    assert planned.text
    assert errors(asked, planned.text, plugin) == []
    assert planned.condition.status == "False"  # of a-2 nothing is known


def test_a_switch_with_workers_and_switches_gets_a_leaf_for_its_workers() -> None:
    placed = {"a-0": {"tier-1": "s1", "tier-2": "c1"}, "a-1": {"tier-2": "c1"}}

    assert drawn(cluster(pool("a", 2, "f")), world(placed)) == (
        Unit("s1", ("a-0",)),
        Unit("c1.nodes", ("a-1",)),
        Unit("c1", children=("c1.nodes", "s1")),
    )


def test_one_word_in_two_tiers_or_fabrics_names_two_switches() -> None:
    placed = {"a-0": {"tier-1": "x", "tier-2": "x"}, "b-0": {"tier-1": "y"}, "c-0": {"tier-1": "y"}}
    asked = cluster(pool("a", 1, "f1"), pool("b", 1, "f2"), pool("c", 1, "f3"))

    assert [each.name for each in drawn(asked, world(placed))] == ["x.tier-1", "x.tier-2", "y", "f3.y"]


def test_numbers_that_slurm_cannot_hold_end_in_something_else() -> None:
    placed = {"a-0": {"tier-1": f"sw-{'1' * 19}"}}

    assert drawn(cluster(pool("a", 1, "f")), world(placed))[0].name == f"sw-{'1' * 19}_"


def test_a_static_worker_stays_where_it_was_while_it_has_no_pod() -> None:
    first = world({"a-0": {"tier-1": "s1"}, "a-1": {"tier-1": "s2"}})
    kept = topology.decide(first, "slurm1", SETTINGS).apply[0]
    later = world({"a-1": {"tier-1": "s3"}}, kept)

    assert topology.places(later, SETTINGS) == {"a-0": ((1, "s1"),), "a-1": ((1, "s3"),)}
    assert topology.decide(
        world({"a-0": {"tier-1": "s1"}, "a-1": {"tier-1": "s2"}}, kept), "slurm1", SETTINGS
    ).settled


def test_c35_an_ephemeral_worker_without_a_pod_is_unknown() -> None:
    kept = topology.decide(world({"a-0": {"tier-1": "s1"}}), "slurm1", SETTINGS).apply[0]

    assert topology.places(world({"a-1": {"tier-1": "s3"}}, kept, elastic=True), SETTINGS) == {
        "a-1": ((1, "s3"),)
    }


def test_what_is_remembered_is_not_trusted_to_be_ours() -> None:
    kept: dict[str, Any] = dict(
        topology.decide(world({"a-0": {"tier-1": "s1"}}), "slurm1", SETTINGS).apply[0]
    )
    kept["data"] = {topology.PLACES: "[1"}

    assert topology.places(world({"a-1": {}}, kept), SETTINGS) == {}
    assert dig(kept, "metadata", "name") == topology.name("slurm1")


def test_c36_blocks_hold_every_node_and_are_as_small_as_the_smallest() -> None:
    placed = {
        "a-0": {"tier-0": "r1"},
        "a-1": {"tier-0": "r1"},
        "a-2": {"tier-0": "r2"},
        "a-3": {"tier-0": "r2"},
        "a-4": {"tier-0": "r2"},
    }
    asked = cluster(pool("a", 6, "f"), pool("c", 1))
    planned = topology.plan(world(placed), asked, (), "topology/block", SETTINGS)

    assert drawn(asked, world(placed), block=True) == (
        Unit("f.unknown", ("a-5",)),
        Unit("r1", ("a-0", "a-1")),
        Unit("r2", ("a-2", "a-3", "a-4")),
        Unit("unknown", ("c-0",)),
    )
    assert "block_sizes: [2]" in planned.text
