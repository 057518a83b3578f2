"""Figures of nodes and jobs: what is not known has none, and what cannot be used is told apart."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from npa.errors import UnknownError
from npa.metrics import jobs, nodes, seen, snapshot
from npa.metrics.seen import Job, Node
from npa.metrics.snapshot import Snapshot
from npa.slurm.replies import Rows
from npa.slurm.states import JobState, NodeState

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("state", "so"),
    [
        ("IDLE", False),
        ("MIXED", False),
        ("ALLOCATED+DRAIN", False),
        ("IDLE+DRAIN", True),
        ("DOWN", True),
        ("IDLE+NOT_RESPONDING", True),
        ("UNKNOWN", True),
        ("ERROR", True),
        ("MIXED+FAIL", True),
        ("IDLE+INVALID_REG", True),
        ("IDLE+CLOUD+POWERED_DOWN", False),
        ("DOWN+POWERING_UP", False),
        ("IDLE+DRAIN+POWER_DOWN", False),
    ],
)
def test_unavailable(state: str, so: bool) -> None:
    assert nodes.unavailable(Node("n", NodeState.parse(state))) is so


def job(state: str, *, started: float | None = None, ended: float | None = None) -> Job:
    def moment(at: float | None) -> datetime | None:
        return None if at is None else datetime.fromtimestamp(at, UTC)

    return Job(7, JobState.parse(state), started_at=moment(started), ended_at=moment(ended), nodes=("gpu-3",))


def samples(found: Job, name: str) -> tuple[tuple[tuple[str, ...], float], ...]:
    return next(each.samples for each in jobs.families([found], NOW) if each.name == name)


@pytest.mark.parametrize(
    ("found", "seconds"),
    [
        pytest.param(job("RUNNING", started=NOW - 60, ended=NOW + 3600), 60.0, id="runs"),
        pytest.param(job("COMPLETED", started=NOW - 60, ended=NOW - 20), 40.0, id="ended"),
        pytest.param(job("PENDING", started=NOW + 60), None, id="planned"),
        pytest.param(job("PENDING"), None, id="waits"),
        pytest.param(job("COMPLETED", started=NOW - 60), None, id="end-unknown"),
    ],
)
def test_duration(found: Job, seconds: float | None) -> None:
    shown = samples(found, "slurm_job_duration_seconds")

    assert shown == (() if seconds is None else ((("7",), seconds),))


def test_a_job_that_ended_has_no_nodes_any_more() -> None:
    assert samples(job("COMPLETED", started=NOW - 60, ended=NOW - 20), "slurm_node_job") == ()
    assert samples(job("RUNNING", started=NOW), "slurm_node_job") == ((("7", "gpu-3", "gpu"), 1.0),)


def test_what_was_never_answered_has_no_figures() -> None:
    assert list(snapshot.families(Snapshot())) == []


def test_an_older_answer_does_not_replace_a_newer_one() -> None:
    new, old = (Rows((Node(name, NodeState.parse("IDLE")),)) for name in ("new", "old"))
    known = snapshot.with_nodes(Snapshot(), new, NOW)

    assert snapshot.with_nodes(known, old, NOW - 5) is known


SIZES = {"cpus": 8, "alloc_cpus": 2, "real_memory": 1024, "alloc_memory": 512}


def test_a_memory_that_no_slurmd_told_is_no_zero() -> None:
    row = {"name": "n", "state": ["IDLE"], **SIZES, "free_mem": {"set": False}}
    (found,) = seen.nodes({"nodes": [row]})
    shown = {each.name: each.samples for each in nodes.families([found])}

    assert shown["slurm_node_memory_free_bytes"] == ()


@pytest.mark.parametrize("lacks", sorted(SIZES))
def test_a_size_that_is_not_told_is_no_zero(lacks: str) -> None:
    row = {"name": "n", "state": ["IDLE"], **{key: value for key, value in SIZES.items() if key != lacks}}
    found = seen.nodes({"nodes": [row]})

    assert (tuple(found), len(found.problems)) == ((), 1)


@pytest.mark.parametrize(
    ("reason", "label"), [("", ""), ("bad gpu 3 of 17", "person"), ("npa: scale in: 12 jobs", "npa")]
)
def test_c49_no_word_that_somebody_typed_is_a_label(reason: str, label: str) -> None:
    assert nodes.reason(Node("n", NodeState.parse("IDLE+DRAIN"), reason=reason)) == label


def test_an_error_is_no_answer() -> None:
    with pytest.raises(UnknownError, match="authentication"):
        seen.diagnosis({"statistics": {}, "errors": [{"error": "Protocol authentication error"}]})
