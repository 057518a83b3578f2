from __future__ import annotations

from dataclasses import replace

import pytest

from npa.errors import QuotaError
from npa.render.nebius import inventory, quotas
from npa.render.nebius.inventory import Inventory
from npa.render.nebius.quotas import Allowance, Need
from npa.spec.model import SoperatorSpec, WorkerPoolSpec

GIB = 1 << 30
GPU = WorkerPoolSpec(
    name="gpu",
    platform="gpu-h200-sxm",
    preset="8gpu-128vcpu-1600gb",
    size=2,
    boot_disk_gib=1023,
    fabric="fabric-3",
    preemptible=True,
)
CPU = WorkerPoolSpec(name="cpu", preset="16vcpu-64gb", boot_disk_gib=128)
VCPU = Need("compute.instance.non-gpu.vcpu", 16, "vcpu", 16)
ROOM = Allowance(VCPU.quota, "tenant-1", "eu-north1", 100, 90, "count", "STATE_ACTIVE", "USAGE_STATE_USED")


def of_pools(*pools: WorkerPoolSpec) -> dict[str, int]:
    parts = [inventory.of_pool(pool) for pool in pools]
    things = Inventory(
        machines=tuple(each for part in parts for each in part.machines),
        disks=tuple(each for part in parts for each in part.disks),
    )
    return {need.quota: need.amount for need in quotas.needs_of(things)}


def verdict(*records: Allowance, need: Need = VCPU, owned: tuple[Need, ...] = ()) -> quotas.Verdict:
    return quotas.shortfalls([need], records, tenant="tenant-1", region="eu-north1", owned=owned)


def test_c09_preemptible_pools_count_machines_and_keep_their_disks() -> None:
    assert of_pools(GPU, CPU) == {
        "compute.instance.preemptible.count": 2,
        "compute.instance.count": 1,
        "compute.instance.non-gpu.vcpu": 16,
        "compute.disk.count": 3,
        "compute.disk.size.network-ssd": (128 + 2 * 1023) * GIB,
        "compute.gpucluster.count": 1,
        "vpc.allocation.count": 6,
    }


def test_c09_on_demand_changes_the_counters_of_instances_and_gpus_only() -> None:
    spot, bought = of_pools(GPU, CPU), of_pools(GPU.model_copy(update={"preemptible": False}), CPU)

    assert dict(bought.items() - spot.items()) == {
        "compute.instance.count": 3,
        "compute.instance.gpu.h200": 16,
    }
    assert spot.keys() - bought.keys() == {"compute.instance.preemptible.count"}


def test_c09_the_allowances_of_the_case_are_enough() -> None:
    def record(name: str, limit: int, unit: str = "count") -> Allowance:
        return replace(ROOM, name=name, limit=limit, usage=0, unit=unit, usage_state="USAGE_STATE_NOT_USED")

    pool = inventory.of_pool(GPU)
    found = quotas.shortfalls(
        quotas.needs_of(pool),
        [
            record("compute.instance.preemptible.count", 128),
            record("compute.instance.gpu.h200", 0),
            record("compute.disk.count", 10),
            record("compute.disk.size.network-ssd", 4096 * GIB, "byte"),
            record("compute.gpucluster.count", 1),
            record("vpc.allocation.count", 10),
        ],
        tenant="tenant-1",
        region="eu-north1",
    )

    assert found.ok
    assert found.shortfalls == ()


def test_reserved_gpus_are_counted_by_their_reservation() -> None:
    needs = of_pools(GPU.model_copy(update={"preemptible": False, "capacity_block_group": "x"}))

    assert needs["compute.instance.count"] == 2
    assert "compute.instance.gpu.h200" not in needs


def test_everything_around_the_workers_is_counted() -> None:
    spec = SoperatorSpec(
        name="quick", workers=(CPU.model_copy(update={"docker_cache": True}),), accounting=True
    )
    needs = {need.quota: need for need in quotas.needs(spec)}

    # 3 system nodes, controller, login and accounting nodes, 1 worker
    assert needs["compute.instance.count"].amount == 7
    assert needs["compute.instance.count"].grown == 7 + 21
    assert needs["compute.instance.non-gpu.vcpu"].amount == 3 * 16 + 16 + 16 + 8 + 16
    assert needs["compute.disk.count"].amount == 7 + 3
    assert needs["compute.disk.size.network-ssd-io-m3"].amount == (372 + 186 + 279) * GIB
    assert needs["compute.filesystem.count"].amount == 3
    assert needs["compute.filesystem.size.network-ssd"].amount == (512 + 128 + 512) * GIB
    assert needs["mk8s.cluster.count"].amount == 1
    assert "compute.gpucluster.count" not in needs


