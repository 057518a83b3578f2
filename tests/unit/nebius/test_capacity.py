from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from npa.errors import SpecError
from npa.render.nebius import capacity
from npa.render.nebius.capacity import Advice, Block, Identity, Owned, Project, Verdict, World
from npa.spec import load
from npa.spec.model import SoperatorSpec, WorkerPoolSpec

PRESET = "8gpu-160vcpu-1792gb"
HERE = Identity("tenant-1", "project-1", "us-central1")
PROJECT = Project("project-1", "tenant-1", "us-central1")
BLOCK = Block(
    id="cbg-x",
    name="night-shift",
    parent="tenant-1",
    state="STATE_ACTIVE",
    region="us-central1",
    platform="gpu-b200-sxm",
    fabric="f-b",
    limit=32,
    usage=32,
    usage_state="USAGE_STATE_USED",
)
EMPTY = replace(BLOCK, usage=0, usage_state="USAGE_STATE_NOT_USED")
ADVICE = Advice("gpu-b200-sxm", PRESET, "us-central1", "f-b", 4, "DATA_STATE_FRESH")


def pool(name: str = "g1", size: int = 4, **changes: Any) -> WorkerPoolSpec:
    asked: dict[str, Any] = {"capacity_block_group": "cbg-x", **changes}
    return WorkerPoolSpec(
        name=name,
        platform="gpu-b200-sxm",
        preset=asked.pop("preset", PRESET),
        size=size,
        fabric="f-b",
        **asked,
    )


def decide(
    *pools: WorkerPoolSpec,
    blocks: Sequence[Block] = (EMPTY,),
    advice: Sequence[Advice] = (ADVICE,),
    project: Project = PROJECT,
    **rest: Any,
) -> Verdict:
    spec = SoperatorSpec(name="quick", workers=pools)
    return capacity.decide(spec, HERE, World(project, blocks, advice, **rest))


MINE = (Owned("cbg-x", PRESET, 32),)


def test_a_reservation_is_found_by_id_and_by_name() -> None:
    by_name = pool("g2", 2, capacity_block_group="", capacity_block_group_name=" night-shift ")

    assert decide(pool(size=2), by_name).ids == {"g1": "cbg-x", "g2": "cbg-x"}


def test_c05_deploying_the_same_pool_again_passes() -> None:
    assert decide(pool(), blocks=[BLOCK], advice=[], owned=MINE).ids == {"g1": "cbg-x"}


def test_c05_one_node_more_than_reserved_is_refused_with_numbers() -> None:
    (refusal, advised) = decide(
        pool(size=5), blocks=[BLOCK], advice=[replace(ADVICE, available=0)], owned=MINE
    ).refusals

    assert refusal.startswith("pool 'g1': needs 1 more, 0 free")
    assert advised.startswith("pool 'g1': needs 1 more, 0 can be started now")


def test_c05_pools_that_share_a_reservation_are_summed() -> None:
    assert decide(pool("a", 2), pool("b", 2)).ok

    (refusal, _) = decide(pool("a", 3), pool("b", 2)).refusals

    assert refusal.startswith("pools 'a', 'b' together: needs 5 more, 4 free")


@pytest.mark.parametrize(
    "workers",
    [
        pytest.param("preemptible: true, capacity_block_group: cbg-x", id="preemptible"),
        pytest.param(
            "capacity_block_group: cbg-x, capacity_block_group_name: night-shift", id="two-selectors"
        ),
    ],
)
def test_c05_contradicting_pools_are_no_spec(workers: str) -> None:
    text = (
        f"name: quick\nworkers: [{{name: g1, platform: gpu-b200-sxm, preset: {PRESET}, size: 4, fabric: f-b,"
        f" {workers}}}]\n"
    )
    with pytest.raises(SpecError):
        load.parse(text)


def test_c05_a_cpu_pool_has_no_reservation() -> None:
    with pytest.raises(SpecError):
        load.parse(
            "name: quick\nworkers: [{name: c1, platform: cpu-d3, size: 2, capacity_block_group: cbg-x}]\n"
        )


def test_own_nodes_of_another_shape_or_reservation_are_not_credited() -> None:
    others = (Owned("cbg-x", "1gpu-20vcpu-224gb", 32), Owned("cbg-y", PRESET, 32))

    assert not decide(pool(), blocks=[BLOCK], owned=others).ok


def test_without_reserved_pools_nothing_is_asked() -> None:
    assert decide(WorkerPoolSpec(name="cpu"), blocks=[], advice=[], project=Project("", "", "")) == Verdict()


