from __future__ import annotations

from typing import Any

import pytest

from npa.operator import admission
from npa.operator.runtime import webhook
from npa.operator.runtime.webhook import Asked, Verdict
from npa.render.objects import NODE_SET

DOCUMENT: dict[str, Any] = {
    "apiVersion": "admission.k8s.io/v1",
    "kind": "AdmissionReview",
    "request": {"uid": "u", "operation": "UPDATE", "object": {"a": 1}, "oldObject": {"a": 0}},
}


def test_what_is_asked_is_read() -> None:
    assert webhook.request_of(DOCUMENT) == Asked("UPDATE", {"a": 1}, {"a": 0}, "")


def test_an_answer_says_everything_that_is_wrong() -> None:
    answer = webhook.response(DOCUMENT, Verdict(("one", "two"), ("w" * 300,)))["response"]

    assert (answer["uid"], answer["allowed"]) == ("u", False)
    assert answer["status"]["message"] == "one\ntwo"
    assert len(answer["warnings"][0]) == 250


def test_what_is_right_is_allowed() -> None:
    assert webhook.response(DOCUMENT, Verdict())["response"] == {"uid": "u", "allowed": True}


BAD = NODE_SET.object("s", "ns", spec={"replicas": "many"})


@pytest.mark.parametrize(
    ("old", "new", "allowed"),
    [
        pytest.param(None, BAD, False, id="made-wrong"),
        pytest.param(NODE_SET.object("s", "ns", spec={}), BAD, False, id="made-wrong-later"),
        pytest.param(BAD, {**BAD, "status": {}}, True, id="wrong-as-before"),
        pytest.param(
            {"spec": 1}, {**BAD, "metadata": {"deletionTimestamp": "t"}}, True, id="about-to-be-deleted"
        ),
        pytest.param(BAD, None, True, id="deleted"),
    ],
)
def test_only_a_change_of_the_spec_is_refused(old: Any, new: Any, allowed: bool) -> None:
    verdict = admission.review(Asked("UPDATE", new, old, "me"))

    assert (not verdict.problems) is allowed
