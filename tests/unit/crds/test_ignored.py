from __future__ import annotations

import pytest
from tests.unit.crds import objects

from npa.crds import admission, definitions, ignored

PATHS = [(kind, path) for kind, table in ignored.IGNORED.items() for path in table]


@pytest.mark.parametrize(("kind", "path"), PATHS)
def test_each_ignored_field_is_one(kind: str, path: str) -> None:
    assert ignored.field(kind, path) is not None


@pytest.mark.parametrize(("kind", "path"), PATHS)
def test_none_is_within_another(kind: str, path: str) -> None:
    assert [other for other in ignored.IGNORED[kind] if path.startswith(f"{other}.")] == []


@pytest.mark.parametrize(("kind", "path"), PATHS)
def test_each_says_why(kind: str, path: str) -> None:
    assert ignored.why(kind, path)
    assert ignored.why(kind, f"{path}.inner[].more") == ignored.why(kind, path)


def test_what_is_acted_on_has_no_excuse() -> None:
    assert ignored.why("SlurmCluster", "spec.slurmNodes.login.sshd") == ""


def test_an_object_tells_what_of_it_is_ignored() -> None:
    found = objects.nodeset(munge={"image": {"repository": "munge"}, "resources": {}})

    assert ignored.ignored_in(found) == ("spec.munge",)
    assert admission.review(found).warnings[-1] == "ignored fields: spec.munge"


@pytest.mark.parametrize("empty", [None, "", {}, []])
def test_nothing_is_ignored_where_nothing_is_said(empty: object) -> None:
    assert ignored.ignored_in(objects.cluster(sConfigController=empty, crVersion=empty)) == ()


def test_defaults_that_the_api_server_writes_are_not_told() -> None:
    written = {"serviceAccountName": "", "reconfigurePollInterval": "20s", "reconfigureWaitTimeout": "5m"}

    assert ignored.ignored_in(objects.cluster(sConfigController=written)) == ()
    assert ignored.ignored_in(objects.cluster(sConfigController={**written, "runAsUid": 1})) == (
        "spec.sConfigController",
    )


@pytest.mark.parametrize("kind", ["Pod", None, 3])
def test_other_objects_have_nothing_to_tell(kind: object) -> None:
    assert ignored.ignored_in({"kind": kind, "spec": {"munge": {"image": "x"}}}) == ()


def test_every_kind_with_ignored_fields_is_ours() -> None:
    assert set(ignored.IGNORED) <= {each.kind for each in definitions.APIS}
