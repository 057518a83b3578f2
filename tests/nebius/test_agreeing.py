"""A program agrees to each of Terraform's plans by its digest, and to no other; on real Terraform."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import cloud as clouds
from tests.fakes.cloud import Cloud
from tests.fakes.standin import needs_terraform

from npa.agent import provider
from npa.agent.errors import NotAgreedError
from npa.spec.model import WorkerPoolSpec
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.target import NebiusTarget

pytestmark = needs_terraform


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    with clouds.serve(tmp_path) as serving:
        yield serving


def deploy(cloud: Cloud, digest: str, **changes: Any) -> dict[str, Any]:
    spec = clouds.spec(**changes)
    agree = provider.agreeing({"spec": spec.model_dump(mode="json")}, digest)
    return NebiusTarget(cloud.outside).deploy(spec, NebiusOptions(), agree, lambda _: None)


def refused(cloud: Cloud, digest: str, **changes: Any) -> NotAgreedError:
    with pytest.raises(NotAgreedError) as caught:
        deploy(cloud, digest, **changes)
    return caught.value


def test_each_plan_is_done_by_the_call_that_names_its_digest(cloud: Cloud) -> None:
    first = refused(cloud, "of the public plan")
    assert "apply" not in cloud.commands
    assert cloud.ids("clusters") == []

    second = refused(cloud, first.digest)
    assert cloud.commands.count("apply") == 1
    assert second.digest != first.digest
    assert first.plan["steps"]
    assert second.plan["steps"]

    result = deploy(cloud, second.digest)
    assert result["status"] == "ready"
    assert cloud.commands.count("apply") == 2


def test_the_same_plan_has_the_same_digest_and_another_spec_another(cloud: Cloud) -> None:
    digest = refused(cloud, "").digest
    more = (WorkerPoolSpec(name="cpu", size=3),)

    assert refused(cloud, "").digest == digest
    assert refused(cloud, digest, workers=more).digest != digest
    assert "apply" not in cloud.commands
