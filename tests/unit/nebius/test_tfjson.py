"""Whatever stands where in a plan, reading it never fails and never passes what is not understood."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.tfplans import document, group, resource, workers

from npa.errors import RefusedError
from npa.render.nebius import plan_text, tfguard, tfjson
from npa.render.nebius.adapter import PIN, adapter
from npa.render.nebius.plan_text import Context
from npa.render.nebius.tfguard import Request

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "no-op", "x"]),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.sampled_from("abc"), inside, max_size=3),
    max_leaves=6,
)
WHOLE = document(
    workers(
        0, "update", old=group("gpu-0", 4, template={"a": [1]}), new=group("gpu-0", 5, template={"a": [2]})
    ),
    resource(
        "x.y", "delete", "create", replace_paths=[["a", 0]], action_reason="replace_because_cannot_update"
    ),
    checks=[
        {
            "address": {"to_display": "check.a"},
            "status": "fail",
            "instances": [{"problems": [{"message": "m"}]}],
        }
    ],
    deferred_changes=[{"reason": "x", "resource_change": resource("x.z", "delete")}],
    resource_drift=[resource("x.z", "delete")],
    output_changes={"o": {"actions": ["update"]}},
)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, each in inside for place in places(each, (*at, key)))]


def put(document: Any, at: tuple[Any, ...], value: Any) -> Any:
    if not at:
        return value
    changed = copy.deepcopy(document)
    inside = changed
    for step in at[:-1]:
        inside = inside[step]
    inside[at[-1]] = value
    return changed


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(places(WHOLE)), JSON)
def test_nothing_that_stands_in_a_plan_breaks_the_guard(at: tuple[Any, ...], value: Any) -> None:
    decoded = tfjson.decode(put(WHOLE, at, value))
    verdict = tfguard.decide(decoded, adapter(PIN), Request(2))
    plan_text.plan(verdict, Context("c", adapter(PIN)))
    try:
        tfguard.check(verdict)
    except RefusedError:
        return
    raise AssertionError(f"passed with {value!r} at {at}")
