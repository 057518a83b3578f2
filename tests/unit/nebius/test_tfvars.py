from __future__ import annotations

from typing import Any

import pytest

from npa.errors import RefusedError
from npa.render.nebius import adapter, tfvars
from npa.render.nebius.tfvars import Resolved
from npa.spec.model import PartitionSpec, SoperatorSpec, WorkerPoolSpec

KEY = Resolved("ssh-ed25519 AAAA")
CPU = WorkerPoolSpec(name="cpu")


def gpu(**more: Any) -> WorkerPoolSpec:
    return WorkerPoolSpec(
        name="gpu", platform="gpu-b200-sxm", preset="8gpu-160vcpu-1792gb", fabric="us-central1-b", **more
    )


def variables(*pools: WorkerPoolSpec, resolved: Resolved = KEY, **more: Any) -> dict[str, Any]:
    return dict(tfvars.variables(SoperatorSpec(name="small", workers=pools, **more), resolved))


def worker(pool: WorkerPoolSpec, resolved: Resolved = KEY) -> dict[str, Any]:
    found: dict[str, Any] = variables(pool, resolved=resolved)["slurm_nodeset_workers"][0]
    return found


def test_a_reservation_is_strict_and_one() -> None:
    policy = worker(gpu(capacity_block_group=" cbg-a "))["reservation_policy"]

    assert policy == {"policy": "STRICT", "reservation_ids": ("cbg-a",)}


def test_a_reservation_by_name_takes_the_id_that_was_found() -> None:
    found = Resolved("key", {"gpu": "cbg-b"})

    assert worker(gpu(capacity_block_group_name="night"), found)["reservation_policy"]["reservation_ids"] == (
        "cbg-b",
    )


def test_a_reservation_by_name_without_an_id_is_no_cluster() -> None:
    with pytest.raises(ValueError, match="pool gpu: its reservation has not been looked up"):
        worker(gpu(capacity_block_group_name="night"))


def test_another_reservation_than_the_one_that_was_checked_is_refused() -> None:
    with pytest.raises(ValueError, match="not the one that is asked for"):
        worker(gpu(capacity_block_group="cbg-a"), Resolved("key", {"gpu": "cbg-b"}))


def test_reservations_are_in_no_repr() -> None:
    assert "cbg-b" not in repr(Resolved("key", {"gpu": "cbg-b"}))


def test_a_pool_that_is_not_reserved_has_no_policy() -> None:
    assert worker(gpu(preemptible=True))["reservation_policy"] is None
    assert worker(gpu(preemptible=True))["preemptible"] == {}
    assert worker(CPU)["gpu_cluster"] is None


@pytest.mark.parametrize(
    ("pool", "more", "scope"),
    [
        (gpu(), {"accounting": True}, "dev"),
        (gpu(), {"accounting": True, "slurm_rest_enabled": False}, "essential"),
        (gpu(), {}, "essential"),
        (CPU, {"accounting": True}, "essential"),
    ],
)
def test_the_scope_of_checks(pool: WorkerPoolSpec, more: dict[str, Any], scope: str) -> None:
    assert variables(pool, **more)["active_checks_scope"] == scope


def test_c20_pools_keep_the_places_that_they_have() -> None:
    pools = tuple(WorkerPoolSpec(name=name) for name in ("new", "viz", "cpu", "gpu"))
    found = variables(*pools, resolved=Resolved("key", pool_order=("cpu", "gpu", "viz")))

    assert [each["name"] for each in found["slurm_nodeset_workers"]] == ["cpu", "gpu", "viz", "new"]


def test_c20_reordering_pools_alone_changes_no_byte() -> None:
    pools = tuple(WorkerPoolSpec(name=name) for name in ("cpu", "viz"))
    deployed = Resolved("key", pool_order=("cpu", "viz"))
    texts = {
        tfvars.render(SoperatorSpec(name="small", workers=each), deployed) for each in (pools, pools[::-1])
    }

    assert len(texts) == 1


def test_partitions_refer_to_racks() -> None:
    pool = WorkerPoolSpec(name="gb", platform="gpu-gb300", preset="4gpu-112vcpu-800gb", size=36, fabric="f")
    found = variables(pool, partitions=(PartitionSpec(name="a", pools=("gb",), default=True),))

    assert found["slurm_nodesets_partitions"][0]["slurm_nodeset_refs"] == ("gb-rack0", "gb-rack1")


def test_the_pin_is_known_and_nothing_else() -> None:
    assert adapter.adapter(adapter.PIN.upper()).chart == "4.1.6"
    with pytest.raises(RefusedError) as caught:
        adapter.adapter("0" * 40)

    assert adapter.PIN in caught.value.hint
