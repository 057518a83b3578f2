from __future__ import annotations

from pathlib import Path

import pytest

from npa.targets.local import room
from npa.targets.local.paths import Paths

TOP = Path(__file__).parents[3]


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "state", tmp_path / "cache", TOP)


def test_a_small_cluster_has_room(paths: Paths) -> None:
    assert list(room.lacks([], [], paths)) == []
    assert room.available() > room.CLUSTER_BYTES


def test_memory_and_disk_are_summed_over_all(paths: Paths) -> None:
    count = room.available() // room.CLUSTER_BYTES + 1
    lacks = [what for what, _ in room.lacks([1] * count, ["26.05"] * count, paths)]

    assert any(f"{count} new clusters with {count} workers need" in each for each in lacks)
    assert any("of memory" in each for each in lacks)


def test_a_disk_that_is_too_small_is_named_with_its_variable(paths: Paths) -> None:
    ((what, fix),) = (each for each in room.lacks([10**9], ["26.05"], paths) if "GiB there" in each[0])

    assert "1 new cluster with 1000000000 workers need" in what
    assert "NPA_STATE_DIR" in fix
