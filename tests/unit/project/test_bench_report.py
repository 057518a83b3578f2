from __future__ import annotations

import pytest
from bench.report import Row, render


@pytest.mark.parametrize(
    ("row", "line"),
    [
        pytest.param(
            Row("start", "s", (0.1, 0.3, 0.2), 0.2),
            "| start | ≤ 0.2 s | 0.20 s (0.10 to 0.30) | 3 | met |",
            id="met",
        ),
        pytest.param(
            Row("start", "s", (2.0,), 1.0, "imports"),
            "| start | ≤ 1 s | 2.00 s | 1 | missed: imports |",
            id="missed-with-its-bound",
        ),
        pytest.param(Row("memory", "MiB", (123.4,)), "| memory |  | 123 MiB | 1 |  |", id="no-aim"),
    ],
)
def test_a_row_says_whether_the_aim_is_met(row: Row, line: str) -> None:
    assert line in render([row], {}).splitlines()
