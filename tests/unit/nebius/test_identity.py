from __future__ import annotations

import pytest

from npa.errors import IdentityError
from npa.render.nebius import identity
from npa.render.nebius.identity import Config, Identity, Project
from npa.render.nebius.sidecar import Sidecar
from npa.spec.load import parse
from npa.spec.model import SoperatorSpec

HOME = Project("home", "eu-north1", "tenant-h", "project-h")
AWAY = Project("away", "us-central1", "tenant-a", "project-a")
CONFIG = Config({"home": HOME, "away": AWAY}, "home")
STORED = Sidecar("eu-north1", "tenant-h", "project-h", "vpcsubnet-h", "a1")


def spec(**fields: str) -> SoperatorSpec:
    lines = "".join(f'{key}: "{value}"\n' for key, value in fields.items())
    return parse(f"name: a1\nworkers: [{{name: cpu}}]\n{lines}")


def test_a_new_installation_is_where_the_configuration_says() -> None:
    assert identity.decide(spec(), CONFIG) == Identity("eu-north1", "tenant-h", "project-h")


def test_a_named_project_is_meant() -> None:
    assert identity.decide(spec(), CONFIG, alias="away") == Identity("us-central1", "tenant-a", "project-a")


def test_the_spec_counts_first_and_needs_no_configuration() -> None:
    whole = spec(region="us-central1", tenant_id="tenant-s", project_id="project-s", subnet_id="vpcsubnet-s")

    assert identity.decide(whole, Config()) == Identity("us-central1", "tenant-s", "project-s", "vpcsubnet-s")
    assert identity.decide(whole, CONFIG) == Identity("us-central1", "tenant-s", "project-s", "vpcsubnet-s")


def test_a_default_that_the_spec_contradicts_fills_nothing_in() -> None:
    with pytest.raises(IdentityError) as raised:
        identity.decide(spec(project_id="project-x"), CONFIG)

    assert raised.value.problems == ("region is not known", "tenant_id is not known")


def test_the_project_that_the_spec_names_by_id_fills_in() -> None:
    assert identity.decide(spec(project_id="project-a"), CONFIG) == Identity(
        "us-central1", "tenant-a", "project-a"
    )


def test_an_unknown_alias_is_refused_even_where_the_spec_says_all() -> None:
    whole = spec(region="eu-north1", tenant_id="tenant-s", project_id="project-s")

    with pytest.raises(IdentityError, match="away, home"):
        identity.decide(whole, CONFIG, alias="hmoe")


def test_a_spec_against_a_named_project_is_refused_with_every_conflict() -> None:
    with pytest.raises(IdentityError) as raised:
        identity.decide(spec(region="eu-north1", tenant_id="tenant-h"), CONFIG, alias="away")

    assert len(raised.value.problems) == 2


def test_no_configuration_is_said_in_words() -> None:
    with pytest.raises(IdentityError) as raised:
        identity.decide(spec(), Config())

    assert len(raised.value.problems) == 3
    assert "config.yaml" in raised.value.hint


def test_an_installation_is_where_it_was_whatever_the_default_is_now() -> None:
    assert identity.decide(spec(), Config({"away": AWAY}, "away"), sidecar=STORED) == Identity(
        "eu-north1", "tenant-h", "project-h", "vpcsubnet-h"
    )


def test_everything_against_an_installation_is_said_at_once() -> None:
    moved = spec(region="us-central1", subnet_id="vpcsubnet-x")

    with pytest.raises(IdentityError) as raised:
        identity.decide(moved, CONFIG, sidecar=STORED, alias="away")

    assert len(raised.value.problems) == 5  # region and subnet of the spec; three of the project
    assert "another name" in raised.value.hint


def test_a_record_with_gaps_is_refused() -> None:
    with pytest.raises(IdentityError) as raised:
        identity.decide(spec(), CONFIG, sidecar=Sidecar(region="eu-north1", project_id="project-h"))

    assert len(raised.value.problems) == 2


def test_a_record_of_another_cluster_is_refused() -> None:
    with pytest.raises(IdentityError, match="is of b2"):
        identity.decide(spec(), CONFIG, sidecar=Sidecar("r", "t", "p", "s", "b2"))


def test_destroy_fills_gaps_of_an_old_record_from_a_named_project_alone() -> None:
    old = Sidecar(project_id="project-a", versioned=False)

    assert identity.for_destroy(old, CONFIG, alias="away") == Identity("us-central1", "tenant-a", "project-a")
    with pytest.raises(IdentityError, match="lacks region"):
        identity.for_destroy(old, CONFIG)
    with pytest.raises(IdentityError, match="project-h"):
        identity.for_destroy(old, CONFIG, alias="home")


def test_destroy_fills_nothing_into_a_record_of_ours() -> None:
    with pytest.raises(IdentityError, match="lacks tenant_id"):
        identity.for_destroy(Sidecar("us-central1", "", "project-a", "s"), CONFIG, alias="away")


def test_a_default_is_the_named_the_one_called_default_or_the_only_one() -> None:
    default = Project("default")

    assert CONFIG.default == HOME
    assert Config({"default": default, "away": AWAY}).default == default
    assert Config({"away": AWAY}).default == AWAY
    assert Config({"away": AWAY, "home": HOME}).default is None
    with pytest.raises(IdentityError, match="no project 'gone'"):
        _ = Config({"away": AWAY}, "gone").default


def test_a_configuration_is_read() -> None:
    document = {
        "default_project": "home",
        "projects": {"home": {"project_id": "p", "tenant_id": "t", "region": " eu-north1 ", "bucket": "b"}},
    }

    assert identity.parse_config(document) == Config({"home": Project("home", "eu-north1", "t", "p")}, "home")


def test_the_flat_layout_is_a_project_called_default() -> None:
    assert identity.parse_config({"project_id": "p", "region": None}).default == Project(
        "default", "", "", "p"
    )


@pytest.mark.parametrize("document", [None, {}, {"projects": None}])
def test_an_empty_configuration_has_no_projects(document: object) -> None:
    assert identity.parse_config(document) == Config()


def test_null_is_nothing_and_never_the_word_none() -> None:
    found = identity.parse_config(
        {"projects": {"home": {"region": None, "tenant_id": "t", "project_id": "p"}}}
    )

    assert found.projects["home"].region == ""


def test_every_fault_of_a_configuration_is_said_at_once() -> None:
    with pytest.raises(IdentityError) as raised:
        identity.parse_config({"projects": {"a": {"region": 1}, "b": ["x"]}, "default_project": 3})

    assert len(raised.value.problems) == 3


@pytest.mark.parametrize("name", ["a1", "npasop", "a-b", "a" * 32])
def test_a_name_is_one_that_the_recipe_takes(name: str) -> None:
    assert identity.require_name(name) == name
