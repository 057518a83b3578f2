from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npa.errors import RefusedError
from npa.plan import codec
from npa.plan.model import Change, JobRef, Plan, Step, Verb

words = st.lists(st.text(max_size=8), max_size=3).map(tuple)
jobs = st.builds(JobRef, st.text(), st.text(), st.text(), st.text(), words, st.text(), words)
changes = st.builds(Change, *(st.text() for _ in range(7)))
steps = st.builds(
    Step,
    verb=st.sampled_from(get_args(Verb)),
    subject=st.text(),
    reason=st.text(),
    key=st.text(),
    nodes=words,
    jobs=st.lists(jobs, max_size=2).map(tuple),
    pending=st.lists(jobs, max_size=2).map(tuple),
    kills_jobs=st.booleans(),
    diff=st.text(),
)
plans = st.builds(
    Plan,
    cluster=st.text(),
    target=st.just("local"),
    steps=st.lists(steps, max_size=3).map(tuple),
    changes=st.lists(changes, max_size=2).map(tuple),
    unchanged=words,
    notes=words,
)

STEP = Step("start", "pool gpu", "new", "start:gpu", ("gpu-0",), (JobRef("1", "a", "b", "RUNNING"),))
PLAN = Plan("quick", "local", (STEP,), unchanged=("pool cpu8",), notes=("no telemetry",))


@given(plans)
def test_a_plan_survives_json(plan: Plan) -> None:
    assert codec.decode(json.loads(json.dumps(codec.encode(plan)))) == plan


@given(plans, st.text(), st.booleans(), st.floats(0, 1e6))
def test_a_plan_file_survives(plan: Plan, spec: str, force: bool, wait: float) -> None:
    file = codec.PlanFile(spec, "local", plan, force, ("stop:gpu",), wait)

    assert codec.decode_file(codec.encode_file(file)) == file


def test_json_says_its_version_and_has_only_plain_values() -> None:
    encoded = codec.encode(PLAN)

    assert encoded["schema_version"] == "npa.soperator.plan/v1"
    assert encoded == json.loads(json.dumps(encoded))


def spoiled(**changes: Any) -> dict[str, Any]:
    return {**codec.encode(PLAN), **changes}


def spoiled_step(**changes: Any) -> dict[str, Any]:
    return spoiled(steps=[{**codec.encode(PLAN)["steps"][0], **changes}])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        pytest.param(spoiled(schema_version="npa.soperator.plan/v2"), "plan/v2", id="newer"),
        pytest.param(spoiled(later=1), "later", id="unknown-key"),
        pytest.param({"schema_version": "npa.soperator.plan/v1"}, "steps", id="missing-keys"),
        pytest.param(spoiled(cluster=3), "cluster", id="wrong-type"),
        pytest.param(spoiled(notes="no"), "notes", id="string-for-list"),
        pytest.param(spoiled(unchanged=[1]), "unchanged", id="number-in-list"),
        pytest.param(spoiled(steps={}), "steps", id="mapping-for-list"),
        pytest.param(spoiled(steps=[None]), r"steps\[0\]", id="null-step"),
        pytest.param(spoiled_step(verb="explode"), "explode", id="unknown-verb"),
        pytest.param(spoiled_step(kills_jobs=0), "kills_jobs", id="number-for-boolean"),
        pytest.param(spoiled_step(jobs=[{"id": "1"}]), r"steps\[0\]\.jobs\[0\]", id="half-a-job"),
        pytest.param([], "mapping", id="list"),
    ],
)
def test_what_is_not_exactly_a_plan_is_refused(value: object, said: str) -> None:
    with pytest.raises(RefusedError, match=said) as refused:
        codec.decode(value)

    assert "plan again" in refused.value.hint


FILE = json.loads(codec.encode_file(codec.PlanFile("name: quick\n", "local", PLAN)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", "not JSON", id="empty"),
        pytest.param("[" * 100_000, "not JSON", id="too-deep"),
        pytest.param("name: quick\n", "not JSON", id="a-spec"),
        pytest.param(json.dumps(codec.encode(PLAN)), "plan file", id="a-bare-plan"),
        pytest.param(json.dumps({**FILE, "target": "moon"}), "moon", id="unknown-target"),
        pytest.param(json.dumps({**FILE, "target": "nebius"}), "nebius", id="two-targets"),
        pytest.param(json.dumps({**FILE, "options": {"force": True}}), "wait_for_jobs", id="half-options"),
    ],
)
def test_what_is_not_exactly_a_plan_file_is_refused(text: str, said: str) -> None:
    with pytest.raises(RefusedError, match=said):
        codec.decode_file(text)
