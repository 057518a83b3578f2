"""The tools of fleets, on an inventory of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from npa.agent import registry
from npa.agent.errors import InputError, NotAgreedError
from npa.errors import NotFoundError, UsageError
from npa.fleet.errors import FleetRefusedError, FleetSpecError
from npa.plan.model import Event

FLEET = """\
name: lab
target: kubernetes
region: us-central1
defaults:
  soperator: {workers: [{name: cpu, platform: cpu-d3, preset: 4vcpu-16gb}]}
projects:
  - name: team-a
    clusters: [{name: alpha}, {name: bravo}]
  - {name: team-b}
"""
TOOLS = {each.name: each for each in registry.tools()}
NO_PLAN = f"sha256:{'0' * 64}"
Document = dict[str, Any]


@pytest.fixture(autouse=True)
def _empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "NPA_STATE_DIR", "NPA_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path))


def _unheard(_: Event) -> None:
    pass


def call(_tool: str, /, **payload: Any) -> Document:
    tool = TOOLS[_tool]
    document, _ = registry.call(tool, registry.read(tool, payload), _unheard)
    jsonschema.validate(document, tool.output_schema)
    return document


def test_the_file_of_a_fleet_is_told_cluster_by_cluster() -> None:
    told = call("infra.fleet.validate", spec=FLEET)

    assert [(each["project"], each["cluster"]) for each in told["clusters"]] == [
        ("team-a", "alpha"),
        ("team-a", "bravo"),
        ("team-b", "cluster"),
    ]


def test_everything_wrong_with_it_is_told_with_its_line() -> None:
    with pytest.raises(FleetSpecError) as caught:
        call(
            "infra.fleet.validate", spec=FLEET.replace("name: alpha", "nme: alpha").replace("cpu-d3", "cpu-x")
        )

    assert all(each.line for each in caught.value.problems)
    assert "projects[0].clusters[0].nme" in {each.at for each in caught.value.problems}


def test_a_plan_names_each_cluster_and_what_stands_against_it() -> None:
    told = call("infra.fleet.plan", spec=FLEET, projects=["team-a"])

    assert [each["cluster"] for each in told["plan"]["clusters"]] == ["alpha", "bravo"]
    assert told["digest"] == call("infra.fleet.deploy", spec=FLEET, projects=["team-a"])["digest"]
    assert told["digest"] != call("infra.fleet.plan", spec=FLEET)["digest"]


def test_a_pattern_that_means_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="no cluster 'alpa'"):
        call("infra.fleet.plan", spec=FLEET, clusters=["alpa"])


@pytest.mark.parametrize("fields", [{}, {"digest": NO_PLAN}])
def test_a_deploy_needs_the_digest_of_its_plan(fields: Document) -> None:
    shown = call("infra.fleet.plan", spec=FLEET)

    with pytest.raises(NotAgreedError) as caught:
        call("infra.fleet.deploy", spec=FLEET, dry_run=False, **fields)

    assert (caught.value.digest, caught.value.plan) == (shown["digest"], shown["plan"])


def test_a_deploy_that_something_stands_against_is_refused_whole() -> None:
    shown = call("infra.fleet.plan", spec=FLEET)
    assert shown["refusals"]

    with pytest.raises(FleetRefusedError):
        call("infra.fleet.deploy", spec=FLEET, dry_run=False, digest=shown["digest"])

    assert call("infra.fleet.list")["fleets"] == []


def test_a_deploy_claims_the_fleet_and_each_of_its_clusters() -> None:
    deploy, destroy = TOOLS["infra.fleet.deploy"], TOOLS["infra.fleet.destroy"]
    act = {"dry_run": False, "digest": NO_PLAN}

    assert deploy.claims(registry.read(deploy, {"spec": FLEET, **act})) == (
        "fleet lab",
        "cluster alpha",
        "cluster bravo",
        "cluster cluster",
    )
    assert deploy.claims(registry.read(deploy, {"spec": FLEET})) == ()
    assert destroy.claims(registry.read(destroy, {"name": "lab", **act})) == ("fleet lab",)


def test_a_fleet_that_is_not_there() -> None:
    with pytest.raises(NotFoundError):
        call("infra.fleet.status", name="lab")


def test_a_file_may_not_be_named() -> None:
    with pytest.raises(InputError, match="names a file"):
        call("infra.fleet.plan", spec=FLEET, spec_file="/etc/passwd")


def test_the_schema_is_that_of_the_file() -> None:
    assert "projects" in call("infra.fleet.schema")["spec"]["properties"]
