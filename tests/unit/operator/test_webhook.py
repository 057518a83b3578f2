from __future__ import annotations

from typing import Any

from npa.operator.runtime import webhook
from npa.operator.runtime.webhook import Asked, Verdict

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
