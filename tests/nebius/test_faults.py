"""Deploy and destroy, killed after each write of each phase: the next run finishes, and nothing is doubled.

The points are those of `docs/reference/faults-nebius.md`.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import cloud as clouds
from tests.fakes.cloud import Cloud
from tests.fakes.standin import needs_terraform

from npa.errors import OwnershipError
from npa.plan.model import Plan
from npa.render.objects import Object
from npa.targets.nebius import records
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.target import NebiusTarget

pytestmark = needs_terraform
PAGE = Path(__file__).parents[2] / "docs/reference/faults-nebius.md"

DEPLOY = (
    ("after init", 1),
    ("after plan", 1),
    ("when asked", 1),
    ("before apply", 1),
    ("after apply", 1),
    ("after reading the state", 1),
    ("before a repair", 1),
    ("after a repair", 1),
    ("after plan", 2),
    ("when asked", 2),
    ("before apply", 2),
    ("after apply", 2),
    ("after reading the state", 2),
)
DESTROY = (
    ("after init", 1),
    ("after reading the state", 1),
    ("after plan", 1),
    ("before apply", 1),
    ("after apply", 1),
)


class Killed(BaseException):
    """The process is gone: nothing that comes after it has any effect."""


class Trap:
    """Kills at one point, and everything after it."""

    def __init__(self, cloud: Cloud, label: str, nth: int) -> None:
        self._at, self._seen = (label, nth), Counter[str]()
        self.dead = False
        self._real = cloud.kube.apply
        cloud.before = lambda command: self.hit(f"before {command}")
        cloud.after = lambda command: self.hit(f"after {self._named(command)}")
        cloud.kube.apply = self._apply  # type: ignore[method-assign]

    def hit(self, label: str) -> None:
        self._seen[label] += 1
        if self.dead or (label, self._seen[label]) == self._at:
            self.dead = True
            raise Killed(label)

    def _named(self, command: str) -> str:
        return "reading the state" if command == "state" else command

    def _apply(self, wanted: Object) -> Object:
        if threading.current_thread() is not threading.main_thread():
            return self._real(wanted)
        self.hit("before a repair")
        done = self._real(wanted)
        self.hit("after a repair")
        return done


def free(cloud: Cloud, trap: Trap) -> None:
    cloud.before = cloud.after = lambda _: None
    cloud.kube.apply = trap._real  # type: ignore[method-assign]


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    with clouds.serve(tmp_path) as serving:
        yield serving


def deploy(cloud: Cloud, trap: Trap | None = None) -> dict[str, Any]:
    def agree(_: Plan, __: bool) -> None:
        if trap:
            trap.hit("when asked")

    return NebiusTarget(cloud.outside).deploy(clouds.spec(), NebiusOptions(), agree, lambda _: None)


def destroy(cloud: Cloud) -> dict[str, Any]:
    return NebiusTarget(cloud.outside).destroy("quick", NebiusOptions(), lambda _: None)


@pytest.mark.parametrize(("label", "nth"), DEPLOY)
def test_a_deploy_that_was_killed_is_finished_by_the_next(cloud: Cloud, label: str, nth: int) -> None:
    trap = Trap(cloud, label, nth)
    with pytest.raises(Killed):
        deploy(cloud, trap)
    made = cloud.ids("clusters")
    free(cloud, trap)

    assert deploy(cloud)["status"] == "ready"
    record = records.load_sidecar(cloud.installation)
    assert record is not None
    assert made in ([], cloud.ids("clusters"))  # what was made is kept
    assert [record.cluster_id] == cloud.ids("clusters")
    assert sorted(record.filesystem_ids) == sorted(cloud.ids("filesystems"))
    assert sorted(record.allocation_ids) == sorted(cloud.ids("allocations"))
    assert destroy(cloud)["status"] == "destroyed"
    assert cloud.ids("clusters") + cloud.ids("filesystems") + cloud.ids("allocations") == []


@pytest.mark.parametrize(("label", "nth"), DESTROY)
def test_a_destroy_that_was_killed_is_finished_by_the_next(cloud: Cloud, label: str, nth: int) -> None:
    deploy(cloud)
    trap = Trap(cloud, label, nth)
    with pytest.raises(Killed):
        destroy(cloud)
    free(cloud, trap)

    assert destroy(cloud)["status"] == "destroyed"
    assert cloud.ids("clusters") + cloud.ids("filesystems") + cloud.ids("allocations") == []


def test_a_destroy_after_half_a_deploy_leaves_nothing(cloud: Cloud) -> None:
    trap = Trap(cloud, "after apply", 1)
    with pytest.raises(Killed):
        deploy(cloud, trap)
    free(cloud, trap)

    assert destroy(cloud)["status"] == "destroyed"
    assert cloud.ids("clusters") == []


def test_an_apply_that_was_killed_before_its_state_was_written_is_not_done_again(cloud: Cloud) -> None:
    trap = Trap(cloud, "after apply", 1)
    with pytest.raises(Killed):
        deploy(cloud, trap)
    free(cloud, trap)
    (cloud.installation / "terraform.tfstate").unlink()

    with pytest.raises(OwnershipError, match="unknown to the installation") as refused:
        deploy(cloud)
    assert "delete exactly these ids" in refused.value.hint
    assert len(cloud.ids("clusters")) == 1


def test_a_lost_state_is_not_made_anew(cloud: Cloud) -> None:
    deploy(cloud)
    (cloud.installation / "terraform.tfstate").unlink()

    with pytest.raises(OwnershipError, match="state is gone"):
        deploy(cloud)
    assert len(cloud.ids("clusters")) == 1


def test_the_page_names_every_point() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert [f"{label}, {nth}" for label, nth in (*DEPLOY, *DESTROY) if f"{label}, {nth} |" not in page] == []
