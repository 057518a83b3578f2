"""C01: names that break only after expansion."""

from __future__ import annotations

import pytest
from tests.unit.spec.asking import CPU, GB300, HEAD, problems, said

from npa.cluster.model import ROLES
from npa.spec.rules import names


def test_c01_every_name_is_told_in_one_run() -> None:
    found = said(
        "name: Lab_01\n"
        "workers:\n"
        "  - {name: a-very-long-pool-name-for-the-third-floor-visualisation-team-2, size: 1200}\n"
        "  - {name: gpu\u2011b200, size: 2}\n"
        "  - {name: worker-1, size: 2}\n"
        "  - {name: worker, size: 12}\n"
    )

    assert list(found) == ["name", "workers[0].name", "workers[1].name", "workers[2].name"]
    assert "'L' U+004C" in found["name"]
    assert "write `lab-01`" in found["name"]
    assert "visualisation-team-2-1199` would have 67 characters" in found["workers[0].name"]
    assert "U+2011 NON-BREAKING HYPHEN" in found["workers[1].name"]
    assert "'worker-1' is also the name of node 1 of pool 'worker'" in found["workers[2].name"]


def test_c01_the_machine_of_a_node_counts_too() -> None:
    pool = "p" * 40
    found = said(f"name: {'c' * 30}\nworkers: [{{name: {pool}, size: 2}}]")

    assert f"its machine `{'c' * 30}-{pool}-1` would have 73 characters" in found["workers[0].name"]


@pytest.mark.parametrize(
    "name", ["x", "-x", "x-", "1x", "é", "UPPER", "x" * 33, "example", '""', "a b", "a.b"]
)
def test_c01_cluster_names_of_no_recipe_are_refused(name: str) -> None:
    assert "name" in said(f"name: {name}\n{CPU}")


@pytest.mark.parametrize("name", ["ab", "a1", "a-b", "x" * 32])
def test_c01_cluster_names_of_the_recipe_load(name: str) -> None:
    assert not problems(f"name: {name}\n{CPU}")


@pytest.mark.parametrize(
    "name", ["controller", "accounting", "login", "rest", "login-0", "rest-12", "all", "default"]
)
def test_c01_names_of_the_control_plane_are_reserved(name: str) -> None:
    assert "workers[0].name" in said(f"{HEAD}workers: [{{name: {name}}}]")


def test_c01_a_pool_beyond_the_last_node_is_not_ambiguous() -> None:
    assert not problems(f"{HEAD}workers: [{{name: gpu, size: 1}}, {{name: gpu-1}}]")


def test_c01_a_second_pool_of_the_same_name_is_refused() -> None:
    found = said(f"{HEAD}workers: [{{name: cpu}}, {{name: cpu}}]")

    assert found == {"workers[1].name": "a second pool 'cpu', the first is workers[0] | rename one of them"}


def test_roles_are_those_of_the_cluster() -> None:
    assert names.ROLES == ROLES


@pytest.mark.parametrize(
    ("size", "fine"), [(1, True), (17, True), (18, True), (36, True), (19, False), (35, False)]
)
def test_c08_racks_are_full(size: int, fine: bool) -> None:
    found = said(f"{HEAD}workers: [{{name: train, {GB300}, size: {size}}}]")

    assert ("workers[0].size" not in found) == fine


def test_c08_a_pool_called_like_a_rack_names_both_origins() -> None:
    found = said(f"{HEAD}workers: [{{name: train, {GB300}, size: 36}}, {{name: train-rack1}}]")

    assert list(found) == ["workers[1].name"]
    assert "pool 'train-rack1' (workers[1])" in found["workers[1].name"]
    assert "rack 1 of pool 'train' (workers[0])" in found["workers[1].name"]


def test_c08_size_zero_makes_no_phantom_rack() -> None:
    found = said(f"{HEAD}workers: [{{name: train, {GB300}, size: 0}}]")

    assert found == {"workers[0].size": "must be at least 1, is 0 | use 1 or more, or remove the pool"}


def test_a_size_without_bounds_is_refused_at_once() -> None:
    found = said(f"{HEAD}workers: [{{name: train, platform: gpu-gb300, size: 900000000000000000}}]")

    assert "Slurm counts at most 65536" in found["workers[0].size"] or "multiple" in found["workers[0].size"]
