"""C07: partitions; and settings that reach slurm.conf."""

from __future__ import annotations

import pytest
from tests.unit.spec.asking import GB300, HEAD, MINIMAL, problems, said

from npa.spec import duration, rules

POOLS = HEAD + "workers: [{name: gpu}, {name: cpu}]\n"


def test_c07_each_line_is_its_own_error() -> None:
    found = said(
        POOLS + "partitions:\n"
        "  - {name: main, is_all: true, pools: [gpu]}\n"
        "  - {name: empty}\n"
        "  - {name: main, pools: [gpuu]}\n"
        "  - {name: batch, pools: [cpu]}\n"
    )

    assert found == {
        "partitions": "no partition is the default | set `default: true` on one of them",
        "partitions[0].is_all": "partition 'main' has both is_all and pools | keep one of them",
        "partitions[1]": "partition 'empty' has neither is_all nor pools | "
        "set `is_all: true`, or name its `pools`",
        "partitions[2].name": "a second partition 'main', the first is partitions[0] | rename one of them",
        "partitions[2].pools[0]": "there is no pool 'gpuu' | did you mean `gpu`",
    }


@pytest.mark.parametrize(
    ("partitions", "at"),
    [
        ("[{name: aa, is_all: true, default: true}, {name: bb, is_all: true, default: true}]", "[1].default"),
        ("[{name: hidden, is_all: true, default: true}]", "[0].name"),
        ("[{name: ALL, is_all: true, default: true}]", "[0].name"),
        ("[{name: Default, is_all: true, default: true}]", "[0].name"),
        ("[{name: 'a b', is_all: true, default: true}]", "[0].name"),
        ("[{name: aa, pools: [GPU], default: true}]", "[0].pools[0]"),
        ("[{name: aa, pools: [gpu, gpu], default: true}]", "[0].pools[1]"),
        ("[{name: aa, is_all: true, default: true, max_time: 90}]", "[0].max_time"),
        ("[{name: aa, is_all: true, default: true, max_time: 1:30:00}]", "[0].max_time"),
        ("[{name: aa, is_all: true, default: true, max_time: soon}]", "[0].max_time"),
        ("[{name: aa, is_all: true, default: true, max_time: '0'}]", "[0].max_time"),
        ("[{name: aa, is_all: true, default: true, priority_tier: -1}]", "[0].priority_tier"),
        ("[{name: aa, is_all: true, default: true, priority_tier: 65534}]", "[0].priority_tier"),
    ],
)
def test_c07_a_partition_is_refused_where_it_is_wrong(partitions: str, at: str) -> None:
    assert list(said(f"{POOLS}partitions: {partitions}")) == [f"partitions{at}"]


def test_c07_names_that_differ_in_case_are_two() -> None:
    text = "partitions: [{name: main, is_all: true, default: true}, {name: Main, pools: [gpu]}]"

    assert not problems(POOLS + text)


def test_c08_a_partition_names_a_pool_of_racks_or_one_rack() -> None:
    text = f"{HEAD}workers: [{{name: train, {GB300}, size: 36}}]\n"

    assert not problems(text + "partitions: [{name: p, pools: [train], default: true}]")
    assert not problems(text + "partitions: [{name: p, pools: [train-rack1], default: true}]")
    assert said(text + "partitions: [{name: p, pools: [train-rack2], default: true}]")


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("", None),
        ("UNLIMITED", None),
        ("90", 90),
        ("90:30", 91),
        ("12:00:00", 720),
        ("7-0", 10_080),
        ("1-1:30", 1_530),
        ("1-0:0:1", 1_441),
    ],
)
def test_time_limits_are_read_as_slurm_does(text: str, minutes: int | None) -> None:
    assert duration.minutes(text) == minutes


@pytest.mark.parametrize(
    "text", ["0", "0:00", "-1", "1-", "1:2:3:4", "٣", "1 ", "9" * 50, "99999999999", "1.5"]
)
def test_what_is_no_time_limit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        duration.minutes(text)


@pytest.mark.parametrize(
    "key",
    [
        "ClusterName",
        "nodeNAME",
        "slurmctldhost",
        "PARTITIONNAME",
        "Include",
        "AccountingStorageHost",
        "include",
    ],
)
def test_c32_managed_settings_are_refused_in_any_case(key: str) -> None:
    found = said(f"{MINIMAL}slurm: {{settings: {{{key}: x}}}}")

    assert "is managed" in found[f"slurm.settings.{key}"]


@pytest.mark.parametrize(
    "setting",
    [
        'MaxTime: "1\\nNodeName=evil"',
        'MaxTime: "1\\r2"',
        'MaxTime: "1\\u20282"',
        "MaxTime: 'a # b'",
        'MaxTime: "a\\\\"',
        "MaxTime: ''",
        "MaxTime: 1.5",
        "MaxTime: true",
        "MaxTime: null",
        "MaxTime: [1]",
        "'Max Time': 1",
        "' NodeName': evil",
        "'A=b': 1",
        '"A\\nB": 1',
        "MaxTime: 1, maxtime: 2",
    ],
)
def test_c32_a_setting_is_one_line(setting: str) -> None:
    assert any(
        at.startswith("slurm.settings.") for at in said(f"{MINIMAL}slurm: {{settings: {{{setting}}}}}")
    )


def test_managed_settings_are_in_lower_case() -> None:
    assert {key.lower() for key in rules.MANAGED_SETTINGS} == rules.MANAGED_SETTINGS
    assert "statesavelocation" in rules.MANAGED_SETTINGS


@pytest.mark.parametrize("field", ["tenant_id", "project_id", "subnet_id"])
def test_free_text_is_on_one_line(field: str) -> None:
    assert "U+000A" in said(f'{MINIMAL}{field}: "a\\nb"')[field]
