"""The registry: what tools take and answer, and what they refuse."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from npa.agent import registry, soperator
from npa.agent.errors import InputError, NotAgreedError
from npa.agent.tool import Tool
from npa.errors import NotFoundError, SpecError
from npa.plan.model import Event

SPEC = """\
apiVersion: npa.soperator/v0.0.1
name: lab
region: us-central1
workers:
  - {name: gpu, platform: gpu-b200-sxm, preset: 8gpu-160vcpu-1792gb, size: 2, fabric: us-central1-b,
     capacity_block_group: cbg-secret, docker_cache: true}
  - {name: cpu, platform: cpu-d3, preset: 4vcpu-16gb}
"""
TOOLS = {each.name: each for each in registry.tools()}
Document = dict[str, Any]


def _unheard(_: Event) -> None:
    pass


def call(name: str, **payload: Any) -> Document:
    tool = TOOLS[name]
    document, _ = registry.call(tool, registry.read(tool, payload), _unheard)
    jsonschema.validate(document, tool.output_schema)
    return document


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: str(tool.name))
def test_schemas_are_valid_and_in_one_piece(tool: Tool[Any]) -> None:
    for schema in (tool.input_schema, tool.output_schema):
        jsonschema.Draft202012Validator.check_schema(schema)

        assert "$ref" not in json.dumps(schema)
        assert schema["type"] == "object"
        # clients of language models take no alternatives at the top
        assert not {"oneOf", "anyOf", "allOf"} & schema.keys()


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: str(tool.name))
def test_every_field_of_an_input_says_what_it_is(tool: Tool[Any]) -> None:
    silent = [name for name, field in tool.input_schema["properties"].items() if not field.get("description")]

    assert silent == []


def test_a_valid_spec_is_told_without_its_reservation() -> None:
    told = call("infra.soperator.validate", spec=SPEC)

    assert (told["name"], told["worker_pools"], told["docker_cache_pools"]) == ("lab", 2, ["gpu"])
    assert told["control_plane"] == {"system_min_size": 3, "system_max_size": 24}
    assert told["workers"][0]["capacity_mode"] == "reserved"
    assert told["workers"][0]["reservation_selector"] == "id"
    assert "cbg-secret" not in json.dumps(told)


def test_a_spec_may_be_an_object_and_older_callers_are_understood() -> None:
    mapping = {
        "name": "lab",
        "workers": [{"name": "cpu", "platform": "cpu-d3", "preset": "4vcpu-16gb"}],
    }

    assert call("infra.soperator.validate", spec=mapping)["name"] == "lab"
    assert call("infra.soperator.validate", spec_yaml=SPEC) == call("infra.soperator.validate", yaml=SPEC)


def test_every_problem_of_a_spec_is_told_with_its_place() -> None:
    with pytest.raises(SpecError) as caught:
        call("infra.soperator.validate", spec=SPEC.replace("size: 2", "sise: 2").replace("lab", "UPPER"))

    assert [(each.source, each.line > 0) for each in caught.value.problems] == [("spec", True)] * 2


def test_settings_that_slurm_would_not_take_are_told() -> None:
    with pytest.raises(SpecError, match="KilWait"):
        call("infra.soperator.validate", spec=SPEC + "slurm: {settings: {KilWait: 30}}\n")


@pytest.mark.parametrize(
    ("payload", "at", "message", "hint"),
    [
        pytest.param({}, "spec", "is required", "describe", id="nothing"),
        pytest.param({"spec": SPEC, "spce": ""}, "spce", "unknown field", "`spec`", id="typo"),
        pytest.param(
            {"spec": SPEC, "terraform_dir": "/x"}, "terraform_dir", "names a file", "text", id="dir"
        ),
        pytest.param({"spec": SPEC, "spec_path": "/x"}, "spec_path", "names a file", "text", id="path"),
        pytest.param({"spec": SPEC, "key_file": "/x"}, "key_file", "names a file", "text", id="file"),
        pytest.param({"spec": SPEC, "yaml": SPEC}, "yaml", "unknown field", "", id="spec-twice"),
        pytest.param({"spec": 3}, "spec", "must be the text of a spec", "", id="number"),
        pytest.param({"spec": SPEC, "dry_run": "no"}, "dry_run", "must be true or false", "", id="word"),
        pytest.param({"spec": SPEC, "digest": "abc"}, "digest", "is not written as", "", id="no-digest"),
        pytest.param({"spec": SPEC, "ref": "main"}, "ref", "is not written as", "commit", id="branch"),
    ],
)
def test_an_input_that_is_none(payload: Document, at: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        registry.read(TOOLS["infra.soperator.deploy"], payload)

    (problem,) = caught.value.problems
    assert problem.at == at
    assert problem.message.startswith(message)
    assert hint in problem.hint


def test_all_that_is_wrong_with_an_input_is_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        registry.read(TOOLS["infra.soperator.destroy"], {"name": "-x", "force": 1, "why": ""})

    assert [each.at for each in caught.value.problems] == ["force", "name", "why"]


def test_a_path_in_place_of_the_text_is_refused() -> None:
    with pytest.raises(SpecError, match="must be a mapping"):
        call("infra.soperator.plan", spec="/etc/passwd")


def test_deploy_shows_the_plan_by_default() -> None:
    shown = call("infra.soperator.deploy", spec=SPEC)

    assert (shown["status"], shown["dry_run"], shown["result"]) == ("dry-run", True, None)
    assert shown["asked"]["schema_version"] == "npa.soperator.public-plan/v1"
    assert shown["command"][:3] == ["npa", "soperator", "deploy"]
    assert len(shown["solutions_library_ref"]) == 40
    assert shown["digest"] == call("infra.soperator.plan", spec=SPEC)["digest"]


def test_a_digest_is_of_one_spec_and_its_options_alone() -> None:
    digests = {
        call("infra.soperator.plan", spec=SPEC)["digest"],
        call("infra.soperator.plan", spec=SPEC.replace("size: 2", "size: 3"))["digest"],
        call("infra.soperator.plan", spec=SPEC, force=True)["digest"],
        call("infra.soperator.plan", spec=SPEC, wait_for_jobs_seconds=5)["digest"],
    }

    assert len(digests) == 4


def test_a_deploy_without_a_digest_is_refused_with_what_to_look_at() -> None:
    with pytest.raises(NotAgreedError) as caught:
        call("infra.soperator.deploy", spec=SPEC, dry_run=False)

    assert caught.value.digest == call("infra.soperator.plan", spec=SPEC)["digest"]
    assert caught.value.plan["name"] == "lab"


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        pytest.param({"target": "nebius", "force": True}, ["force"], id="force-at-the-provider"),
        pytest.param(
            {"target": "local", "project": "x", "ref": "0" * 40},
            ["project", "ref"],
            id="recipe-on-this-machine",
        ),
    ],
)
def test_options_of_another_target_are_refused(fields: Document, wrong: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        call("infra.soperator.deploy", spec=SPEC, **fields)

    assert [each.at for each in caught.value.problems] == wrong


def test_a_field_and_the_schema_of_the_spec_are_explained() -> None:
    assert call("infra.soperator.explain", path="workers.fabric")["field"]["path"] == "workers[].fabric"
    assert "workers" in call("infra.soperator.schema")["spec"]["properties"]


def test_a_tool_that_is_not_there_is_told_with_the_one_meant() -> None:
    with pytest.raises(NotFoundError) as caught:
        registry.find("infra.soperator.deplo", registry.tools())

    assert caught.value.hint == "did you mean `infra.soperator.deploy`"


@pytest.mark.parametrize(
    ("fields", "claims"),
    [
        pytest.param({"dry_run": False, "digest": f"sha256:{'0' * 64}"}, ("cluster lab",), id="change"),
        pytest.param({"dry_run": False}, (), id="refused-anyway"),
        pytest.param({"digest": f"sha256:{'0' * 64}"}, (), id="dry-run"),
    ],
)
def test_only_what_changes_something_claims_it(fields: Document, claims: tuple[str, ...]) -> None:
    deploy, destroy = TOOLS["infra.soperator.deploy"], TOOLS["infra.soperator.destroy"]

    assert deploy.claims(registry.read(deploy, {"spec": SPEC, **fields})) == claims
    assert destroy.claims(registry.read(destroy, {"name": "lab", **fields})) == claims


def test_what_needs_a_digest_says_that_it_may_destroy() -> None:
    with_digest = [tool for tool in TOOLS.values() if "digest" in tool.input.model_fields]

    assert with_digest
    assert {tool.effect for tool in with_digest} == {"destroys"}


def test_a_cluster_of_the_name_elsewhere_is_another_one() -> None:
    with pytest.raises(NotFoundError, match="is on local") as caught:
        soperator.require_there("lab", "kubernetes", "local")

    soperator.require_there("lab", "local", "local")
    assert "target" in caught.value.hint
