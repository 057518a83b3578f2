from __future__ import annotations

from typing import Any

import pytest

from npa.operator import keys, kinds
from npa.operator.keys import Controller, Key
from npa.reconcile.decision import Decision
from npa.render.kube import names
from npa.render.objects import (
    CONFIG_MAP,
    DAEMON_SET,
    NODE,
    NODE_CONFIGURATOR,
    NODE_SET,
    POD,
    SLURM_CLUSTER,
    Kind,
)


def nothing(*_: Any) -> Decision:
    return Decision()


CONTROLLERS = (
    Controller("slurmcluster", SLURM_CLUSTER, nothing),
    Controller("nodeset", NODE_SET, nothing),
    Controller("nodeconfigurator", NODE_CONFIGURATOR, nothing),
)
SETS = ("cpu", "gpu")


def of_cluster(kind: Kind, namespace: str, cluster: str) -> tuple[str, ...]:
    return SETS if kind == NODE_SET and (namespace, cluster) == ("ns", "c") else ()


def labelled(kind: Kind, **more: Any) -> dict[str, Any]:
    made = kind.object("x", "ns", **more)
    made["metadata"]["labels"] = names.labels("c", "common")
    return made


def woken(kind: Kind, found: dict[str, Any]) -> set[Key]:
    return set(keys.changed(CONTROLLERS, kind, found, kinds.cluster_of(kind, found), of_cluster))


CLUSTER = Key("slurmcluster", "ns", "c")
EACH_SET = {Key("nodeset", "ns", name) for name in SETS}


def worker() -> dict[str, Any]:
    made = labelled(POD)
    made["metadata"]["labels"][names.NODE_SET] = "gpu"
    return made


def owned() -> dict[str, Any]:
    made = DAEMON_SET.object("x", "ns")
    made["metadata"]["ownerReferences"] = [{"kind": "NodeConfigurator", "name": "t", "uid": "u"}]
    return made


@pytest.mark.parametrize(
    ("kind", "found", "wakes"),
    [
        pytest.param(SLURM_CLUSTER, SLURM_CLUSTER.object("c", "ns"), {CLUSTER, *EACH_SET}, id="cluster"),
        pytest.param(CONFIG_MAP, labelled(CONFIG_MAP), {CLUSTER, *EACH_SET}, id="part-of-a-cluster"),
        pytest.param(POD, worker(), {CLUSTER, Key("nodeset", "ns", "gpu")}, id="worker"),
        pytest.param(
            NODE_SET,
            NODE_SET.object("new", "ns", spec={"clusterName": "c"}),
            {CLUSTER, *EACH_SET, Key("nodeset", "ns", "new")},
            id="nodeset",
        ),
        pytest.param(DAEMON_SET, owned(), {Key("nodeconfigurator", "ns", "t")}, id="owned-without-a-cluster"),
        pytest.param(CONFIG_MAP, CONFIG_MAP.object("x", "ns"), set(), id="somebody-else-s"),
    ],
)
def test_a_change_wakes_whom_it_concerns(kind: Kind, found: dict[str, Any], wakes: set[Key]) -> None:
    assert woken(kind, found) == wakes


def kubernetes_node(**status: Any) -> dict[str, Any]:
    condition = {"type": "Ready", "status": "True", "lastHeartbeatTime": "1"}
    made = NODE.object("n", spec={}, status={"conditions": [condition], "images": [1], **status})
    return dict(kinds.node(made))


def test_a_heartbeat_of_a_node_matters_to_nobody() -> None:
    old, new = kubernetes_node(), kubernetes_node(allocatable={"cpu": "2"})

    assert not keys.matters(old, new, NODE)
    assert keys.matters(old, {**new, "spec": {"unschedulable": True}}, NODE)
    assert keys.matters(None, new, NODE)


def test_an_old_nodeset_names_its_cluster_in_an_annotation() -> None:
    found = NODE_SET.object("s", "ns")
    found["metadata"]["annotations"] = {"slurm.nebius.ai/parental-cluster-ref": "c"}

    assert kinds.cluster_of(NODE_SET, found) == "c"


def test_each_kind_is_watched_once_in_each_namespace_and_nodes_once() -> None:
    found = [(each.kind.kind, each.namespace) for each in kinds.watches(("a", "b"), (POD, NODE))]

    assert found == [("Pod", "a"), ("Pod", "b"), ("Node", "a")]


def test_only_parts_of_clusters_are_read_of_kinds_that_others_use_too() -> None:
    selectors = {each.kind.kind: each.selector for each in kinds.watches((), (POD, SLURM_CLUSTER, NODE))}

    assert selectors == {"Pod": kinds.SELECTOR, "SlurmCluster": "", "Node": ""}


def test_a_controller_that_reads_only_some_kinds_is_not_woken_by_others() -> None:
    some = Controller("some", SLURM_CLUSTER, nothing, frozenset({POD}))

    def wakes(kind: Kind) -> bool:
        found = labelled(kind)
        return bool(set(keys.changed((some,), kind, found, kinds.cluster_of(kind, found), of_cluster)))

    assert [wakes(POD), wakes(CONFIG_MAP), wakes(SLURM_CLUSTER)] == [True, False, True]