@pytest.mark.parametrize(
    ("blocks", "says"),
    [
        pytest.param([replace(EMPTY, state="STATE_SHUTTING")], "not active (STATE_SHUTTING)", id="state"),
        pytest.param([replace(EMPTY, region="eu-north1")], "in region eu-north1", id="region"),
        pytest.param([replace(EMPTY, platform="gpu-h200-sxm")], "for platform gpu-h200-sxm", id="platform"),
        pytest.param([replace(EMPTY, fabric="f-a")], "in fabric f-a", id="fabric"),
        pytest.param([replace(EMPTY, parent="tenant-2")], "another tenant", id="tenant"),
        pytest.param([EMPTY, EMPTY], "more than once", id="duplicate"),
        pytest.param([replace(EMPTY, usage_state="USAGE_STATE_UNKNOWN")], "is unknown", id="usage-unknown"),
        pytest.param([replace(EMPTY, usage_state="")], "is unknown", id="usage-left-out"),
        pytest.param([replace(BLOCK, usage_state="USAGE_STATE_NOT_USED")], "is unknown", id="contradiction"),
        pytest.param([replace(BLOCK, usage=0, usage_percentage="-1")], "is unknown", id="percentage"),
        pytest.param([replace(BLOCK, usage=0, usage_percentage="0.1")], "4 more, 3 free", id="share-floored"),
        pytest.param([replace(BLOCK, usage=0, usage_percentage="50")], "4 more, 2 free", id="out-of-100"),
        pytest.param([replace(BLOCK, usage=40)], "4 more, 0 free", id="over-its-limit"),
        pytest.param([], "could not be found out", id="not-looked-up"),
    ],
)
def test_a_reservation_that_does_not_fit_for_certain_is_refused(blocks: list[Block], says: str) -> None:
    found = decide(pool(), blocks=blocks)

    assert found.ids == {}
    assert len(found.refusals) == 1
    assert says in found.refusals[0]


@pytest.mark.parametrize(
    ("advice", "says"),
    [
        pytest.param([], "no statements", id="none"),
        pytest.param([ADVICE, ADVICE], "2 statements", id="two"),
        pytest.param([replace(ADVICE, data_state="DATA_STATE_STALE")], "not fresh", id="stale"),
        pytest.param([replace(ADVICE, available=3)], "needs 4 more, 3 can be started now", id="too-few"),
        pytest.param([replace(ADVICE, fabric="f-a")], "no statements", id="other-fabric"),
    ],
)
def test_what_can_be_started_now_must_be_known_and_enough(advice: list[Advice], says: str) -> None:
    (refusal,) = decide(pool(), advice=advice).refusals

    assert says in refusal


@pytest.mark.parametrize(
    ("elsewhere", "says"),
    [
        pytest.param({"cbg-x": None}, "is not there", id="absent"),
        pytest.param({"cbg-x": replace(EMPTY, parent="tenant-2")}, "another tenant", id="others"),
        pytest.param({"cbg-x": EMPTY}, "try again", id="not-listed"),
    ],
)
def test_an_id_that_is_not_listed_says_why(elsewhere: dict[str, Block | None], says: str) -> None:
    (refusal,) = decide(pool(), blocks=[], elsewhere=elsewhere).refusals

    assert says in refusal


def test_the_ids_to_look_up_are_those_that_the_tenant_does_not_list() -> None:
    spec = SoperatorSpec(name="quick", workers=(pool("a"), pool("b", capacity_block_group=" cbg-y ")))

    assert capacity.lookups(spec, [EMPTY]) == ("cbg-y",)


def test_a_name_must_be_one_reservations() -> None:
    named = pool(capacity_block_group="", capacity_block_group_name="night-shift")

    assert "no reservation of this name" in decide(named, blocks=[]).refusals[0]
    assert "more than one" in decide(named, blocks=[EMPTY, replace(EMPTY, id="cbg-y")]).refusals[0]


@pytest.mark.parametrize(
    "project",
    [
        pytest.param(replace(PROJECT, id="project-2"), id="other-project"),
        pytest.param(replace(PROJECT, parent="tenant-2"), id="other-tenant"),
        pytest.param(replace(PROJECT, region="eu-north1"), id="other-region"),
    ],
)
def test_the_project_must_be_the_one_that_was_meant(project: Project) -> None:
    assert len(decide(pool(), project=project).refusals) == 1


def test_one_reservation_carries_one_preset() -> None:
    (refusal,) = decide(pool("a", 1), pool("b", 1, preset="1gpu-20vcpu-224gb")).refusals

    assert "one preset only" in refusal


def test_every_pool_that_cannot_be_is_told_at_once_and_no_selector_is() -> None:
    named = pool("g2", capacity_block_group="", capacity_block_group_name="secret-name")
    found = decide(
        pool(capacity_block_group="cbg-secret"), named, pool("g3", 5), project=replace(PROJECT, region="")
    )
    shown = repr(found) + repr(BLOCK) + repr(MINE) + "".join(found.refusals)

    assert len(found.refusals) == 5
    assert not [word for word in ("secret", "cbg-", "night-shift") if word in shown]
