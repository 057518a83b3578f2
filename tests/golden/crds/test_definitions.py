"""The definitions as they are installed. NPA_GOLDEN=rewrite writes them anew; read the diff first."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from npa.crds import definitions
from npa.render import objects

HERE = Path(__file__).parent
RENDERED = {each["metadata"]["name"]: each for each in definitions.render()}
# an annotation of `kubectl apply` holds the whole object; all annotations together have so many bytes
ANNOTATIONS = 262144
OURS = (
    objects.SLURM_CLUSTER,
    objects.NODE_SET,
    objects.ACTIVE_CHECK,
    objects.JAILED_CONFIG,
    objects.NODE_CONFIGURATOR,
    objects.POWER_STATE,
)


class Plain(yaml.SafeDumper):
    """Writes what is the same at two places twice, as people read it."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def text(definition: dict[str, Any]) -> str:
    return yaml.dump(definition, Dumper=Plain, sort_keys=False, width=110)


@pytest.mark.parametrize("name", RENDERED)
def test_definition(name: str) -> None:
    path = HERE / f"{name.partition('.')[0]}.yaml"
    if os.environ.get("NPA_GOLDEN") == "rewrite":
        path.write_text(text(RENDERED[name]), encoding="utf-8")

    assert path.read_text(encoding="utf-8") == text(RENDERED[name])


def test_there_is_no_other_file() -> None:
    assert {path.stem for path in HERE.glob("*.yaml")} == {name.partition(".")[0] for name in RENDERED}


@pytest.mark.parametrize("name", RENDERED)
def test_a_definition_fits_into_an_annotation(name: str) -> None:
    assert len(json.dumps(RENDERED[name])) < ANNOTATIONS / 2


def test_the_operator_asks_for_the_kinds_that_are_defined() -> None:
    defined = {
        (each["spec"]["names"]["kind"], each["spec"]["names"]["plural"], version["name"])
        for each in RENDERED.values()
        for version in each["spec"]["versions"]
    }

    assert defined == {(each.kind, each.plural, each.version) for each in OURS}


def test_short_names_are_nobody_elses() -> None:
    short = [name for each in RENDERED.values() for name in each["spec"]["names"]["shortNames"]]

    assert len(set(short)) == len(short)
    # namespaces, storage classes, services, network policies, nodes, statefulsets, jobs of others
    assert not set(short) & {"ns", "sc", "svc", "netpol", "no", "sts", "po", "cm", "ds", "rs"}


def descriptions(words: Any, at: str) -> list[str]:
    """Return the fields of a schema that say nothing."""
    if not isinstance(words, dict):
        return []
    silent = []
    for name, each in words.get("properties", {}).items():
        path = f"{at}.{name}"
        if not each.get("description") and path != ".metadata":
            silent.append(path)
        silent += descriptions(each.get("items", each), path)
    return silent


@pytest.mark.parametrize("api", definitions.APIS, ids=lambda api: api.kind)
def test_every_field_says_what_it_means(api: definitions.Api) -> None:
    assert descriptions(definitions.root(api), "") == []
