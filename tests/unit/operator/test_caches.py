from __future__ import annotations

from typing import Any, cast

from npa.operator.caches import Caches
from npa.render.objects import NODE_SET, POWER_STATE, SLURM_CLUSTER, Kind, name_of
from npa.tools.kube_api import KubeApi


def caches(*found: tuple[Kind, dict[str, Any]]) -> Caches:
    made = Caches(cast(KubeApi, None), (), lambda *_: None)
    for kind, each in found:
        made.store(kind).put(each)
    return made


ONE, TWO = (
    (SLURM_CLUSTER, SLURM_CLUSTER.object("one", "ns")),
    (SLURM_CLUSTER, SLURM_CLUSTER.object("two", "ns")),
)
NAMED = NODE_SET.object("named", "ns", spec={"clusterName": "one"})
UNNAMED = NODE_SET.object("unnamed", "ns", spec={})
STATE = POWER_STATE.object("named", "ns", spec={"nodeSetRef": "named"})


def test_a_nodeset_that_names_no_cluster_is_of_the_only_one() -> None:
    one = caches(ONE, (NODE_SET, NAMED), (NODE_SET, UNNAMED))

    assert one.cluster_of(NODE_SET, UNNAMED) == "one"
    assert sorted(map(name_of, one.of_cluster(NODE_SET, "ns", "one"))) == ["named", "unnamed"]


def test_between_two_clusters_it_is_of_none() -> None:
    both = caches(ONE, TWO, (NODE_SET, NAMED), (NODE_SET, UNNAMED))

    assert both.cluster_of(NODE_SET, UNNAMED) == ""
    assert both.of_cluster(NODE_SET, "ns", "two") == ()


def test_a_power_state_is_of_its_nodeset_s_cluster() -> None:
    found = caches(ONE, TWO, (NODE_SET, NAMED), (POWER_STATE, STATE))

    assert found.cluster_of(POWER_STATE, STATE) == "one"
    assert found.of_cluster(POWER_STATE, "ns", "one") == (STATE,)
    assert found.of_cluster(POWER_STATE, "ns", "two") == ()


def test_what_was_never_listed_is_unread() -> None:
    assert set(caches().unread()) >= {"Pod", "Node", "SlurmCluster", "Secret"}
