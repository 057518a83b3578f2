from __future__ import annotations

import pytest

from npa.agent import digest
from npa.agent.errors import NotAgreedError

PLAN = {"steps": [{"key": "create:cluster"}]}


def test_it_does_not_depend_on_the_order_of_keys() -> None:
    assert digest.digest("deploy", {"a": 1, "b": 2}, PLAN) == digest.digest("deploy", {"b": 2, "a": 1}, PLAN)


def test_it_is_of_one_verb() -> None:
    assert digest.digest("deploy", {}, PLAN) != digest.digest("destroy", {}, PLAN)


def test_the_right_one_is_taken() -> None:
    digest.require(digest.digest("deploy", {}, PLAN), PLAN, digest.digest("deploy", {}, PLAN))


@pytest.mark.parametrize(
    ("named", "why"),
    [
        pytest.param("", "no `digest` says", id="none"),
        pytest.param("sha256:" + "0" * 64, "that of another plan", id="another"),
    ],
)
def test_any_other_is_refused_with_the_plan_of_now(named: str, why: str) -> None:
    current = digest.digest("deploy", {}, PLAN)

    with pytest.raises(NotAgreedError, match=why) as caught:
        digest.require(named, PLAN, current)

    assert (caught.value.plan, caught.value.digest) == (PLAN, current)
