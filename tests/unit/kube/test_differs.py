from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from npa.render.kube import differs
from npa.render.kube.names import WANTED

WORKLOAD: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "a", "namespace": "n", "labels": {"app": "a"}},
    "spec": {
        "replicas": 1,
        "template": {
            "spec": {
                "containers": [
                    {
                        "name": "one",
                        "image": "i:1",
                        "args": ["a", "b"],
                        "resources": {"requests": {"cpu": "1000m", "memory": "1Gi"}},
                        "ports": [{"name": "p", "containerPort": 1}],
                    }
                ],
                "volumes": [{"name": "v", "emptyDir": {}}],
            }
        },
    },
}


def served(**changes: Any) -> dict[str, Any]:
    """What an API server makes of it: defaults, other spellings, and what others added."""
    container = {
        "name": "one",
        "image": "i:1",
        "args": ["a", "b"],
        "resources": {"requests": {"cpu": "1", "memory": "1024Mi"}},
        "ports": [{"name": "p", "containerPort": 1, "protocol": "TCP"}],
        "imagePullPolicy": "IfNotPresent",
        **changes,
    }
    stamped = differs.stamp(WORKLOAD)
    metadata = {**stamped["metadata"], "uid": "u", "resourceVersion": "1"}
    spec = {
        "replicas": 1,
        "podManagementPolicy": "OrderedReady",
        "template": {
            "spec": {
                "containers": [{"name": "injected", "image": "x"}, container],
                "volumes": [{"name": "v", "emptyDir": {}}, {"name": "token"}],
                "restartPolicy": "Always",
            }
        },
    }
    return {**stamped, "metadata": metadata, "spec": spec, "status": {"replicas": 1}}


def test_what_the_api_server_makes_of_it_is_the_same() -> None:
    assert not differs.differs(differs.stamp(WORKLOAD), served())


def test_what_is_not_there_is_written() -> None:
    assert differs.differs(differs.stamp(WORKLOAD), None)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"image": "i:2"}, id="another-value"),
        pytest.param({"args": ["a"]}, id="an-argument-less"),
        pytest.param({"args": ["a", "b", "c"]}, id="an-argument-more"),
        pytest.param({"ports": []}, id="a-port-less"),
        pytest.param({"resources": {"requests": {"cpu": "2", "memory": "1Gi"}}}, id="another-amount"),
        pytest.param({"resources": {}}, id="no-amount"),
    ],
)
def test_what_somebody_changed_is_written(changes: dict[str, Any]) -> None:
    assert differs.differs(differs.stamp(WORKLOAD), served(**changes))


def test_a_field_that_is_not_wanted_any_more_is_written_away() -> None:
    more = {**WORKLOAD, "metadata": {**WORKLOAD["metadata"], "labels": {"app": "a", "old": "x"}}}

    assert differs.differs(differs.stamp(WORKLOAD), differs.stamp(more))


def test_the_digest_is_of_what_is_wanted_and_not_of_itself() -> None:
    once = differs.stamp(WORKLOAD)

    assert differs.stamp(once) == once
    assert once["metadata"]["annotations"][WANTED] == differs.digest(WORKLOAD)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1000m", "1", True),
        ("1", 1, True),
        ("0.5", "500m", True),
        ("1Gi", "1024Mi", True),
        ("1G", "1Gi", False),
        ("1e3", "1k", True),
        ("1E", "1000P", True),
        ("x", "1", False),
        (True, "1", False),
        ("", "0", False),
    ],
)
def test_quantities_are_compared_as_amounts(one: object, other: object, same: bool) -> None:
    assert differs.same(one, other) is same


@pytest.mark.parametrize("key", ["value", "image"])
def test_only_quantities_are_amounts(key: str) -> None:
    assert not differs.covers({key: "1"}, {key: "1000m"})


SCALARS = some.none() | some.booleans() | some.integers() | some.text(max_size=5)
OBJECTS = some.dictionaries(
    some.text(max_size=5),
    some.recursive(
        SCALARS, lambda each: some.lists(each, max_size=3) | some.dictionaries(some.text(max_size=5), each)
    ),
    max_size=4,
)


@given(OBJECTS)
def test_whatever_is_wanted_covers_itself(wanted: dict[str, Any]) -> None:
    assert differs.covers(wanted, wanted)


@given(OBJECTS, OBJECTS)
def test_what_others_add_is_no_difference(wanted: dict[str, Any], added: dict[str, Any]) -> None:
    assert differs.covers({**added, **wanted}, wanted)
