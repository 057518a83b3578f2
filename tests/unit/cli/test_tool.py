"""What `npa tool`, `npa serve` and `npa mcp` print, in this process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from npa.agent import registry
from npa.cli.main import main

SPEC = "name: quick\nregion: us-central1\nworkers:\n  - {name: cpu, platform: cpu-d3, preset: 4vcpu-16gb}\n"
TOOLS = {each.name: each for each in registry.tools()}


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "quick.yaml"
    path.write_text(SPEC)
    return str(path)


def written(path: Path, value: Any) -> str:
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(path)


def document(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_tools_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tool", "list"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(TOOLS)


def test_the_tools_are_listed_with_their_schemas(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tool", "list", "-o", "json"]) == 0

    listed = document(capsys)["tools"]
    assert [each["name"] for each in listed] == list(TOOLS)
    assert listed[0]["input_schema"] == TOOLS[listed[0]["name"]].input_schema


def test_a_tool_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tool", "describe", "infra.soperator.deploy"]) == 0

    told = document(capsys)
    assert told["effect"] == "destroys"
    assert {"dry_run", "digest"} <= told["input_schema"]["properties"].keys()


def test_a_tool_is_called_with_a_spec(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tool", "run", "infra.soperator.validate", "--spec", spec]) == 0

    told = document(capsys)
    jsonschema.validate(told, TOOLS["infra.soperator.validate"].output_schema)
    assert (told["schema_version"], told["name"]) == ("npa.tool.validate/v1", "quick")


def test_input_and_spec_go_together(spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = written(tmp_path / "call.json", {"target": "nebius"})

    assert main(["tool", "run", "infra.soperator.plan", "--spec", spec, "--input", call]) == 0

    told = document(capsys)
    again = written(tmp_path / "again.json", {"dry_run": False, "digest": told["digest"], "force": True})
    assert main(["tool", "run", "infra.soperator.deploy", "-f", spec, "-i", again]) == 2
    assert document(capsys)["error"]["problems"][0]["at"] == "force"


@pytest.mark.parametrize(
    ("argv", "content", "code", "word"),
    [
        pytest.param(["infra.soperator.validate"], {}, 2, "invalid-input", id="nothing-in-it"),
        pytest.param(["infra.soperator.validate"], "nope", 2, "invalid-input", id="not-json"),
        pytest.param(["infra.soperator.validate"], "[" * 100_000, 2, "invalid-input", id="deep"),
        pytest.param(["infra.soperator.validate"], [1], 2, "invalid-input", id="no-object"),
        pytest.param(["infra.soperator.validate"], {"spec": "name: -"}, 2, "invalid-spec", id="wrong-spec"),
        pytest.param(
            ["infra.soperator.deploy"], {"spec": SPEC, "dry_run": False}, 3, "not-agreed", id="blind"
        ),
        pytest.param(["infra.soperator.nothing"], {}, 1, "not-found", id="no-tool"),
        pytest.param(["infra.soperator.list", "--nope"], {}, 2, "usage", id="no-option"),
        pytest.param([], {}, 2, "usage", id="no-name"),
    ],
)
def test_a_failure_is_one_document_too(
    argv: list[str], content: Any, code: int, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = written(tmp_path / "call.json", content)

    assert main(["tool", "run", *argv, "--input", call]) == code

    told = document(capsys)
    assert (told["schema_version"], told["ok"], told["error"]["code"]) == ("npa.error/v1", False, word)


def test_stdin_is_one_file_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tool", "run", "infra.soperator.plan", "-f", "-", "-i", "-"]) == 2

    assert "one file" in document(capsys)["error"]["message"]


def test_other_machines_are_not_let_in_by_accident(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--host", "0.0.0.0", "--port", "0"]) == 2

    told = capsys.readouterr().err
    assert "--allow-remote" in told
    assert "--tls-certificate" in told


@pytest.mark.parametrize("command", ["serve", "mcp"])
def test_what_is_not_installed_is_told_with_what_to_do(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)

    assert main([command]) == 1

    assert "pip install 'npa[agent]'" in capsys.readouterr().err


def test_the_command_line_begins_without_what_serves_programs() -> None:
    code = (
        "import sys, npa.cli.app; "
        "sys.exit(bool({'npa.agent', 'mcp', 'starlette', 'uvicorn', 'pydantic'} & sys.modules.keys()))"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
