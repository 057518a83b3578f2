"""Whether several clusters fit together: one sum over the fleet, against a provider on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import provider as fake
from tests.fakes.provider import Provider

from npa.errors import IdentityError, ProviderError
from npa.render.nebius import quotas, several
from npa.render.nebius.quotas import Need
from npa.spec.model import SoperatorSpec, WorkerPoolSpec
from npa.targets.nebius import together
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.outside import Outside
from npa.tools.nebius import Nebius

PLACE = {"tenant_id": "tenant-1", "project_id": "project-1", "region": "eu-north1"}
CPU = WorkerPoolSpec(name="cpu", size=2)
GPU = WorkerPoolSpec(
    name="gpu",
    platform="gpu-h200-sxm",
    preset="8gpu-128vcpu-1600gb",
    size=1,
    fabric="fabric-3",
    capacity_block_group="cbg-1",
)


def spec(name: str, *pools: WorkerPoolSpec, **more: Any) -> SoperatorSpec:
    return SoperatorSpec(name=name, workers=pools or (CPU,), **{**PLACE, **more})


def quota(wanted: SoperatorSpec, times: float) -> list[Any]:
    """Return quotas for so many clusters like this one."""
    return [
        fake.allowance(need.quota, int(need.grown * times), unit="byte" if need.unit == "byte" else "count")
        for need in quotas.needs(wanted)
    ]


@pytest.fixture
def provider() -> Iterator[Provider]:
    with fake.serve(Provider({"projects": [fake.project()]})) as served:
        yield served


def faults(provider: Provider, home: Path, *specs: SoperatorSpec) -> tuple[str, ...]:
    outside = Outside(
        environ={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        connect=lambda _: Nebius(provider.sdk(), deadline=10),
    )
    return together.faults(outside, [(each, NebiusOptions()) for each in specs])


def test_what_fits_alone_may_not_fit_together(provider: Provider, tmp_path: Path) -> None:
    provider.held["quotas"] = quota(spec("one"), 2.5)
    one, two, three = (spec(name) for name in ("one", "two", "three"))

    assert faults(provider, tmp_path, one) == faults(provider, tmp_path, one, two) == ()
    found = faults(provider, tmp_path, one, two, three)
    assert any("mk8s.cluster.count" in each and "needs 3 more, 2 free of 2" in each for each in found)


def test_one_reservation_is_counted_once_for_all(provider: Provider, tmp_path: Path) -> None:
    provider.held |= {
        "quotas": quota(spec("one", GPU), 9),
        "blocks": [fake.block("cbg-1", limit=8, usage=0)],
        "advice": [fake.advised(1)],
    }
    one, two = spec("one", GPU), spec("two", GPU)

    assert faults(provider, tmp_path, one) == ()
    found = faults(provider, tmp_path, one, two)
    assert any("'one/gpu', 'two/gpu' together: needs 2 more, 1 free" in each for each in found)


def test_a_project_is_asked_about_once(provider: Provider, tmp_path: Path) -> None:
    provider.held["quotas"] = quota(spec("one"), 9)
    faults(provider, tmp_path, *(spec(f"c-{index}a") for index in range(5)))

    assert provider.calls.count("ProjectService/Get") == 1
    assert provider.calls.count("QuotaAllowanceService/List") == 1


def test_a_quota_that_cannot_be_read_is_no_room(provider: Provider, tmp_path: Path) -> None:
    provider.held["quotas"] = [
        each for each in quota(spec("one"), 9) if each.metadata.name != "mk8s.cluster.count"
    ]

    assert any("there is no record of it" in each for each in faults(provider, tmp_path, spec("one")))


def test_nobody_to_ask_and_no_identity_are_errors(provider: Provider, tmp_path: Path) -> None:
    with pytest.raises(IdentityError):
        faults(provider, tmp_path, spec("one", project_id=""))
    with pytest.raises(IdentityError):
        faults(provider, tmp_path, spec("one", region="us-central1"))
    with pytest.raises(ProviderError):
        faults(provider, tmp_path, spec("one", project_id="project-9"))
    assert faults(provider, tmp_path) == ()


def test_what_a_cluster_has_is_credited_to_it_alone() -> None:
    def need(amount: int, grown: int) -> Need:
        return Need("disks", amount, "count", grown)

    shrunk = several.beyond([need(2, 3)], [need(9, 9)])
    grown = several.beyond([need(5, 7)], [need(4, 4)])

    assert shrunk == ()
    assert grown == (need(1, 3),)
    assert several.together([shrunk, grown, grown]) == (need(2, 6),)
