"""Every field that users of the existing operator know, held to our schema, and ours held to theirs.

`fields.tsv` says what is known of the existing definitions: the path of each field, its type, and what it may
be. What differs on purpose is listed here.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from npa.crds import definitions

Row = dict[str, str]

# demanded there, and not here: nothing runs that would need it, or it can be done without
NOT_REQUIRED = {
    ("NodeSet", "spec.munge"),
    ("NodeSet", "spec.updateStrategy"),
    ("SlurmCluster", "spec.k8sNodeFilters"),
    ("SlurmCluster", "spec.secrets"),
    *(
        ("SlurmCluster", f"spec.slurmNodes.{path}")
        for path in ("accounting", "exporter", "rest", "controller.munge", "login.munge")
    ),
}
# bounded there, and not here: an empty list is the same as none
NOT_LIMITED = {"spec.k8sNodeFilters"}
FILTER = re.compile(r".*\.k8sNodeFilterName")
# there besides
ADDED = {
    ("SlurmCluster", "status.observedGeneration"),
    ("JailedConfig", "status.observedGeneration"),
    ("NodeSet", "status.plan"),
    ("NodeSet", "status.failures"),
}
LIMITS = ("minimum", "maximum", "minLength", "minItems")
INT_OR_STRING = "x-kubernetes-int-or-string"
OPEN = "x-kubernetes-preserve-unknown-fields"


def rows() -> list[Row]:
    with Path(__file__).with_name("fields.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


ROWS = rows()
SCHEMAS = {each.kind: definitions.root(each) for each in definitions.APIS}


def at(kind: str, path: str) -> tuple[dict[str, Any], bool]:
    """Return what our schema says of a field, and whether it demands it."""
    words, required = SCHEMAS[kind], False
    for part in path.split("."):
        name = part.removesuffix("[]")
        if name == "(inline)":
            return {"type": "object", OPEN: words[OPEN]}, False
        required = name in words.get("required", ())
        words = words["properties"][name]
        if part.endswith("[]"):
            words = words["items"]
    return words, required


def constraint(row: Row, name: str) -> str | None:
    """Return what a row says of one limit, as it is written."""
    found = re.search(rf"(?:^|, |items ){name}=(.*?)(?=, (?:[a-zA-Z]+=|CEL)|$)", row["constraints"])
    return found[1] if found else None


@pytest.mark.parametrize("kind", SCHEMAS)
def test_known_fields_are_there_with_their_types(kind: str) -> None:
    found = {row["path"]: kind_of(at(kind, row["path"])[0]) for row in of(kind)}

    assert found == {row["path"]: wanted_kind(row["type"]) for row in of(kind)}


@pytest.mark.parametrize("kind", SCHEMAS)
def test_known_fields_keep_their_limits(kind: str) -> None:
    found = {row["path"]: limits_of(at(kind, row["path"])[0], row) for row in of(kind)}

    assert found == {row["path"]: wanted_limits(row) for row in of(kind)}


@pytest.mark.parametrize("kind", SCHEMAS)
def test_known_fields_have_their_defaults(kind: str) -> None:
    found, wanted = {}, {}
    for row in of(kind):
        words, _ = at(kind, row["path"])
        default = constraint(row, "default")
        wanted[row["path"]] = complete(json.loads(default), words) if default else None
        found[row["path"]] = complete(words.get("default"), words)

    assert found == wanted


@pytest.mark.parametrize("kind", SCHEMAS)
def test_no_more_is_demanded_than_there(kind: str) -> None:
    wanted = {
        row["path"]
        for row in of(kind)
        if row["required"] == "req"
        and (kind, row["path"]) not in NOT_REQUIRED
        and not FILTER.fullmatch(row["path"])
    }

    assert {row["path"] for row in of(kind) if at(kind, row["path"])[1]} == wanted


def of(kind: str) -> list[Row]:
    return [row for row in ROWS if row["kind"] == kind]


def limits_of(words: dict[str, Any], row: Row) -> dict[str, Any]:
    held = words["items"] if "items enum=" in row["constraints"] else words
    named = {name: words.get(name) for name in LIMITS}
    # a quantity has its pattern wherever it stands
    pattern = words.get("pattern") if constraint(row, "pattern") else None
    return {**named, "enum": held.get("enum"), "pattern": pattern}


def wanted_limits(row: Row) -> dict[str, Any]:
    named = {name: int(found) if (found := constraint(row, name)) else None for name in LIMITS}
    if row["path"] in NOT_LIMITED:
        named = dict.fromkeys(LIMITS)
    enum = constraint(row, "enum")
    return {**named, "enum": enum.split("|") if enum else None, "pattern": constraint(row, "pattern")}


def wanted_kind(type_: str) -> str:
    """Return how our schema has a type of theirs; parts of the Kubernetes API are open mappings."""
    listed, named = ("[]", type_[2:]) if type_.startswith("[]") else ("", type_)
    named = named.removesuffix(" (map by type)")
    plain = {"metav1.Condition": "object", "map[string]object": "map of object"}
    plain |= {"map[string]string": "map of string", "map[string]int|string": "map of int|string"}
    if re.match(r"(corev1|promv1|mariadb)[. ]", named):
        return f"{listed}open"
    return listed + plain.get(named, named)


def kind_of(words: dict[str, Any]) -> str:
    if words.get(INT_OR_STRING):
        return "int|string"
    if words["type"] == "array":
        return f"[]{kind_of(words['items'])}"
    if isinstance(held := words.get("additionalProperties"), dict):
        return f"map of {kind_of(held)}"
    if words.get(OPEN) and "properties" not in words:
        return "open"
    return f"{words['type']}({words['format']})" if "format" in words else str(words["type"])


def complete(value: Any, words: dict[str, Any]) -> Any:
    """Return a value with the defaults within it, as the API server writes them."""
    if not isinstance(value, dict):
        return value
    known = words.get("properties", {})
    given = {key: each["default"] for key, each in known.items() if "default" in each} | value
    return {key: complete(each, known.get(key, {})) for key, each in given.items()}


def test_nothing_is_there_that_nobody_knows() -> None:
    known = {(row["kind"], row["path"]) for row in ROWS}
    unknown = {
        (kind, path)
        for kind, words in SCHEMAS.items()
        for part in ("spec", "status")
        for path in paths(words["properties"][part], part)
        if (kind, path) not in known | ADDED and not covered(kind, path)
    }

    assert unknown == set()


def covered(kind: str, path: str) -> bool:
    """Whether a field is within one that is known as a whole: a condition, one of ours."""
    return any(
        path.startswith((f"{known}[]", f"{known}."))
        for listed, known in [*ADDED, *((row["kind"], row["path"]) for row in ROWS if ends(row["type"]))]
        if listed == kind
    )


def ends(type_: str) -> bool:
    return "Condition" in type_ or type_ == "map[string]object"


def paths(words: dict[str, Any], path: str) -> Iterator[str]:
    for name, each in words.get("properties", {}).items():
        yield f"{path}.{name}"
        inner = each.get("items", each)
        yield from paths(inner, f"{path}.{name}[]" if "items" in each else f"{path}.{name}")
