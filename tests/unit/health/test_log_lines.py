"""Which lines of a log are about whom."""

from __future__ import annotations

import pytest

from npa.health import log_lines


@pytest.mark.parametrize(
    ("line", "about"),
    [
        ("[2026-11-30T14:30:42.004] error: Nodes cpu-1 not responding, setting DOWN", True),
        ("error: Nodes cpu-[0-3] not responding", True),
        ("error: Nodes cpu-[2-3],gpu-0 not responding", False),
        ("update_node: node cpu-1 state set to DRAINED", True),
        ("update_node: node cpu-10 state set to DRAINED", False),
        ("update_node: node big-cpu-1 state set to DRAINED", False),
        ("sched: Allocate JobId=5 NodeList=cpu-1 #CPUs=1", True),
        ("cpu-1: gone", True),
        ("NodeList=cpu-[1", False),
    ],
)
def test_a_line_names_a_node_or_not(line: str, about: bool) -> None:
    assert log_lines.about_node("cpu-1")(line) is about


@pytest.mark.parametrize(
    ("line", "about"),
    [
        ("_job_complete: JobId=9 OOM failure", True),
        ("[9.batch] error: Detected 1 oom_kill event in StepId=9.batch", True),
        ("_job_complete: JobId=5_1(11) WEXITSTATUS 0", False),
        ("_job_complete: JobId=99 done", False),
        ("[99.batch] x", False),
    ],
)
def test_a_line_is_about_a_job_or_not(line: str, about: bool) -> None:
    assert log_lines.about_job([9])(line) is about


def test_lines_of_trouble_come_first_and_none_twice() -> None:
    lines = [
        "[1] error: lost",
        *(f"[{n}] step {n} begins" for n in range(2, 9)),
        "[9] error: lost",
        "[10] other",
    ]

    assert log_lines.last(lines, lambda _: True, keep=3) == (
        "[8] step 8 begins",
        "[9] error: lost",
        "[10] other",
    )
    assert log_lines.last(lines, lambda line: "error" in line) == ("[9] error: lost",)
