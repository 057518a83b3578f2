"""Replies: documents of a real Slurm 26.05.5 (trimmed), and the shapes of older versions."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npa.errors import SlurmError, UnknownError
from npa.slurm import replies, version, wire
from npa.slurm.quantity import UNLIMITED, Amount, QuantityError
from npa.slurm.replies import Ping
from npa.slurm.states import NodeState
from npa.slurm.wire import ExitCode

REAL = Path(__file__).parents[2] / "golden" / "slurm" / "replies-26.05"


def real(name: str) -> object:
    return replies.load((REAL / name).read_bytes())


@pytest.mark.parametrize("parser", ["v0.0.42", "v0.0.45"])
def test_nodes_of_a_real_slurm(parser: str) -> None:
    drained, busy = replies.nodes(real(f"nodes-{parser}.json"))

    assert (drained.name, drained.state.draining, drained.reason) == ("cpu-1", True, "npa: test")
    assert drained.reason_user == "root"
    assert drained.reason_changed_at is not None
    assert drained.boot_time is None
    assert (busy.name, busy.state) == ("gpu-0", NodeState("MIXED"))
    assert (busy.cpus, busy.real_memory, busy.gres) == (160, 1_792_000, "gpu:b200:8")
    assert (busy.features, busy.partitions) == (("ib", "b200"), ("main", "gpus"))
    assert (busy.alloc_cpus > 0, busy.version) == (True, "26.05.5")


def test_jobs_of_a_real_slurm() -> None:
    jobs = {job.id: job for job in replies.jobs(real("jobs-v0.0.45.json"))}

    assert set(jobs) == {"2", "3_1", "3_[2-3%1]", "4"}
    assert jobs["2"].name == "crazy|name"
    assert (jobs["2"].nodes, jobs["2"].time_limit, jobs["2"].reason) == (("gpu-0",), 10, "")
    assert (jobs["3_1"].number, jobs["3_1"].user) == (5, "root")
    assert jobs["4"].time_limit is UNLIMITED
    assert (jobs["4"].state.pending, jobs["4"].reason, jobs["4"].nodes) == (True, "JobHeldUser", ())


def test_ping_and_diag_of_a_real_slurm() -> None:
    document = real("ping-v0.0.45.json")

    assert replies.pings(document).rows == (Ping("controller-0", primary=True, responding=True),)
    assert replies.slurm_version(document) == "26.05.5"
    assert replies.diag(real("diag-v0.0.45.json"))["jobs_submitted"] == 6


def test_ping_of_older_versions() -> None:
    document = {"pings": [{"hostname": "c", "pinged": "DOWN", "latency": 0, "mode": "backup"}]}

    assert replies.pings(document).rows == (Ping("c", primary=False, responding=False),)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"set": True, "infinite": True, "number": 0}, UNLIMITED),
        ({"set": False, "infinite": True, "number": 0}, UNLIMITED),
        ({"set": False, "infinite": False, "number": 0}, None),
        ({"set": True, "infinite": False, "number": 0}, 0),
        ({"set": True, "number": 1}, 1),
        ({"number": 7}, 7),
        ({}, None),
        (60, 60),
        ("60", 60),
        (0, 0),
        (None, None),
        ("N/A", None),
        ("UNLIMITED", UNLIMITED),
        (4_863_251_990, 4_863_251_990),
        (2**63, 2**63),
        (4_294_967_294, None),
        (4_294_967_295, UNLIMITED),
        (12.0, 12),
    ],
)
def test_c41_infinite_unset_and_zero_are_three(value: object, expected: Amount) -> None:
    assert wire.number(value) == expected


@pytest.mark.parametrize("value", ["soon", True, [], {"set": True, "number": "x"}, float("nan")])
def test_c41_other_things_are_no_numbers(value: object) -> None:
    with pytest.raises(QuantityError):
        wire.number(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"return_code": {"set": True, "number": 1}, "signal": {"id": {"set": False}}}, ExitCode(1)),
        (
            {"return_code": {"set": True, "number": 0}, "signal": {"id": {"set": True, "number": 9}}},
            ExitCode(0, 9),
        ),
        ({"status": "SUCCESS", "return_code": 0, "signal": {"signal_id": 0, "name": "NONE"}}, ExitCode(0)),
        ({"return_code": {"set": False}}, None),
        (256, ExitCode(1)),
        (9, ExitCode(0, 9)),
        (0, ExitCode(0)),
        (-1, None),
        (None, None),
        ("0:125", ExitCode(0, 125)),
    ],
)
def test_c41_exit_codes(value: object, expected: ExitCode | None) -> None:
    assert wire.exit_code(value) == expected


def test_c41_counters_have_64_bits() -> None:
    document = {
        "statistics": {"schedule_cycle_sum": 4_863_251_990, "bf_active": False, "rpcs": [], "new": "x"}
    }

    assert replies.diag(document) == {"schedule_cycle_sum": 4_863_251_990}


def test_c41_pick_version() -> None:
    paths = [f"/slurm/v0.0.{minor}/nodes/" for minor in (42, 43, 44)]

    assert version.pick_version(paths) == "v0.0.44"
    assert version.pick_version(["v0.0.9", "v0.0.41"]) == "v0.0.41"
    assert version.pick_version(["v0.0.45", "v0.0.46"]) == "v0.0.45"


def test_c41_no_common_version_says_both_sides() -> None:
    with pytest.raises(SlurmError) as caught:
        version.pick_version(["v0.0.45", "v0.0.46"], supported=["v0.0.42", "v0.0.44"])

    assert str(caught.value) == "slurmrestd offers v0.0.45 to v0.0.46, npa supports v0.0.42 to v0.0.44"
    with pytest.raises(UnknownError):
        version.pick_version(["/livez"])


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        "nodes",
        {},
        {"nodes": None},
        {"nodes": {}},
        {"jobs": []},
        {"nodes": [], "errors": [{"description": "Unable to contact slurm controller"}]},
    ],
)
def test_c23_no_answer_is_not_an_empty_answer(document: object) -> None:
    with pytest.raises(UnknownError):
        replies.nodes(document)


def test_c23_text_that_is_not_json() -> None:
    with pytest.raises(UnknownError):
        replies.load("slurm_load_node error: Unable to contact slurm controller")


def test_c39_old_and_new_rest_states() -> None:
    old = {
        "name": "n1",
        "state": "idle",
        "state_flags": ["DRAIN"],
        "partitions": "a,b",
        "reason_changed_at": 0,
    }
    new = {"name": "n1", "state": ["DRAIN", "IDLE"], "partitions": ["a", "b"], "later": {"field": 1}}

    assert replies.nodes({"nodes": [old]}).rows == replies.nodes({"nodes": [new]}).rows


def test_c43_a_broken_row_leaves_the_others() -> None:
    rows: list[Any] = [{"name": "n1", "state": ["IDLE"]}, {"name": "n2", "cpus": "many"}, {}, 7, None]
    found = replies.nodes({"nodes": rows})

    assert [node.name for node in found] == ["n1"]
    assert len(found.problems) == 4
    assert "n2" in found.problems[0]


@pytest.mark.parametrize(
    "name", ["crazy|name", "two words", "tab\there", "new\nline", "naïve-日本", '"q"', "none", "a" * 256]
)
def test_c43_names_are_not_touched(name: str) -> None:
    job = {"job_id": 1, "job_state": ["RUNNING"], "name": name, "user_name": "ann", "nodes": "n[1-2]"}
    found = replies.jobs({"jobs": [job]}).rows[0]

    assert (found.name, found.nodes) == (name, ("n1", "n2"))


def test_het_jobs_are_spelled_as_squeue_does() -> None:
    job = {"job_id": 8, "job_state": "PENDING", "het_job_id": {"set": True, "number": 7}, "het_job_offset": 1}

    assert replies.jobs({"jobs": [job]}).rows[0].id == "7+1"


def test_accounted_jobs() -> None:
    job = {
        "job_id": 12,
        "array": {"job_id": 10, "task_id": {"set": True, "infinite": False, "number": 3}, "task": ""},
        "het": {"job_id": 0, "job_offset": {"set": False, "infinite": False, "number": 0}},
        "user": "ann",
        "name": "train",
        "partition": "main",
        "account": "ml",
        "nodes": "None assigned",
        "state": {"current": ["CANCELLED"], "reason": "None"},
        "time": {"submission": 1_700_000_000, "start": 0, "end": 0, "limit": {"set": True, "number": 60}},
        "exit_code": {
            "status": ["SIGNALED"],
            "return_code": {"set": False},
            "signal": {"id": {"number": 15}},
        },
    }
    found = replies.accounted({"jobs": [job], "errors": []}).rows[0]

    assert (found.id, found.number, found.nodes, found.state.terminal) == ("10_3", 12, (), True)
    assert (found.time_limit, found.exit_code) == (60, ExitCode(0, 15))
    assert found.submitted_at == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert found.started_at is None


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)


def spoil(name: str, rows: str, data: st.DataObject) -> Any:
    document: Any = json.loads((REAL / name).read_bytes())
    row = data.draw(st.sampled_from(document[rows]))
    row[data.draw(st.sampled_from(sorted(row)))] = data.draw(JSON)
    return document


@given(st.data())
def test_c41_any_node_is_read_or_a_problem(data: st.DataObject) -> None:
    document = spoil("nodes-v0.0.45.json", "nodes", data)
    found = replies.nodes(document)

    assert len(found) + len(found.problems) == len(document["nodes"])


@given(st.data())
def test_c41_any_job_is_read_or_a_problem(data: st.DataObject) -> None:
    document = spoil("jobs-v0.0.45.json", "jobs", data)
    found = replies.jobs(document)

    assert len(found) + len(found.problems) == len(document["jobs"])
