"""C16: what a plan holds in clear text is not shown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.fakes.tfplans import document, judge, resource, workers

from npa.errors import DestructiveError
from npa.plan import codec, text
from npa.render.nebius import plan_text, redaction, tfguard, tfjson, tfmask
from npa.render.nebius.adapter import PIN, adapter
from npa.render.nebius.plan_text import Context

SECRET = "hunter2"


@pytest.mark.parametrize(
    ("value", "mask", "shown"),
    [
        pytest.param({"a": SECRET, "b": 1}, {"a": True}, {"a": "(sensitive)", "b": 1}, id="one"),
        pytest.param({"a": SECRET}, True, "(sensitive)", id="all"),
        pytest.param([SECRET, 1], [True, False], ["(sensitive)", 1], id="list"),
        pytest.param(
            {"a": [{"b": SECRET}]}, {"a": [{"b": True}]}, {"a": [{"b": "(sensitive)"}]}, id="nested"
        ),
        pytest.param([SECRET, SECRET], [True], "(sensitive)", id="mask-too-short"),
        pytest.param({"a": SECRET}, [True], "(sensitive)", id="mask-of-another-form"),
        pytest.param({"a": SECRET}, "yes", "(sensitive)", id="mask-that-is-a-word"),
        pytest.param({"a": 1}, {}, {"a": 1}, id="no-mask"),
        pytest.param({"a": None}, {"a": {"b": True}}, {"a": None}, id="null"),
    ],
)
def test_c16_masks_at_any_depth(value: Any, mask: Any, shown: Any) -> None:
    assert json.loads(json.dumps(tfmask.masked(value, mask), default=str)) == shown


def secretive(*actions: str) -> dict[str, Any]:
    return document(
        resource(
            "x.secret", *actions, before={"input": f"{SECRET}-old", "list": [SECRET]},
            after={"input": SECRET, "list": [SECRET, SECRET]},
            before_sensitive={"input": True, "list": True},
            after_sensitive={"input": True, "list": [True, True]},
            importing={"id": SECRET},
        ),
        variables={"db_password": {"value": SECRET}},
        planned_values={"root_module": {"resources": [{"values": {"input": SECRET}}]}},
    )  # fmt: skip


@pytest.mark.parametrize(
    "actions", [("update",), ("delete",), ("delete", "create"), ("create",), ("forget",)]
)
def test_c16_nothing_of_ours_holds_a_secret(actions: tuple[str, ...]) -> None:
    document = secretive(*actions)
    verdict = judge(document)
    with pytest.raises(DestructiveError) as caught:
        tfguard.check(verdict)
    plan = plan_text.plan(verdict, Context("c", adapter(PIN)))
    ours = [
        repr(tfjson.decode(document)), repr(verdict), repr(plan), text.text(plan),
        json.dumps(codec.encode(plan)), str(caught.value), caught.value.hint,
        repr(plan_text.refusals(verdict)),
    ]  # fmt: skip

    assert not [each for each in ours if SECRET in each]


def test_c16_a_secret_that_changes_is_said_to_change() -> None:
    plan = plan_text.plan(judge(secretive("update")), Context("c", adapter(PIN)))

    assert plan.steps[0].diff == "input: (sensitive) -> (sensitive)\nlist: (sensitive) -> (sensitive)"


def test_c16_a_fault_holds_no_value() -> None:
    plan = secretive("update")
    plan["resource_changes"][0]["change"]["actions"] = ["update", {"value": SECRET}]

    assert SECRET not in repr(tfjson.decode(plan))


def test_a_reservation_is_not_shown() -> None:
    def template(reservation: str) -> dict[str, Any]:
        return {"name": "gpu-0", "fixed_node_count": 1,
                "template": {"reservation_policy": {"reservation_ids": [reservation]}}}  # fmt: skip

    verdict = judge(document(workers(0, "update", old=template("cbg-a"), new=template("cbg-b"))))

    assert "reservation_ids (sensitive) -> (sensitive)" in verdict.refused[0].text


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
        ('{"access_token": "abc", "a": 1}', '{"access_token": ***, "a": 1}'),
        ("password=abc next", "password=*** next"),
        ("key ne1" + "a" * 30 + " end", "key *** end"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n", "***"),
        ("the exact one: s3cr3t-value", "the exact one: ***"),
        ("12 tokens were used", "12 tokens were used"),
    ],
)
def test_redaction(given: str, shown: str) -> None:
    known = redaction.secrets({"NEBIUS_IAM_TOKEN": "s3cr3t-value", "PATH": "/bin"})

    assert redaction.redact(given, known) == shown
