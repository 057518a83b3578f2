"""Test beds for a session: an API server, with the real controllers, with Kubernetes' own validation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.kube import bed
from tests.kube.bed import Bed

GROUP = "slurm.nebius.ai/v1,slurm.nebius.ai/v1alpha1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def mini() -> Iterator[Bed]:
    """Give an API server of today's machinery: storage, watches, server-side apply, CRDs, webhooks."""
    with bed.started("mini") as found:
        yield found


@pytest.fixture(scope="session")
def controlled() -> Iterator[Bed]:
    """Give the same with the real controllers: StatefulSets, Deployments, Jobs, garbage collection."""
    with bed.started("mini", "controllers") as found:
        yield found


@pytest.fixture(scope="session")
def strict() -> Iterator[Bed]:
    """Give the real API server: RBAC, and Kubernetes' own validation of pods and workloads."""
    with bed.started("api", "crd136", "controllers", GROUP=GROUP) as found:
        yield found
