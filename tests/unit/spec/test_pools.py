"""C03 and what else a pool may be."""

from __future__ import annotations

import pytest
from tests.unit.spec.asking import GPU, HEAD, MINIMAL, problems, said

from npa.spec import catalog, load


def pool(**fields: object) -> str:
    written = {"name": "cpu", **fields}
    return HEAD + "workers:\n  - " + "\n    ".join(f"{name}: {value}" for name, value in written.items())


@pytest.mark.parametrize("kind", catalog.CACHE_DISK_TYPES)
def test_c03_cache_sizes_have_a_step_and_the_hint_has_both_neighbours(kind: str) -> None:
    bad = said(pool(docker_cache="true", docker_cache_gib=1000, docker_cache_disk_type=kind))

    assert bad["workers[0].docker_cache_gib"].endswith("| use 930 or 1023")
    assert not problems(pool(docker_cache="true", docker_cache_gib=930, docker_cache_disk_type=kind))


@pytest.mark.parametrize("size", ["0", "-93", "930.0", '"930"', "true", "null", "0x3a2", "1_023"])
def test_c03_no_size_is_an_accident_of_modulo(size: str) -> None:
    assert "workers[0].docker_cache_gib" in said(pool(docker_cache="true", docker_cache_gib=size))


def test_c03_the_step_is_not_that_of_boot_disks() -> None:
    assert not problems(pool(boot_disk_gib=600))
    assert "must be at least 512, is 128" in said(pool(boot_disk_gib=128))["workers[0].boot_disk_gib"]


def test_c03_a_multiple_above_the_ceiling_is_refused() -> None:
    found = said(pool(docker_cache="true", docker_cache_gib=262167))

    assert "at most 262074" in found["workers[0].docker_cache_gib"]


def test_c03_a_cache_that_is_off_is_not_measured() -> None:
    assert not problems(pool(docker_cache="false", docker_cache_gib=1000))


@pytest.mark.parametrize(
    ("fields", "at", "words"),
    [
        ({"platform": "gpu-b200-smx", "fabric": "f"}, "platform", "did you mean `gpu-b200-sxm"),
        ({"preset": "8vcpu-32g"}, "preset", "did you mean `8vcpu-32gb`"),
        ({"preset": "2vcpu-8gb"}, "preset", "at least 4 vCPUs"),
        ({"platform": "cpu-e2", "preset": "4vcpu-16gb"}, "preset", "at least 8 vCPUs"),
        ({"fabric": "f"}, "fabric", "has a fabric but no GPUs"),
        ({"platform": "gpu-b200-sxm", "preset": "8gpu-160vcpu-1792gb"}, "fabric", "has GPUs but no fabric"),
        (
            {"platform": "gpu-b200-sxm", "preset": "1gpu-20vcpu-224gb", "fabric": "f"},
            "preset",
            "use 8gpu-160vcpu-1792gb",
        ),
        (
            {"docker_cache_disk_type": "NETWORK_SSD"},
            "docker_cache_disk_type",
            "is no disk for an image cache",
        ),
        ({"features": "[big]\n    preemptable: true"}, "preemptable", "did you mean `preemptible`"),
        ({"features": '["a,b"]'}, "features[0]", "U+002C"),
        ({"features": '["a b"]'}, "features[0]", "U+0020"),
        ({"features": '["a\\nb"]'}, "features[0]", "U+000A"),
        ({"features": "[a, a]"}, "features[1]", "twice"),
        ({"features": "big"}, "features", "must be a list"),
    ],
)
def test_a_pool_is_refused_where_it_is_wrong(fields: dict[str, object], at: str, words: str) -> None:
    found = said(pool(**fields))

    assert list(found) == [f"workers[0].{at}"]
    assert words in found[f"workers[0].{at}"]


def test_a_platform_is_offered_in_the_region() -> None:
    text = f"{HEAD}region: eu-north1\nworkers: [{{name: gpu, {GPU}}}]"

    assert "not offered in eu-north1 | it is in us-central1" in said(text)["workers[0].platform"]
    assert not problems(text.replace("eu-north1", "us-central1"))


def test_a_region_is_one_of_the_catalogue() -> None:
    assert said(MINIMAL + "region: eu-nord1") == {
        "region": "'eu-nord1' is no region | did you mean `eu-north1`"
    }


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        (f"{GPU}, preemptible: true, capacity_block_group: cbg-secret", "preemptible"),
        (
            f"{GPU}, capacity_block_group: cbg-secret, capacity_block_group_name: n",
            "capacity_block_group_name",
        ),
        ("capacity_block_group: cbg-secret", "capacity_block_group"),
    ],
)
def test_c05_capacity_is_taken_in_one_way(fields: str, at: str) -> None:
    found = problems(f"{HEAD}workers: [{{name: g1, {fields}}}]")

    assert [each.at for each in found] == [f"workers[0].{at}"]
    assert "cbg-secret" not in repr(found)


def test_what_selects_a_reservation_is_shown_nowhere() -> None:
    spec = load.parse(f"{HEAD}workers: [{{name: g1, {GPU}, capacity_block_group: cbg-secret}}]")

    assert "cbg-secret" not in repr(spec) + str(spec)
    assert spec.workers[0].capacity_mode == "reserved"
    assert "12345" not in repr(problems(f"{HEAD}workers: [{{name: g1, {GPU}, capacity_block_group: 12345}}]"))


def test_presets_say_what_they_are() -> None:
    for platform in catalog.PLATFORMS.values():
        for preset in platform.presets:
            assert preset.clusters == (preset.gpus > 1)
            assert preset.vcpus
            assert bool(platform.gres_type) == bool(preset.gpus)


@pytest.mark.parametrize(
    ("workers", "tier"),
    [
        (1, "XS"),
        (9, "XS"),
        (10, "S"),
        (99, "S"),
        (100, "M"),
        (499, "M"),
        (500, "L"),
        (1999, "L"),
        (2000, "XL"),
    ],
)
def test_tiers_begin_where_the_recipe_says(workers: int, tier: str) -> None:
    assert catalog.tier(workers) == tier
