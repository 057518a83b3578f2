"""The tools of fleets, on an inventory of their own."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.fakes.tools import PATIENCE

from npa.agent import fleet, registry
from npa.agent.errors import InputError, NotAgreedError
from npa.api import failure
from npa.errors import NotFoundError, StoppedError, UsageError
from npa.fleet import provider
from npa.fleet.errors import FleetFailedError, FleetRefusedError, FleetSpecError
from npa.fleet.member import Claim
from npa.fleet.result import Outcome
from npa.fleet.run import Run
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


def test_at_nebius_a_plan_says_what_it_does_not_show() -> None:
    here = call("infra.fleet.plan", spec=FLEET.replace("kubernetes", "local"))["plan"]
    spec = FLEET.replace("kubernetes", "nebius").replace("region: us-central1", "region: eu-north1")
    shown = call("infra.fleet.plan", spec=spec)
    more = call("infra.fleet.plan", spec=spec.replace("4vcpu-16gb", "8vcpu-32gb"))

    assert here["caveats"] == []
    assert shown["plan"]["caveats"] == [provider.CAVEAT]
    assert {each["shows"] for each in shown["plan"]["clusters"]} == {"spec"}
    assert shown["digest"] != more["digest"], "what the file asks for is in it"


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


CLAIMS = tuple(Claim("lab", "team", name, "soperator", "local") for name in ("alpha", "bravo", "charlie"))


def until(look: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not look():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.005)


def run(status: str = "healthy") -> Run:
    def work(claim: Claim, heard: Callable[[Event], None]) -> Outcome:
        heard(Event("started", "create", "create it"))
        heard(Event("done", "create", "create it"))
        bad = claim.cluster == "bravo" and status != "healthy"
        return Outcome(claim, status if bad else "healthy", not bad)

    return Run("lab", "deploy", CLAIMS, work, lock=nullcontext, concurrency=1)


def test_a_run_is_told_cluster_by_cluster() -> None:
    heard: list[Event] = []

    result = fleet.followed(run(), heard.append)

    assert result["ok"] is True
    assert [each.step for each in heard[:3]] == ["team/alpha", "team/alpha/create", "team/alpha/create"]
    assert [each.kind for each in heard[:4]] == ["note", "started", "done", "note"]


def test_one_cluster_that_fails_hides_no_other() -> None:
    with pytest.raises(FleetFailedError) as caught:
        fleet.followed(run("failed"), _unheard)

    document, code = failure.described(caught.value)
    assert code == 5
    assert [each["status"] for each in document["clusters"]] == ["healthy", "failed", "healthy"]
    assert (document["ok"], document["error"]["code"]) == (False, "fleet-failed")


def test_a_run_that_is_stopped_says_what_became_of_each() -> None:
    def work(claim: Claim, heard: Callable[[Event], None]) -> Outcome:
        if claim.cluster == "bravo":
            until(lambda: running.cancelled)
        heard(Event("started", "create", "create it"))
        return Outcome(claim, "healthy", True)

    def stop(_: Event) -> None:
        raise StoppedError("stop")

    running = Run("lab", "deploy", CLAIMS, work, lock=nullcontext, concurrency=1)
    with pytest.raises(FleetFailedError) as caught:
        fleet.followed(running, stop)

    statuses = [each["status"] for each in caught.value.result["clusters"]]
    assert (caught.value.exit_code, statuses[1:]) == (130, ["interrupted", "interrupted"])
