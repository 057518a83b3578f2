"""Deploy and destroy on real Terraform and git, with the stand-in recipe and the provider on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import cloud as clouds
from tests.fakes.cloud import Cloud
from tests.fakes.standin import needs_terraform

from npa.errors import RefusedError
from npa.plan.model import Plan
from npa.targets.nebius import records
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.target import NebiusTarget

pytestmark = needs_terraform


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    with clouds.serve(tmp_path) as serving:
        yield serving


def deploy(cloud: Cloud, spec: Any = None, *, plans: list[Plan] | None = None, **more: Any) -> dict[str, Any]:
    def agree(plan: Plan, _: bool) -> None:
        if plans is not None:
            plans.append(plan)

    return NebiusTarget(cloud.outside).deploy(
        spec or clouds.spec(), NebiusOptions(**more), agree, lambda _: None
    )


def destroy(cloud: Cloud, **more: Any) -> dict[str, Any]:
    return NebiusTarget(cloud.outside).destroy("quick", NebiusOptions(**more), lambda _: None)


def test_a_cluster_is_made_known_and_ended(cloud: Cloud) -> None:
    plans: list[Plan] = []
    result = deploy(cloud, plans=plans)

    record = records.load_sidecar(cloud.installation)
    assert (result["status"], result["deployment_status"], result["backend"]) == (
        "ready",
        "applied",
        "soperator",
    )
    assert result["replacement_guard"]["plans_checked"] == 2
    assert len(plans) == 2
    assert record is not None
    assert [record.cluster_id] == cloud.ids("clusters")
    assert set(record.filesystem_ids) == set(cloud.ids("filesystems"))
    assert cloud.commands.count("apply") == 2

    status = NebiusTarget(cloud.outside).status("quick", NebiusOptions())
    assert status.document()["capacity_status"] == "applied"
    assert status.report.ok, status.report

    assert destroy(cloud)["status"] == "destroyed"
    assert cloud.ids("clusters") + cloud.ids("filesystems") + cloud.ids("allocations") == []
    assert records.load_sidecar(cloud.installation) is None


def test_a_second_deploy_does_nothing(cloud: Cloud) -> None:
    deploy(cloud)
    before = cloud.ids("clusters")
    cloud.commands.clear()
    plans: list[Plan] = []
    deploy(cloud, plans=plans)

    assert plans == []
    assert "apply" not in cloud.commands
    assert cloud.ids("clusters") == before


def test_the_minimum_version_is_a_gate_before_anything_else(cloud: Cloud) -> None:
    cloud.minimum = (99, 0)

    with pytest.raises(RefusedError, match=r"older than 99\.0"):
        deploy(cloud)

    assert cloud.provider.calls == []
