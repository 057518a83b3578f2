from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from npa.fleet import backends, load, merge, schema
from npa.fleet.errors import FleetSpecError
from npa.fleet.member import Claim

WORKERS: list[dict[str, Any]] = [{"name": "cpu", "preset": "4vcpu-16gb", "size": 2}]
TOP = Path(__file__).parents[3]


def mapping(**more: Any) -> dict[str, Any]:
    return {
        "name": "lab",
        "defaults": {"soperator": {"workers": WORKERS}},
        "projects": [{"name": "team"}],
        **more,
    }


def project(*clusters: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "team", "clusters": list(clusters), **more}


def problems(**more: Any) -> dict[str, tuple[str, str]]:
    with pytest.raises(FleetSpecError) as refused:
        load.from_mapping(mapping(**more))
    return {each.at: (each.message, each.hint) for each in refused.value.problems}


FILE = """\
name: lab
target: local
defaults:
  soperator:
    accounting: "yes"
projects:
  - name: team
    clusters:
      - name: alpha
        soperator:
          region: eu-north1
          workers:
            - {name: cpu, premptible: true}
      - name: bravo
        soperatr: {}
  - name: Team
    clusters:
      - name: alpha
        backend: mk8s
"""


def test_everything_wrong_is_told_at_once_where_it_stands() -> None:
    with pytest.raises(FleetSpecError) as refused:
        load.parse(FILE, "fleet.yaml")

    told = [str(each).partition(": ")[2] + f" <{each.hint}>" for each in refused.value.problems]
    lines = [(each.line, each.column) for each in refused.value.problems]
    assert told == [
        "defaults.soperator.accounting: must be true or false, not the string `yes` <>",
        "projects[0].clusters[0].soperator.region: `region` is the fleet's to say "
        "<set `region` on the project or the fleet>",
        "projects[0].clusters[0].soperator.workers[0].premptible: unknown key `premptible` "
        "<did you mean `preemptible`>",
        "projects[0].clusters[1].soperator.workers: is required <add `workers`>",
        "projects[0].clusters[1].soperatr: unknown key `soperatr` <did you mean `soperator`>",
        "projects[1].name: 'Team' is the same as projects[0] "
        "<give each project its own name, or put its clusters together>",
        "projects[1].clusters[0].name: 'alpha' is the name of projects[0].clusters[0] too "
        "<give each cluster its own name>",
        "projects[1].clusters[0].backend: no backend 'mk8s' "
        "<choose one of soperator, or install its package>",
    ]
    assert lines == [(5, 17), (11, 11), (13, 27), (14, 9), (15, 9), (16, 11), (18, 15), (19, 18)]


@pytest.mark.parametrize(
    ("more", "at", "message"),
    [
        ({"apiVersion": "npa.fleet/v9"}, "apiVersion", "'npa.fleet/v9' is not read here"),
        ({"name": "Lab 1"}, "name", "'Lab 1' holds 'L' U+004C"),
        ({"projects": []}, "projects", "is empty"),
        ({"projects": [{}]}, "projects[0]", "has no name"),
        ({"projects": {}}, "projects", "must be a list, not a mapping"),
        ({"region": None}, "region", "must be a string, not null"),
        ({"defaults": {"soperator": []}}, "defaults.soperator", "must be a mapping, not a list"),
        ({"target": "here"}, "target", "`here` is no target"),
        ({"fleets": 1}, "fleets", "unknown key `fleets`"),
        (
            {"projects": [project({"soperator": {"name": "other"}})]},
            "projects[0].clusters[0].soperator.name",
            "must be the cluster's own name, 'cluster', not 'other'",
        ),
        (
            {"projects": [project({"soperator": {"slurm": {"settings": {"MaxJobCount": "many"}}}})]},
            "projects[0].clusters[0].soperator.slurm.settings.MaxJobCount",
            None,
        ),
        (
            {"projects": [project({"name": "Alpha"})]},
            "projects[0].clusters[0].name",
            "'Alpha' holds 'A' U+0041",
        ),
    ],
)
def test_a_wrong_value_is_refused(more: dict[str, Any], at: str, message: str | None) -> None:
    found = problems(**more)

    assert list(found) == [at]
    assert message is None or found[at][0] == message


@pytest.mark.parametrize("key", ["target", "region", "tenant_id", "project_id", "subnet_id"])
def test_the_fleet_owns_identity(key: str) -> None:
    at = f"projects[0].clusters[0].soperator.{key}"

    assert (
        problems(projects=[project({"soperator": {key: "local"}})])[at][0] == f"`{key}` is the fleet's to say"
    )


def test_defaults_lie_under_a_cluster_s_own_words() -> None:
    defaults = {
        "target": "local",
        "soperator": {"workers": WORKERS, "control_plane": {"system": {"min_size": 4, "max_size": 9}}},
    }
    own = {"control_plane": {"system": {"max_size": 8}}, "workers": [{"name": "gp", "size": 1}]}
    fleet = load.from_mapping(
        mapping(
            defaults=defaults,
            projects=[
                project({"name": "one"}, {"name": "two", "target": "nebius", "soperator": own}),
            ],
        )
    )
    one, two = fleet.members

    assert (one.claim.target, two.claim.target) == ("local", "nebius")
    assert one.spec.control_plane.system.max_size == 9
    assert two.spec.control_plane.system.min_size == 4
    assert two.spec.control_plane.system.max_size == 8
    assert [pool.name for pool in two.spec.workers] == ["gp"], "lists are replaced as a whole"


