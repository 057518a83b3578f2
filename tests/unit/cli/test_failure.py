from __future__ import annotations

import json
from typing import Any

import pytest

from npa import errors
from npa.cli import failure
from npa.health.assess import assess
from npa.health.observation import Observation

PROBLEMS = [
    errors.Problem(14, 5, "workers[1].fabric", "no fabric", "set `fabric`", "cluster.yaml"),
    errors.Problem(15, 1, "name", "not a name", "", "cluster.yaml"),
]


@pytest.mark.parametrize(
    ("error", "code", "word"),
    [
        (errors.SpecError(PROBLEMS), 2, "invalid-spec"),
        (errors.UsageError("no"), 2, "usage"),
        (errors.RefusedError("no"), 3, "refused"),
        (errors.DestructiveError("no", ["stop:gpu"]), 3, "destructive"),
        (errors.OwnershipError("no", expected="a", found="b"), 3, "ownership"),
        (errors.PreflightError([("not root", "use sudo")]), 3, "preflight"),
        (errors.ToolError(["ip", "link"], 1, "boom"), 1, "tool"),
        (errors.ToolMissingError("ip", hint="install it"), 1, "tool-missing"),
        (errors.ToolTimeoutError(["ip"], 3), 1, "tool-timeout"),
        (errors.SlurmError("down"), 1, "slurm"),
        (errors.NotFoundError("no"), 1, "not-found"),
        (errors.UnhealthyError("bad", assess(Observation("a", "local", "stopped"))), 4, "degraded"),
        (OSError(28, "No space left on device", "/var/x"), 1, "system"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ValueError("surprise"), 1, "unexpected"),
    ],
)
def test_every_failure_has_its_code_and_one_document(error: BaseException, code: int, word: str) -> None:
    document, exit_code = failure.described(error)

    assert exit_code == code
    assert document["schema_version"] == "npa.error/v1"
    assert document["ok"] is False
    assert document["error"]["code"] == word
    assert document["error"]["message"]
    assert json.loads(json.dumps(document)) == document


@pytest.mark.parametrize(
    ("error", "key", "value"),
    [
        (errors.DestructiveError("no", ["stop:gpu"]), "steps", ["stop:gpu"]),
        (errors.OwnershipError("no", expected="a", found="b"), "found", "b"),
        (errors.ToolError(["ip", "link"], 7, "boom"), "exit_status", 7),
        (errors.PreflightError([("a", "b")]), "lacks", [{"message": "a", "hint": "b"}]),
    ],
)
def test_an_error_s_data_is_in_the_document(error: errors.NpaError, key: str, value: Any) -> None:
    assert failure.described(error)[0]["error"][key] == value


def test_problems_are_told_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    code = failure.tell(errors.SpecError(PROBLEMS), as_json=False, debug=False)

    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err == (
        "error: cluster.yaml:14:5: workers[1].fabric: no fabric\n"
        "hint: set `fabric`\n"
        "error: cluster.yaml:15:1: name: not a name\n"
    )


def test_every_lack_has_its_own_hint(capsys: pytest.CaptureFixture[str]) -> None:
    lacks = [("not root", "use sudo"), ("no disk", "free some")]

    failure.tell(errors.PreflightError(lacks), as_json=False, debug=False)

    assert capsys.readouterr().err == ("error: not root\nhint: use sudo\nerror: no disk\nhint: free some\n")


def test_an_unexpected_error_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    failure.tell(ValueError("surprise"), as_json=False, debug=False)

    assert capsys.readouterr().err == (
        "error: unexpected ValueError: surprise\nhint: add `--debug` for the traceback\n"
    )


def test_debug_adds_the_traceback_to_stderr_alone(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        raise ValueError("surprise")
    except ValueError as error:
        failure.tell(error, as_json=True, debug=True)

    out, err = capsys.readouterr()
    assert "Traceback" in err
    assert json.loads(out)["error"]["code"] == "unexpected"
