from __future__ import annotations

import copy
from typing import Any

import pytest

from npa.crds import definitions, installed

NODE_SET = next(each for each in definitions.render() if each["spec"]["names"]["kind"] == "NodeSet")


def changed() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return a definition of NodeSets, its version and the properties of its spec, to be changed."""
    found = copy.deepcopy(NODE_SET)
    version = found["spec"]["versions"][0]
    return found, version, version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


@pytest.mark.parametrize("found", definitions.render(), ids=lambda each: str(each["metadata"]["name"]))
def test_our_own_definitions_lack_nothing(found: dict[str, Any]) -> None:
    assert installed.lacks(found) == ()


def test_c68_an_older_definition_lacks_fields() -> None:
    found, _, properties = changed()
    del properties["maxUnavailable"]
    del properties["slurmd"]["properties"]["volumes"]["properties"]["jailSubMounts"]["items"]["properties"][
        "name"
    ]

    assert installed.lacks(found) == (
        "spec.maxUnavailable",
        "spec.slurmd.volumes.jailSubMounts[].name",
    )


def test_c68_a_newer_definition_lacks_nothing() -> None:
    found, version, properties = changed()
    properties["later"] = {"type": "string"}
    found["spec"]["versions"].append({**version, "name": "v2"})

    assert installed.lacks(found) == ()


def test_what_keeps_unknown_fields_lacks_none() -> None:
    found, _, properties = changed()
    properties["nodeConfig"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

    assert installed.lacks(found) == ()


def test_a_version_that_is_not_served_is_lacking() -> None:
    found, version, _ = changed()
    version["served"] = False

    assert installed.lacks(found) == ("version v1alpha1",)


def test_a_subresource_that_is_lacking() -> None:
    found, version, _ = changed()
    version["subresources"] = {"status": {}}

    assert installed.lacks(found) == ("subresource scale",)


@pytest.mark.parametrize("found", [{}, {"metadata": {"name": "pods"}}, {"metadata": 3}])
def test_what_is_no_definition_of_ours(found: dict[str, Any]) -> None:
    (told,) = installed.lacks(found)

    assert "is no definition of ours" in told


def test_a_definition_that_says_nothing_lacks_all() -> None:
    found = {"metadata": {"name": "nodesets.slurm.nebius.ai"}, "spec": {"versions": [3, {}]}}

    assert installed.lacks(found) == ("version v1alpha1",)
