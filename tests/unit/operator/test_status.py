from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from npa.operator import status

NOW = datetime(2030, 1, 1, tzinfo=UTC)
FAILED = {"type": "Reconciled", "status": "False", "reason": "X", "message": "y", "lastTransitionTime": "t"}
OTHER = {"type": "Other", "status": "True"}

SCALARS = some.booleans() | some.integers() | some.text(max_size=3) | some.lists(some.integers(), max_size=2)
MAPPINGS = some.dictionaries(
    some.text(max_size=2), SCALARS | some.dictionaries(some.text(max_size=2), SCALARS, max_size=3), max_size=4
)


def merged(found: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """RFC 7386."""
    result = dict(found)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            there = result.get(key)
            result[key] = merged(there if isinstance(there, dict) else {}, value)
        else:
            result[key] = value
    return result


@given(MAPPINGS, MAPPINGS)
def test_a_patch_makes_of_what_is_found_exactly_what_is_wanted(
    found: dict[str, Any], wanted: dict[str, Any]
) -> None:
    assert merged(found, status.patch(found, wanted)) == wanted


@given(MAPPINGS)
def test_nothing_is_written_where_all_is_as_wanted(found: dict[str, Any]) -> None:
    assert status.patch(found, found) == {}


def test_a_failure_is_said_once() -> None:
    found: dict[str, Any] = {"status": {"phase": "p", "conditions": [OTHER]}}
    said = status.failed(found, "KubernetesError", "no", NOW)

    assert said is not None
    assert said["phase"] == "p"
    assert [row["type"] for row in said["conditions"]] == ["Other", "Reconciled"]
    assert status.failed({"status": said}, "KubernetesError", "no", NOW) is None


def test_another_failure_is_said_and_keeps_since_when_it_fails() -> None:
    said = status.failed({"status": {"conditions": [FAILED]}}, "X", "z", NOW)

    assert said is not None
    assert (said["conditions"][0]["message"], said["conditions"][0]["lastTransitionTime"]) == ("z", "t")


def test_a_pass_that_went_well_takes_the_failure_away() -> None:
    found = {"status": {"conditions": [FAILED, OTHER]}}

    assert status.wanted(found, None) == {"conditions": [OTHER]}
    assert status.wanted(found, {"conditions": [FAILED], "phase": "p"}) == {"conditions": [], "phase": "p"}


def test_a_settled_object_keeps_its_status() -> None:
    assert status.wanted({"status": {"conditions": [OTHER]}}, None) is None
