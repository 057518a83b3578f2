from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.fakes import provider as fake
from tests.fakes.provider import Provider

from npa.errors import CapacityError, QuotaError
from npa.render.nebius import capacity, preflight, prices, quotas
from npa.render.nebius.capacity import Identity, World
from npa.render.nebius.preflight import Preflight
from npa.spec.model import SoperatorSpec, WorkerPoolSpec
from npa.tools.nebius import Nebius

HERE = Identity("tenant-1", "project-1", "eu-north1")
GPU = WorkerPoolSpec(
    name="gpu",
    platform="gpu-h200-sxm",
    preset="8gpu-128vcpu-1600gb",
    size=2,
    fabric="fabric-3",
    capacity_block_group="cbg-1",
)
SPEC = SoperatorSpec(name="quick", workers=(GPU,))
STATE: dict[str, Any] = {"resources": []}


def enough() -> list[Any]:
    units = {"byte": "byte"}
    return [
        fake.allowance(need.quota, need.grown, unit=units.get(need.unit, "count"))
        for need in quotas.needs(SPEC)
    ]


@pytest.fixture
def provider() -> Iterator[Provider]:
    held = {
        "projects": [fake.project()],
        "quotas": enough(),
        "blocks": [fake.block("cbg-1", limit=16, usage=0)],
        "advice": [fake.advised(2)],
    }
    with fake.serve(Provider(held)) as serving:
        yield serving


def look(provider: Provider, spec: SoperatorSpec = SPEC) -> Preflight:
    with Nebius(provider.sdk(), deadline=5) as client:
        seen = client.survey(HERE.tenant, HERE.project, reserved=bool(capacity.reserved(spec)))
        elsewhere = {key: client.capacity_block_group(key) for key in capacity.lookups(spec, seen.blocks)}
    world = World(seen.project, seen.blocks, seen.advice, elsewhere=elsewhere)
    return preflight.assess(spec, HERE, world, seen.allowances, STATE, prices.UNKNOWN)


def test_a_cluster_that_fits_exactly_fits(provider: Provider) -> None:
    provider.page_size = 3
    found = look(provider)

    assert found.ok
    assert found.capacity.ids == {"gpu": "cbg-1"}
    preflight.refuse(found)


def test_everything_that_stands_against_it_is_told(provider: Provider) -> None:
    provider.held["quotas"] = [
        *(
            each
            for each in enough()
            if each.metadata.name not in ("compute.disk.count", "mk8s.cluster.count")
        ),
        fake.allowance("compute.disk.count", 4, 1),
    ]
    provider.held["blocks"] = []
    found = look(provider)

    assert [each.raise_to for each in found.quotas.blocking] == [1 + 9]
    assert [each.quota for each in found.quotas.unreadable] == ["mk8s.cluster.count"]
    with pytest.raises(CapacityError, match="pool 'gpu': its reservation is not there"):
        preflight.refuse(found)


@pytest.mark.parametrize(
    ("records", "fits"),
    [
        pytest.param([fake.allowance("compute.disk.count", None)], True, id="unlimited"),
        pytest.param(
            [fake.allowance("compute.disk.count", None, tenant="")], False, id="unlimited-for-nobody"
        ),
        pytest.param([fake.allowance("compute.disk.count", 99)] * 2, True, id="said-twice"),
        pytest.param(
            [fake.allowance("compute.disk.count", 99), fake.allowance("compute.disk.count", 98)],
            False,
            id="contradicting",
        ),
        pytest.param([fake.allowance("compute.disk.count", 99, unit="byte")], False, id="other-unit"),
    ],
)
def test_records_as_the_provider_writes_them(provider: Provider, records: list[Any], fits: bool) -> None:
    others = [each for each in enough() if each.metadata.name != "compute.disk.count"]
    provider.held["quotas"] = [*others, *records]
    found = look(provider)

    assert found.ok is fits
    if not fits:
        with pytest.raises(QuotaError):
            preflight.refuse(found)


def test_stale_advice_is_no_room(provider: Provider) -> None:
    provider.held["advice"] = [fake.advised(9, fresh=False)]

    assert "not fresh" in look(provider).capacity.refusals[0]


def test_what_is_shown_has_no_selector(provider: Provider) -> None:
    provider.held["blocks"] = []
    shown = json.dumps(look(provider).public())

    assert "cbg-" not in shown
    assert json.loads(shown)["cost"]["known_hourly"] is None


def test_without_reserved_pools_reservations_are_not_read(provider: Provider) -> None:
    spec = SPEC.model_copy(update={"workers": (GPU.model_copy(update={"capacity_block_group": ""}),)})
    look(provider, spec)

    assert not [call for call in provider.calls if call.startswith(("Capacity", "Resource"))]
