"""What is known is shown; what is not is said."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.nebius.after import CLUSTER, NAME, PROJECT, FakeKube, FakeProvider

from npa.errors import KubeError, OwnershipError
from npa.render.objects import DEPLOYMENT
from npa.slurm.lookup import Absent, Found, Unknown
from npa.targets.nebius import binding
from npa.targets.nebius.status import observation, status
from npa.tools.kube import Access, Executed

ROW = {"name": "gpu-0", "state": ["IDLE"], "cpus": 128, "real_memory": 1000, "gres": "gpu:h100:8"}


def group(name: str, pool: str = "", nodes: int | None = 1, **template: Any) -> dict[str, Any]:
    labels = {"metadata": {"labels": {"slurm.nebius.ai/nodeset": pool}}} if pool else {}
    return {"attributes": {"name": name, "fixed_node_count": nodes, "template": {**labels, **template}}}


def state(*groups: dict[str, Any]) -> Found[Mapping[str, Any]]:
    workers = {
        "mode": "managed",
        "type": "nebius_mk8s_v1_node_group",
        "name": "worker_v2",
        "instances": list(groups),
    }
    return Found({"serial": 3, "resources": [workers]})


def answer(_: str, argv: Sequence[str]) -> Executed:
    answers = {
        "scontrol": {"nodes": [ROW], "meta": {"slurm": {"release": "25.11.3"}}},
        "squeue": {"jobs": []},
    }
    return Executed(0, json.dumps(answers[argv[0]]))


STRICT: dict[str, Any] = {
    "reservation_policy": {"policy": "STRICT", "reservation_ids": ["capacityblockgroup-1"]}
}


def test_groups_and_nodes_are_shown_without_reservations() -> None:
    found = status("lab", Found(FakeKube(answer)), state(group("gpu-0", **STRICT), group("cpu-0")))

    public = found.public()

    assert public["pools"] == {"cpu": "on-demand", "gpu": "reserved"}
    assert public["nodes"] == [{"name": "gpu-0", "state": "IDLE", "reason": "", "gres": "gpu:h100:8"}]
    assert (public["cluster"], public["slurm_version"], public["unknown"]) == ("present", "25.11.3", [])
    assert "capacityblockgroup" not in str(public)


@pytest.mark.parametrize(
    ("groups", "modes"),
    [
        ([group("gpu-1-0", "gpu-1"), group("gpu-0", "gpu")], {"gpu": "on-demand", "gpu-1": "on-demand"}),
        ([group("gpu-0", preemptible={}), group("gpu-1")], {"gpu": "mixed"}),
        ([group("gpu-0", reservation_policy={"policy": "AUTO"})], {"gpu": "unknown"}),
        ([group("gpu-0", preemptible={}, **STRICT)], {"gpu": "unknown"}),
        ([group("gpu-0", preemptible=None, reservation_policy=None)], {"gpu": "on-demand"}),
    ],
)
def test_a_pool_has_the_mode_of_its_groups(groups: list[dict[str, Any]], modes: dict[str, str]) -> None:
    assert status("lab", Absent(), state(*groups)).capacity == modes


def test_what_cannot_be_read_is_unknown_and_not_nothing() -> None:
    def broken(_: str, __: Sequence[str]) -> Executed:
        raise KubeError("exec in controller-0: no answer within the deadline")

    found = status("lab", Found(FakeKube(broken)), Found({}))

    assert (found.nodes, found.node_groups) == (None, None)
    assert found.unknown == (
        "node groups: there is no state",
        "slurm: exec in controller-0: no answer within the deadline",
    )


def test_c68_a_webhook_that_is_down_is_the_cause_of_it_all() -> None:
    kube = FakeKube(lambda _, __: Executed(1, "", "no such pod"))
    kube.put(DEPLOYMENT, "kruise-controller-manager", "kruise-system", status={"replicas": 1})

    found = status("lab", Found(kube), state())

    assert found.causes == ("kruise webhook not ready: no pod can be made until it is",)
    assert observation(found, ("gpu-0",)).problems[0] == found.causes[0]


def test_a_cluster_that_cannot_be_reached_is_not_taken_for_gone() -> None:
    unreachable = status("lab", Unknown("the provider did not answer"), state())
    gone = status("lab", Absent(), state())

    assert (unreachable.cluster, gone.cluster) == ("unknown", "absent")
    assert observation(unreachable, ()).state == "present"
    assert observation(unreachable, ()).problems == ("cluster: the provider did not answer",)


def test_the_way_to_a_cluster_is_bound_to_what_the_provider_says_of_its_id() -> None:
    provider, seen = FakeProvider(), list[Access]()

    def to(access: Access) -> FakeKube:
        seen.append(access)
        return FakeKube()

    found = binding.connect(provider, CLUSTER, NAME, PROJECT, to=to)

    assert isinstance(found, Found)
    assert (seen[0].cluster_id, seen[0].endpoint, seen[0].token()) == (CLUSTER, "https://127.0.0.1:1", "t")
    assert isinstance(binding.connect(provider, CLUSTER, NAME, PROJECT, private=True, to=to), Unknown)
    assert binding.connect(provider, "mk8scluster-2", NAME, PROJECT, to=to) == Absent()
    with pytest.raises(OwnershipError):
        binding.connect(provider, CLUSTER, NAME, "project-2", to=to)
