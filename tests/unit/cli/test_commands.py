"""What each command prints, in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import npa
from npa.cli.main import main
from npa.plan import codec
from npa.plan.model import Plan

SPEC = "name: quick\nworkers:\n  - name: cpu8\n    size: 2\n"
RESERVED = (
    "name: big\nregion: us-central1\nworkers:\n  - name: gpu\n    platform: gpu-b200-sxm\n"
    "    preset: 8gpu-160vcpu-1792gb\n    fabric: us-central1-b\n    capacity_block_group: secret-id\n"
)
BROKEN = "name: quick\nworkers:\n  - name: cpu8\n    sise: 2\n    platform: cpu-d4\n"

COMMANDS = (
    "validate",
    "plan",
    "deploy",
    "ssh",
    "status",
    "destroy",
    "list",
    "doctor",
    "exec",
    "logs",
    "watch",
    "rotate",
    "explain-node",
    "explain-job",
    "report",
    "lint",
    "explain",
    "schema",
)


@pytest.fixture
def spec(tmp_path: Path) -> str:
    return write(tmp_path / "quick.yaml", SPEC)


@pytest.fixture
def broken(tmp_path: Path) -> str:
    return write(tmp_path / "broken.yaml", BROKEN)


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_validate_says_what_is_there_and_what_is_next(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["soperator", "validate", "--spec", spec])

    assert (code, capsys.readouterr().out) == (
        0,
        f"{spec}: valid: cluster quick, 1 pool, 2 workers\nnext: npa soperator plan --spec {spec}\n",
    )


def test_validate_names_every_problem_with_its_place(broken: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["soperator", "validate", "-f", broken])

    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert (code, out) == (2, "")
    assert lines[0].startswith(f"error: {broken}:4:5: workers[0].sise: ")
    assert lines[1].startswith("hint: ")
    assert lines[2].startswith(f"error: {broken}:5:15: workers[0].platform: ")


def test_validate_tells_all_problems_of_all_files(
    broken: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write(tmp_path / "other.yaml", "name: A\n")

    code = main(["soperator", "validate", "-f", broken, "-f", other, "--output", "json"])

    problems = json.loads(capsys.readouterr().out)["error"]["problems"]
    assert code == 2
    assert {each["source"] for each in problems} == {broken, other}
    assert all({"at", "line", "column", "message", "hint"} <= set(each) for each in problems)


def test_two_specs_with_one_name_are_refused(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twin = write(tmp_path / "twin.yaml", SPEC)

    code = main(["soperator", "validate", "-f", spec, "-f", twin])

    assert code == 2
    assert f"{twin}: name: 'quick' is the name of the cluster in {spec} too" in capsys.readouterr().err


def test_the_schema_is_one_and_knows_the_spec(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["soperator", "schema"])

    schema = json.loads(capsys.readouterr().out)
    validator = jsonschema.Draft202012Validator
    validator.check_schema(schema)
    good: dict[str, Any] = {"name": "quick", "workers": [{"name": "cpu8", "size": 2}]}
    assert code == 0
    assert validator(schema).is_valid(good)
    assert not validator(schema).is_valid({**good, "nmae": 1})


def test_explain_says_what_a_field_means(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["soperator", "explain", "workers[0].fabric"])

    out = capsys.readouterr().out
    assert code == 0
    assert out.startswith("workers[].fabric: InfiniBand fabric\n")
    assert "  rule: required with GPUs, forbidden without\n" in out


def test_explain_in_json_has_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    main(["soperator", "explain", "workers.size", "-o", "json"])

    document = json.loads(capsys.readouterr().out)
    assert (document["path"], document["default"]) == ("workers[].size", "1")
    assert document["schema_version"]


def test_explain_of_nothing_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["soperator", "explain", "workers.fabrik"])

    assert code == 2
    assert "fabric" in capsys.readouterr().err


def test_a_plan_without_a_provider_is_public(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "big.yaml", RESERVED)

    code = main(["soperator", "plan", "-f", path, "--output", "json"])

    out, err = capsys.readouterr()
    document = json.loads(out)
    assert code == 0
    assert list(document)[:6] == [
        "name",
        "region",
        "control_plane",
        "workers",
        "reservation_preflight",
        "provider_mutation",
    ]
    assert document["workers"][0]["capacity_mode"] == "reserved"
    assert document["workers"][0]["reservation_selector"] == "id"
    assert "not checked" in err
    assert "secret-id" not in out + err


@pytest.mark.parametrize("verb", ["plan", "deploy"])
def test_a_kubernetes_that_nobody_names_is_told(
    verb: str, spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NPA_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    code = main(["soperator", verb, "-f", spec, "--target", "kubernetes"])

    out, err = capsys.readouterr()
    assert (code, out) == (1, "")
    assert f"{tmp_path}/none: no such file or directory" in err
    assert "hint: name one: --kubeconfig" in err


def test_options_of_kubernetes_are_refused_elsewhere(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["soperator", "plan", "-f", spec, "--target", "local", "--jail-path", "/srv"])

    assert code == 2
    assert "only for target kubernetes, and this one is local: --jail-path" in capsys.readouterr().err


def test_there_is_no_plan_file_of_a_public_plan(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["soperator", "plan", "-f", spec, "--out", str(tmp_path / "plan")])

    assert (code, capsys.readouterr().out) == (2, "")
    assert not (tmp_path / "plan").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["deploy"], id="no-spec"),
        pytest.param(["deploy", "--plan", "p", "--force"], id="plan-and-force"),
        pytest.param(["deploy", "--plan", "p", "--spec", "s"], id="plan-and-spec"),
        pytest.param(["deploy", "--plan", "/missing"], id="no-plan-file"),
        pytest.param(["plan"], id="plan-of-nothing"),
        pytest.param(["plan", "-f", "/missing"], id="no-such-file"),
        pytest.param(["plan", "-f", "/missing", "--target", "moon"], id="unknown-target"),
        pytest.param(["validate", "-f", "-", "-f", "-"], id="stdin-twice"),
        pytest.param(["status", "a", "--name", "b"], id="two-names"),
        pytest.param(["exec"], id="no-node"),
        pytest.param(["exec", "gpu-0", "hostname"], id="command-without-dashes"),
        pytest.param(["logs", "gpu-0", "-n", "many"], id="no-number"),
        pytest.param(["dance"], id="unknown-command"),
        pytest.param(["list", "--colour"], id="unknown-option"),
    ],
)
def test_usage_errors_exit_2_and_obey_json(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["soperator", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert "\nhint: " in err

    # also where the command has no such option, or did not get far enough to see it
    assert main(["soperator", arguments[0], "--output", "json", *arguments[1:]]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is False
    assert document["error"]["code"] == "usage"


def test_json_after_the_dashes_is_somebody_else_s(capsys: pytest.CaptureFixture[str]) -> None:
    main(["soperator", "exec", "--", "--output", "json"])

    assert capsys.readouterr().out == ""


def test_a_plan_of_a_later_version_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = codec.encode_file(codec.PlanFile(SPEC, "local", Plan("quick", "local", ())))
    path = write(tmp_path / "plan", text.replace("plan-file/v1", "plan-file/v9"))

    code = main(["soperator", "deploy", "--plan", path, "--yes", "-o", "json"])

    assert code == 3
    assert "plan-file/v9" in json.loads(capsys.readouterr().out)["error"]["message"]


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--version"], ["--debug", "--version"]):
        assert main(arguments) == 0
        assert capsys.readouterr().out == f"npa {npa.__version__}\n"


def test_no_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["soperator"]):
        assert main(arguments) == 0
        assert capsys.readouterr().out.startswith("Usage: npa")


def test_the_help_lists_the_way_of_a_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    main(["soperator", "--help"])

    out = capsys.readouterr().out
    way = [out.index(f"npa soperator {verb}") for verb in COMMANDS[:6]]
    listed = out[out.index("Commands:") :]
    assert way == sorted(way)
    assert [line.split()[0] for line in listed.splitlines()[1:]] == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["soperator", command, "--help"]) == 0
    assert f"  npa soperator {command}" in capsys.readouterr().out