def test_identity_comes_from_the_fleet_and_its_projects() -> None:
    fleet = load.from_mapping(
        mapping(
            tenant_id="tenant-1",
            region="eu-north1",
            project_prefix="ml-",
            projects=[
                project({"name": "one"}, project_id="project-1", subnet_id="s-1"),
                {"name": "ml-two", "region": "us-central1", "clusters": [{"name": "two"}]},
            ],
        )
    )
    one, two = (each.spec for each in fleet.members)

    assert (one.tenant_id, one.region, one.project_id, one.subnet_id) == (
        "tenant-1",
        "eu-north1",
        "project-1",
        "s-1",
    )
    assert (two.region, two.project_id) == ("us-central1", "")
    assert [each.display_name for each in fleet.projects] == ["ml-team", "ml-two"]


@pytest.mark.parametrize(
    ("clusters", "names"),
    [
        (None, ["cluster"]),
        ([], []),
        ([{}], ["cluster"]),
        ([{}, {}], ["cluster-1", "cluster-2"]),
        ([{"name": "gpu"}, {}], ["gpu", "cluster-2"]),
    ],
)
def test_clusters_without_names_get_some(clusters: list[dict[str, Any]] | None, names: list[str]) -> None:
    team = {"name": "team"} if clusters is None else {"name": "team", "clusters": clusters}

    assert [each.claim.cluster for each in load.from_mapping(mapping(projects=[team])).members] == names


def test_what_is_no_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(FleetSpecError, match="not UTF-8"):
        load.parse(b"name: \xff", str(tmp_path))


PLUGIN = """
from npa.fleet.backends import Condition, Planned
from npa.errors import Problem, SpecError

class Backend:
    name = "toy"

    def parse(self, claim, project, part, places, source):
        if part.value.get("size") != 3:
            raise SpecError([Problem(0, 0, "size", "must be 3")])
        return part.value
"""


def test_an_installed_package_adds_a_backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy_backend.py").write_text(PLUGIN)
    info = tmp_path / "toy-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[npa.fleet.backends]\ntoy = toy_backend:Backend\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    assert backends.names() == ("soperator", "toy")
    fleet = load.from_mapping(
        mapping(
            defaults={"toy": {"size": 3}, "soperator": {"workers": WORKERS}},
            projects=[project({"name": "a", "backend": "toy", "toy": {"colour": "red"}}, {"name": "bb"})],
        )
    )
    assert fleet.members[0].claim == Claim("lab", "team", "a", "toy", "nebius")
    assert fleet.members[0].spec == {"size": 3, "colour": "red"}

    found = problems(projects=[project({"name": "a", "backend": "toy", "toy": {"size": 4}})])
    assert found == {"projects[0].clusters[0].toy.size": ("must be 3", "")}


def test_the_schema_takes_what_is_read_and_refuses_what_is_not() -> None:
    validator = jsonschema.Draft202012Validator(schema.json_schema())
    validator.check_schema(validator.schema)

    assert not list(validator.iter_errors(mapping()))
    several: tuple[dict[str, Any], ...] = (
        {"projects": []},
        {"defaults": {"soperator": {"workers": WORKERS, "region": "x"}}},
        {"defaults": {"soperator": {"workers": [{"name": "x", "sise": 1}]}}},
        {"more": 1},
    )
    for wrong in several:
        assert list(validator.iter_errors(mapping(**wrong))), wrong


def test_the_example_is_a_fleet() -> None:
    text = (TOP / "examples/fleet/fleet.yaml").read_text(encoding="utf-8")

    assert load.parse(text).members
    assert not list(jsonschema.Draft202012Validator(schema.json_schema()).iter_errors(yaml.safe_load(text)))


JSON = st.recursive(
    st.integers() | st.text(max_size=3) | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=8,
)
MAPPINGS = st.dictionaries(st.sampled_from("abcd"), JSON, max_size=4)


@settings(deadline=None)
@given(MAPPINGS, MAPPINGS)
def test_every_merged_value_is_the_one_at_its_origin(base: dict[str, Any], over: dict[str, Any]) -> None:
    part = merge.overlay(base, over, "base", "over", "over")
    file = {"base": base, "over": over}

    for path, at in part.origins.items():
        if path and not isinstance(_look_up(part.value, path), dict):
            assert _look_up(part.value, path) == _look_up(file, at)
    assert set(part.value) == {*base, *over}


@settings(deadline=None)
@given(MAPPINGS, MAPPINGS)
def test_what_a_cluster_says_itself_stands(base: dict[str, Any], over: dict[str, Any]) -> None:
    def stands(own: Any, merged: Any) -> bool:
        if isinstance(own, dict) and isinstance(merged, dict):
            return all(stands(each, merged[key]) for key, each in own.items())
        return bool(own == merged)

    assert stands(over, merge.overlay(base, over, "base", "over", "over").value)
    assert merge.overlay(base, {}, "base", "over", "over").value == base


def _look_up(value: Any, path: str) -> Any:
    for part in path.replace("[", ".[").split("."):
        value = value[int(part[1:-1])] if part.startswith("[") else value[part]
    return value
