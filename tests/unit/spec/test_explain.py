from __future__ import annotations

from typing import Any

import jsonschema
import pytest
import yaml
from tests.unit.spec.asking import MINIMAL
from tests.unit.spec.test_load import EXAMPLE

from npa.errors import UsageError
from npa.spec import explain


def paths(path: str = "") -> list[str]:
    return [each for child in explain.explain(path).children for each in (child, *paths(child))]


def test_every_field_is_explained() -> None:
    for path in paths():
        found = explain.explain(path)

        assert found.path == path
        assert found.meaning
        assert found.type
        assert found.required or found.default or found.children


@pytest.mark.parametrize("path", ["workers.fabric", "workers[].fabric", "workers[12].fabric"])
def test_an_index_is_optional(path: str) -> None:
    found = explain.explain(path)

    assert found == explain.Explanation(
        path="workers[].fabric",
        type="string",
        default='""',
        rule="required with GPUs, forbidden without",
        meaning="InfiniBand fabric",
    )


def test_a_section_lists_its_fields() -> None:
    assert explain.explain("control_plane.system").children == (
        "control_plane.system.min_size",
        "control_plane.system.max_size",
        "control_plane.system.preset",
    )
    assert explain.explain("workers").type == "list of mappings"
    assert explain.explain("control_plane.system.max_size").type == "integer or null"
    assert explain.explain("workers[].name").required


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("workers.fabrik", "did you mean `fabric`"),
        ("worker", "did you mean `workers`"),
        ("workers.name.x", ""),
        ("[3]x!", ""),
        ("slurm.settings.MaxTime", ""),
    ],
)
def test_an_unknown_path_is_a_usage_error(path: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        explain.explain(path)

    assert raised.value.hint == hint


def schema() -> Any:
    return jsonschema.Draft202012Validator(explain.json_schema())


def test_the_schema_is_one_and_takes_the_examples() -> None:
    jsonschema.Draft202012Validator.check_schema(explain.json_schema())

    for text in (MINIMAL, EXAMPLE):
        assert not list(schema().iter_errors(yaml.safe_load(text)))


@pytest.mark.parametrize(
    "text",
    [
        "accounting: 1",
        "premptible: true",
        "control_plane: {etcd_size: 2}",
        "k8s_version: 1.30",
        "target: cloud",
        "jail_size_gib: 0",
        "slurm: {settings: {A: [1]}}",
        "partitions: [{name: 'a b'}]",
    ],
)
def test_the_schema_refuses_what_one_field_shows(text: str) -> None:
    assert list(schema().iter_errors(yaml.safe_load(MINIMAL + text)))


def test_the_schema_holds_rules_in_words_and_none_of_our_own_keywords() -> None:
    assert "x-rule" not in str(explain.json_schema())
    assert "forbidden without" in str(explain.json_schema())
