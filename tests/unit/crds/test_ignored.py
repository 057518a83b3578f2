from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.crds import objects

import npa
from npa.crds import admission, definitions, ignored, schema
from npa.crds.base import Part

SOURCES = Path(npa.__file__).parent
# fields that are read without their names being written: as parts of a name, or through a property
UNSEEN = re.compile(r".*\.(slurmdbdConfig\.purge[A-Za-z]+|image\.(repository|tag))|spec\.nodeSetRef")
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


def test_a_part_that_the_api_server_writes_as_a_whole_is_not_told() -> None:
    whole = {"ncclInspectorPreConf": {"enabled": False}, "pyxis": {"required": True}}
    written = {"enabled": False, "required": False, "dumpVerbose": False}

    assert ignored.ignored_in(objects.cluster(plugStackConfig=whole)) == ()
    assert ignored.ignored_in(objects.cluster(plugStackConfig={"ncclInspectorPreConf": written})) == ()
    assert ignored.ignored_in(
        objects.cluster(plugStackConfig={"ncclInspectorPreConf": {"enabled": True}})
    ) == ("spec.plugStackConfig.ncclInspectorPreConf",)


@pytest.mark.parametrize("kind", ["Pod", None, 3])
def test_other_objects_have_nothing_to_tell(kind: object) -> None:
    assert ignored.ignored_in({"kind": kind, "spec": {"munge": {"image": "x"}}}) == ()


def test_every_kind_with_ignored_fields_is_ours() -> None:
    assert set(ignored.IGNORED) <= {each.kind for each in definitions.APIS}


def nodes(*folders: str) -> Iterator[ast.AST]:
    for folder in folders:
        for path in (SOURCES / folder).rglob("*.py"):
            yield from ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def words() -> set[str]:
    """Return every attribute and every text in the code that acts on objects."""
    found: set[str] = set()
    for node in nodes("render", "reconcile", "operator"):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found


def attributes(part: type[Part], path: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the attribute of each field."""
    for (key, field), name in zip(schema.fields(part).items(), part.model_fields, strict=True):
        yield f"{path}.{key}", name
        if (inner := schema.part_in(field.annotation)) is not None:
            yield from attributes(inner, f"{path}.{key}")


def unsaid(kind: str, part: type[Part], path: str, said: set[str]) -> Iterator[str]:
    """Yield the fields that nothing reads, as far as that can be seen, and that are not listed."""
    for (key, field), name in zip(schema.fields(part).items(), part.model_fields, strict=True):
        at = f"{path}.{key}"
        inner = schema.part_in(field.annotation)
        if ignored.why(kind, at) or UNSEEN.fullmatch(at):
            continue
        if name not in said and key not in said:
            yield at
        elif inner is not None:
            yield from unsaid(kind, inner, at, said)


@pytest.mark.parametrize("api", definitions.APIS, ids=lambda each: each.kind)
def test_what_nothing_reads_is_listed(api: definitions.Api) -> None:
    listed = () if ignored.why(api.kind, "spec") else unsaid(api.kind, api.spec, "spec", words())

    assert list(listed) == [], "act on it, or say in npa.crds.ignored why not"


def test_what_is_listed_is_read_nowhere() -> None:
    fields = [(api.kind, *each) for api in definitions.APIS for each in attributes(api.spec, "spec")]
    acted_on = {name for kind, path, name in fields if not ignored.why(kind, path)}
    read = {node.attr for node in nodes("render/kube", "reconcile") if isinstance(node, ast.Attribute)}
    stale = {
        f"{kind} {path}"
        for kind, path, name in fields
        if path in ignored.IGNORED.get(kind, {}) and name in read - acted_on
    }

    assert stale == set(), "it seems to be acted on: take it out of npa.crds.ignored"


@pytest.mark.parametrize("kind", [kind for kind, table in ignored.IGNORED.items() if "spec" in table])
def test_a_kind_that_is_listed_is_read_nowhere(kind: str) -> None:
    imported = {node.module for node in nodes("reconcile", "render/kube") if isinstance(node, ast.ImportFrom)}

    assert f"npa.crds.{kind.lower()}" not in imported, "take it out of npa.crds.ignored"
