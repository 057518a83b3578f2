from __future__ import annotations

from typing import Any

import pytest

from npa.errors import IdentityError
from npa.render.nebius import existing, inventory, quotas
from npa.render.nebius.capacity import Owned
from npa.render.nebius.held import NODE_GROUP
from npa.spec.model import SoperatorSpec, WorkerPoolSpec

PRESET = "8gpu-128vcpu-1600gb"
GPU = WorkerPoolSpec(
    name="gpu",
    platform="gpu-h200-sxm",
    preset=PRESET,
    size=4,
    fabric="fabric-3",
    capacity_block_group="cbg-x",
    docker_cache=True,
)
SPEC = SoperatorSpec(name="quick", workers=(GPU,))
GIB = 1 << 30


def resource(kind: str, name: str, *attributes: Any) -> dict[str, Any]:
    instances = [{"attributes": each} for each in attributes]
    return {"mode": "managed", "type": kind, "name": name, "instances": instances}


def group(platform: str = "cpu-d3", preset: str = "16vcpu-64gb", **rest: Any) -> dict[str, Any]:
    return {"template": {"resources": {"platform": platform, "preset": preset}}, **rest}


def workers(count: Any = 4, ids: Any = ("cbg-x",), policy: str = "STRICT") -> dict[str, Any]:
    nodes = group("gpu-h200-sxm", PRESET, fixed_node_count=count)
    nodes["template"] |= {
        "metadata": {"labels": {"slurm.nebius.ai/nodeset": "gpu"}},
        "reservation_policy": {"policy": policy, "reservation_ids": list(ids)},
    }
    return nodes


def state(**changed: Any) -> dict[str, Any]:
    parts = {
        "cluster": resource("nebius_mk8s_v1_cluster", "this", {"id": "c"}),
        "system": resource(
            NODE_GROUP, "system", group(autoscaling={"min_node_count": 3, "max_node_count": 24})
        ),
        "controller": resource(NODE_GROUP, "controller", group(fixed_node_count=1)),
        "login": resource(NODE_GROUP, "login", group(fixed_node_count=1)),
        "workers": resource(NODE_GROUP, "worker_v2", workers()),
        "jail": resource(existing.FILESYSTEM, "jail", {"name": "quick-jail", "size_gibibytes": 512}),
        "spool": resource(
            existing.FILESYSTEM, "spool", {"name": "quick-controller-spool", "size_gibibytes": 128}
        ),
        "address": resource(existing.ALLOCATION, "this", {"id": "a"}),
        "slurm": resource(existing.SLURM, "soperator", {"name": "soperator"}),
        **changed,
    }
    return {"serial": 1, "resources": [part for part in parts.values() if part]}


def still_needed(
    spec: SoperatorSpec, held: dict[str, Any], cached: tuple[str, ...] = ("gpu",)
) -> dict[str, int]:
    own = {n.quota: n.amount for n in quotas.needs_of(existing.inventory_of(held, spec, cached=cached))}
    needs = {need.quota: need.amount - own.get(need.quota, 0) for need in quotas.needs(spec)}
    return {quota: more for quota, more in needs.items() if more}


def test_a_cluster_that_is_there_needs_nothing_more() -> None:
    assert still_needed(SPEC, state()) == {}


def test_without_a_state_everything_is_needed() -> None:
    empty: dict[str, Any] = {"resources": []}

    assert still_needed(SPEC, empty) == {need.quota: need.amount for need in quotas.needs(SPEC)}
    assert existing.reserved(empty) == ()


def test_a_larger_pool_needs_the_difference() -> None:
    larger = SPEC.model_copy(update={"workers": (GPU.model_copy(update={"size": 5}),)})

    assert still_needed(larger, state()) == {
        "compute.instance.count": 1,
        "compute.disk.count": 2,
        "compute.disk.size.network-ssd": 512 * GIB,
        "compute.disk.size.network-ssd-io-m3": 372 * GIB,
        "vpc.allocation.count": 2,
    }


def test_a_larger_jail_needs_the_difference() -> None:
    larger = SPEC.model_copy(update={"jail_size_gib": 1000})

    assert still_needed(larger, state()) == {"compute.filesystem.size.network-ssd": 488 * GIB}


@pytest.mark.parametrize(
    "nodes",
    [
        pytest.param(workers(policy="FORBID"), id="other-way-to-pay"),
        pytest.param(workers() | {"template": {}}, id="no-shape"),
        pytest.param(workers("4"), id="no-count"),
    ],
)
def test_nodes_that_are_not_certainly_the_pools_are_not_credited(nodes: dict[str, Any]) -> None:
    found = existing.inventory_of(state(workers=resource(NODE_GROUP, "worker_v2", nodes)), SPEC)

    assert [each.count for each in found.machines if each.what == "pool 'gpu'"] == [0]
    assert found.fabrics == ()


def test_image_caches_are_credited_only_where_they_were_on() -> None:
    assert still_needed(SPEC, state(), cached=())["compute.disk.count"] == 4


def test_volumes_are_there_once_slurm_is() -> None:
    assert still_needed(SPEC, state(slurm=None))["compute.disk.count"] == 2
    assert inventory.of_control_plane(SPEC).disks


def test_own_reserved_gpus_are_read_from_the_state() -> None:
    assert existing.reserved(state()) == (Owned("cbg-x", PRESET, 32),)
    assert existing.reserved(state(workers=resource(NODE_GROUP, "worker_v2", workers(policy="AUTO")))) == ()


@pytest.mark.parametrize(
    "nodes",
    [
        pytest.param(workers(ids=()), id="no-id"),
        pytest.param(workers(ids=("cbg-x", "cbg-y")), id="two-ids"),
        pytest.param(workers(None), id="no-count"),
        pytest.param(workers(-1), id="negative"),
        pytest.param(workers(True), id="true"),
        pytest.param(None, id="no-attributes"),
    ],
)
def test_a_state_that_is_not_clear_about_a_reservation_is_refused(nodes: Any) -> None:
    with pytest.raises(IdentityError) as raised:
        existing.reserved(state(workers=resource(NODE_GROUP, "worker_v2", nodes)))

    assert "cbg-" not in str(raised.value)


def test_a_state_without_resources_is_no_state() -> None:
    with pytest.raises(IdentityError):
        existing.reserved({"resources": "x"})
