"""A fleet at the provider: real Terraform and git side by side, the provider on loopback."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import cloud as clouds
from tests.fakes import provider as fake
from tests.fakes.cloud import PROJECT, REGION, TENANT, Cloud
from tests.fakes.standin import needs_terraform

from npa.fleet import load, plan, provider, verbs
from npa.fleet.backends import Options
from npa.fleet.errors import FleetRefusedError
from npa.fleet.member import Fleet
from npa.fleet.outside import Outside
from npa.fleet.select import Selection
from npa.fleet.soperator import SoperatorBackend
from npa.spec.model import SoperatorSpec
from npa.targets.nebius import together
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.target import NebiusTarget
from npa.tools.nebius_network import Networks

pytestmark = needs_terraform

ALL, OPTIONS = Selection(), Options()


class CloudVerbs:
    """The verbs of `npa.api.nebius` on a cloud."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud, self._target = cloud, NebiusTarget(cloud.outside)

    def check_all(self, asked: Sequence[tuple[SoperatorSpec, NebiusOptions]]) -> tuple[str, ...]:
        return together.faults(self._cloud.outside, asked)

    def deploy(self, spec: SoperatorSpec, options: NebiusOptions, agree: Any, heard: Any) -> dict[str, Any]:
        return self._target.deploy(spec, options, agree, heard)

    def status(self, name: str, options: NebiusOptions) -> Any:
        return self._target.status(name, options)

    def plan_destroy(self, name: str, options: NebiusOptions, *, force: bool = False) -> Any:
        return self._target.plan_destroy(name, options, force=force)

    def destroy(self, name: str, options: NebiusOptions, *, heard: Any) -> dict[str, Any]:
        return self._target.destroy(name, options, heard)


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    with clouds.serve(tmp_path) as serving:
        monkeypatch.setenv("HOME", str(serving.home))  # where the installations are looked for
        yield serving


def given(cloud: Cloud) -> Outside:
    backend = SoperatorBackend(CloudVerbs(cloud))

    @contextmanager
    def networks() -> Iterator[Networks]:
        with Networks(cloud.provider.sdk(), deadline=10) as found:
            assert isinstance(found, Networks)
            yield found

    return Outside(cloud.home / "fleets", lambda _: backend, networks)


def lab(*names: str, size: int = 2) -> Fleet:
    return load.from_mapping(
        {
            "name": "lab",
            "tenant_id": TENANT,
            "region": REGION,
            "defaults": {"soperator": {"workers": [{"name": "cpu", "size": size}]}},
            "projects": [
                {"name": "team", "project_id": PROJECT, "clusters": [{"name": each} for each in names]}
            ],
        }
    )


def statuses(result: Any) -> dict[str, str]:
    return {each.claim.cluster: each.status for each in result.outcomes}


def test_two_clusters_side_by_side_and_nothing_after(cloud: Cloud) -> None:
    cloud.provider.held["subnets"] = []
    outside, fleet = given(cloud), lab("one", "two")
    shown = plan.deploy(fleet, ALL, OPTIONS, outside)
    result = verbs.deploy(shown, OPTIONS, outside, concurrency=2).result()

    assert statuses(result) == {"one": "healthy", "two": "healthy"}, [e.message for e in result.outcomes]
    assert len(cloud.ids("clusters")) == 2
    assert len(cloud.ids("networks")) == len(cloud.ids("subnets")) == 1, "one for both, made once"
    records, _ = outside.store("lab").records()
    assert {each.identity for each in records} == set(cloud.ids("clusters"))
    assert set(statuses(verbs.status("lab", ALL, outside))) == {"one", "two"}

    one = plan.destroy("lab", Selection(clusters=("one",)), OPTIONS, outside)
    assert statuses(verbs.destroy(one, OPTIONS, outside).result()) == {"one": "absent"}
    assert len(cloud.ids("networks")) == 1, "the other is in it"

    rest = verbs.destroy(plan.destroy("lab", ALL, OPTIONS, outside), OPTIONS, outside).result()
    assert statuses(rest) == {"two": "absent"}
    assert [(each.project, each.ok) for each in rest.networks] == [("team", True)]
    for kind in ("clusters", "filesystems", "allocations", "networks", "subnets"):
        assert cloud.ids(kind) == [], kind
    assert not outside.store("lab").exists()


def test_what_a_fleet_agreed_to_never_ends_nodes(cloud: Cloud) -> None:
    outside = given(cloud)
    grown = plan.deploy(lab("one"), ALL, OPTIONS, outside)
    assert grown.caveats == (provider.CAVEAT,)
    assert [each["shows"] for each in grown.public()["clusters"]] == ["spec"]
    assert statuses(verbs.deploy(grown, OPTIONS, outside).result()) == {"one": "healthy"}

    cloud.commands.clear()
    shrunk = plan.deploy(lab("one", size=1), ALL, OPTIONS, outside)
    result = verbs.deploy(shrunk, OPTIONS, outside).result()
    (outcome,) = result.outcomes
    assert (outcome.status, "apply" in cloud.commands) == ("refused", False)
    assert "would shrink from 2 nodes to 1 node" in outcome.message
    assert "--approve" in outcome.hint
    assert provider.ALONE in outcome.hint


def test_quotas_are_summed_before_anything_is_made(cloud: Cloud) -> None:
    cloud.provider.held["quotas"] = [
        fake.allowance("mk8s.cluster.count", 1, tenant=TENANT)
        if each.metadata.name == "mk8s.cluster.count"
        else each
        for each in cloud.provider.held["quotas"]
    ]
    outside = given(cloud)
    assert plan.deploy(lab("one"), ALL, OPTIONS, outside).ok
    shown = plan.deploy(lab("one", "two"), ALL, OPTIONS, outside)

    with pytest.raises(
        FleetRefusedError, match=r"mk8s\.cluster\.count in eu-north1: needs 2 more, 1 free of 1"
    ):
        verbs.deploy(shown, OPTIONS, outside)
    assert cloud.commands == []
    assert not outside.store("lab").exists()


def test_an_installation_that_a_person_made_is_refused(cloud: Cloud) -> None:
    outside = given(cloud)
    NebiusTarget(cloud.outside).deploy(
        clouds.spec(name="one"), NebiusOptions(project="lab"), lambda *_: None, lambda _: None
    )
    shown = plan.deploy(lab("one", "two"), ALL, OPTIONS, outside)

    assert [each.about for each in shown.lacks] == ["team/one"]
    assert "did not make" in shown.lacks[0].message