@pytest.mark.parametrize(("workers", "vcpus"), [(9, 16), (500, 32), (2000, 64)])
def test_the_sizing_tier_decides_the_system_nodes(workers: int, vcpus: int) -> None:
    spec = SoperatorSpec(name="quick", workers=(CPU.model_copy(update={"size": workers}),))
    system = inventory.of_control_plane(spec).machines[0]

    assert system.preset == f"{vcpus}vcpu-{vcpus * 4}gb"


def test_racks_have_no_login_node() -> None:
    racks = WorkerPoolSpec(name="w", platform="gpu-gb300", preset="4gpu-112vcpu-800gb", size=18, fabric="f")
    spec = SoperatorSpec(name="quick", workers=(racks,))

    assert "login node" not in [group.what for group in inventory.of_control_plane(spec).machines]


def test_a_shortfall_says_the_number_to_raise_to() -> None:
    (short,) = verdict(ROOM).shortfalls

    assert (short.needed, short.available, short.limit, short.raise_to) == (16, 10, 100, 106)
    assert str(short) == (
        "quota compute.instance.non-gpu.vcpu in eu-north1: needs 16 more, 10 free of 100; raise to 106 vcpu"
    )


def test_what_the_cluster_has_already_is_not_needed_again() -> None:
    assert verdict(ROOM, owned=(VCPU,)) == quotas.Verdict()
    assert verdict(ROOM, owned=(replace(VCPU, amount=8, grown=8),)).ok


def test_room_to_start_but_not_to_grow_is_told_and_does_not_stop() -> None:
    found = verdict(ROOM, need=replace(VCPU, amount=8, grown=32))

    assert found.ok
    assert [(each.later, each.raise_to_grow) for each in found.shortfalls] == [(True, 122)]


def test_every_shortfall_is_told_at_once() -> None:
    needs = [replace(VCPU, quota=name) for name in ("a", "b", "c")]
    found = quotas.shortfalls(
        needs, [replace(ROOM, name="a"), replace(ROOM, name="b")], tenant="tenant-1", region="eu-north1"
    )

    assert [each.quota for each in found.shortfalls] == ["a", "b"]
    assert [each.quota for each in found.unreadable] == ["c"]
    error = QuotaError([str(each) for each in found.shortfalls], [str(each) for each in found.unreadable])
    assert error.exit_code == 3


UNLIMITED = replace(ROOM, limit=None, usage=0, usage_state="USAGE_STATE_NOT_USED")


@pytest.mark.parametrize(
    "records",
    [
        pytest.param((), id="missing"),
        pytest.param((replace(ROOM, region="elsewhere"),), id="other-region"),
        pytest.param((replace(ROOM, scope="tenant-2"),), id="other-tenant"),
        pytest.param((ROOM, replace(ROOM, limit=500)), id="contradicting"),
        pytest.param((replace(ROOM, state="STATE_FROZEN"),), id="frozen"),
        pytest.param((replace(ROOM, unit="byte"),), id="other-unit"),
        pytest.param((replace(ROOM, usage_state="USAGE_STATE_UNKNOWN"),), id="usage-unknown"),
        pytest.param((replace(ROOM, usage=0, usage_state="USAGE_STATE_UNSPECIFIED"),), id="usage-left-out"),
        pytest.param((replace(ROOM, usage=0),), id="used-but-by-nothing"),
        pytest.param((replace(ROOM, usage_state="USAGE_STATE_NOT_USED"),), id="used-and-not"),
        pytest.param((replace(ROOM, usage=0, usage_percentage="nan"),), id="no-percentage"),
        pytest.param((replace(UNLIMITED, scope=""),), id="unlimited-for-nobody"),
        pytest.param((replace(UNLIMITED, usage_percentage="0.5"),), id="unlimited-but-half-used"),
    ],
)
def test_what_cannot_be_read_is_never_room(records: tuple[Allowance, ...]) -> None:
    found = verdict(*records)

    assert not found.ok
    assert found.shortfalls == ()
    assert [each.quota for each in found.unreadable] == [VCPU.quota]


@pytest.mark.parametrize(
    ("records", "ok"),
    [
        pytest.param((UNLIMITED,), True, id="unlimited-for-this-tenant"),
        pytest.param((replace(ROOM, usage=10), replace(ROOM, scope="", limit=10)), True, id="tenant-first"),
        pytest.param((UNLIMITED, ROOM), False, id="a-limit-before-none"),
        pytest.param((replace(ROOM, usage=10), replace(ROOM, usage=10)), True, id="said-twice"),
        pytest.param((replace(ROOM, usage=0, usage_percentage="0.841"),), False, id="share-rounded-up"),
        pytest.param((replace(ROOM, usage=0, usage_percentage="0.84"),), True, id="share"),
        pytest.param((replace(ROOM, usage=120),), False, id="over-its-limit"),
    ],
)
def test_which_record_decides(records: tuple[Allowance, ...], ok: bool) -> None:
    found = verdict(*records)

    assert found.ok is ok
    assert found.unreadable == ()
