"""The schema and the models are two readers of the same object: they take and refuse the same ones."""

from __future__ import annotations

from typing import Any

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.crds.test_parse import PARSERS, WHOLE, _copied, keys, places

from npa.crds import definitions
from npa.errors import SpecError

VALIDATORS = {each.kind: jsonschema.Draft7Validator(definitions.root(each)) for each in definitions.APIS}
# null is the same as nothing to both, which JSON Schema cannot say; and `$` of Python's patterns, which
# JSON Schema has here, takes a line break at the end that neither Go's nor ours do
LINE = st.text(max_size=6).filter(lambda text: "\n" not in text)
LEAVES = (
    st.booleans()
    | st.integers(-(2**31), 2**31 - 1)
    | LINE
    | st.sampled_from(["1Gi", "10%", "30s", "v1", "none", "CPU,Mem", "IfNotPresent", "Delete", "custom"])
)
DEEP = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(keys()) | LINE, inner, max_size=3)
    ),
    max_leaves=12,
)
# what is recursive is hardly ever a leaf, and most fields are
VALUES = st.booleans().flatmap(lambda deep: DEEP if deep else LEAVES)


def readable(kind: str, obj: dict[str, Any]) -> bool:
    try:
        PARSERS[kind](obj)
    except SpecError:
        return False
    return True


@settings(deadline=None, max_examples=400)
@given(st.sampled_from(WHOLE), st.data(), VALUES)
def test_one_strange_value_is_refused_by_both_or_by_none(
    whole: dict[str, Any], data: st.DataObject, value: Any
) -> None:
    *outer, last = data.draw(st.sampled_from(places(whole["spec"])))
    changed = {**whole, "spec": _copied(whole["spec"])}
    held = changed["spec"]
    for key in outer:
        held = held[key]
    held[last] = value
    valid = VALIDATORS[whole["kind"]].is_valid(changed)

    assert readable(whole["kind"], changed) == valid


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(sorted(PARSERS)), st.dictionaries(st.sampled_from(keys()), VALUES, max_size=4))
def test_a_strange_spec_is_refused_by_both_or_by_none(kind: str, spec: dict[str, Any]) -> None:
    obj = {"kind": kind, "metadata": {"name": "x"}, "spec": spec}

    assert readable(kind, obj) == VALIDATORS[kind].is_valid(obj)


def test_both_take_something() -> None:
    assert all(VALIDATORS[each["kind"]].is_valid(each) and readable(each["kind"], each) for each in WHOLE)
