"""The commands for clusters at Nebius, as far as they go without a provider."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from npa import errors
from npa.cli import failure
from npa.cli.main import main
from npa.render.nebius.outcome import DeploymentValidationFailure
from npa.targets.nebius.result import SoperatorDeploymentValidationError, SoperatorStateCaptureError

SPEC = (
    "name: quick\nregion: eu-north1\ntenant_id: tenant-1\nproject_id: project-1\nsubnet_id: vpcsubnet-1\n"
    "workers:\n  - name: cpu\n    size: 2\n"
)
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBuQp1vK0tqkP4T0h7g2Y0yqkqv3mV5iM0p3m3b2x0aT me"


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NPA_STATE_DIR", str(tmp_path / "state"))
    for name in ("NPA_CONFIG_DIR", "NPA_SSH_PUBLIC_KEY", "NEBIUS_PROFILE", "NEBIUS_IAM_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "quick.yaml"
    path.write_text(SPEC)
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        pytest.param(["deploy", "-f", "SPEC"], 3, "refused", id="no-key"),
        pytest.param(["deploy", "-f", "SPEC", "--ref", "main"], 3, "source", id="a-branch"),
        pytest.param(["deploy", "-f", "SPEC", "--ref", "0" * 40], 3, "source", id="an-unknown-commit"),
        pytest.param(["deploy", "-f", "SPEC", "--force"], 2, "usage", id="force"),
        pytest.param(
            ["deploy", "-f", "SPEC", "--target", "local", "--approve", "a@b"], 2, "usage", id="local"
        ),
        pytest.param(["deploy", "-f", "SPEC", "--timeout", "0"], 2, "usage", id="no-time"),
        pytest.param(["plan", "-f", "SPEC", "--check", "--target", "local"], 2, "usage", id="check-local"),
        pytest.param(["plan", "-f", "SPEC", "--check"], 1, "provider-denied", id="check-unsigned"),
        pytest.param(["plan", "-f", "SPEC", "--check", "--project", "x"], 3, "identity", id="unknown-alias"),
        pytest.param(["status", "quick", "--target", "nebius"], 1, "not-found", id="status"),
        pytest.param(["destroy", "quick", "--target", "nebius", "--yes"], 1, "not-found", id="destroy"),
        pytest.param(["destroy", "../x", "--target", "nebius", "--yes"], 3, "identity", id="a-path"),
    ],
)
def test_every_refusal_is_one_document_with_its_code(
    spec: str, arguments: list[str], code: int, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [spec if each == "SPEC" else each for each in arguments]

    assert main(["soperator", *given, "--output", "json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert (document["ok"], document["error"]["code"]) == (False, word)
    assert document["error"]["hint"]


def test_a_folder_that_is_no_recipe_is_refused(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NPA_SOPERATOR_ROOT_LOGIN_SSH_PUBLIC_KEY", KEY)

    assert main(["soperator", "deploy", "-f", spec, "--terraform-dir", str(tmp_path), "--yes"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "is not the recipe" in err
    assert KEY.split()[1] not in err


def test_doctor_names_everything_that_is_missing(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert spec
    code = main(["soperator", "doctor", "--output", "json"])

    document = json.loads(capsys.readouterr().out)
    found = {each["name"]: each for each in document["checks"]}
    assert (code, document["ok"]) == (4, False)
    assert {"terraform", "git", "nebius", "credentials", "ssh key", "disk", "configuration"} <= set(found)
    assert all(each["hint"] for each in found.values() if each["state"] == "missing")
    assert found["ssh key"]["state"] == "missing"


def test_a_broken_configuration_is_told_by_the_doctor(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert spec
    (tmp_path / "home/.npa").mkdir(parents=True)
    (tmp_path / "home/.npa/config.yaml").write_text("projects: [")

    main(["soperator", "doctor"])
    assert "missing  configuration" in capsys.readouterr().out


RESULT = {"schema_version": "x", "name": "quick", "status": "degraded-validation", "error": "unreadable"}


@pytest.mark.parametrize(
    ("error", "code", "key", "value"),
    [
        (errors.QuotaError(["a"], ["b"]), 3, "shortfalls", ["a"]),
        (errors.QuotaError(["a"], ["b"]), 3, "unreadable", ["b"]),
        (errors.CapacityError(["a"]), 3, "refusals", ["a"]),
        (errors.IdentityError("a", "b"), 3, "faults", ["a", "b"]),
        (errors.SourceError("a"), 3, "faults", ["a"]),
        (errors.ProviderDeniedError("read cluster", resource="c-1"), 1, "operation", "read cluster"),
        (errors.ProviderNotFoundError("read", resource="c-1"), 1, "resource", "c-1"),
        (errors.DestroyIncompleteError("no", {"errors": ["a"]}), 1, "report", {"errors": ["a"]}),
        (SoperatorStateCaptureError(RESULT), 1, "code", "deployed-state-capture-failed"),
        (
            SoperatorDeploymentValidationError(RESULT, DeploymentValidationFailure("c", "m", "gpu-creation")),
            4,
            "code",
            "degraded-validation",
        ),
    ],
)
def test_what_a_failure_knows_is_in_its_document(
    error: errors.NpaError, code: int, key: str, value: object
) -> None:
    document, exit_code = failure.described(error)

    assert (exit_code, document["error"][key]) == (code, value)
    assert json.loads(json.dumps(document)) == document


def test_the_result_of_a_cluster_that_is_kept_is_the_document() -> None:
    validation = DeploymentValidationFailure("c", "m", "gpu-creation", "gpu", "queue", True)
    document, _ = failure.described(SoperatorDeploymentValidationError(RESULT, validation))

    assert (document["status"], document["name"], document["ok"]) == ("degraded-validation", "quick", False)
    assert document["error"]["code"] == "degraded-validation"


def test_installations_are_listed_with_their_state(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert spec
    folder = tmp_path / "home/.npa/soperator/sources/quick/soperator/installations/quick"
    folder.mkdir(parents=True)
    (folder / ".npa-soperator-env.json").write_text("{")

    assert main(["soperator", "list", "-o", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["clusters"]
    assert (row["name"], row["target"], row["state"]) == ("quick", "nebius", "unreadable")

    assert main(["soperator", "status", "quick", "-o", "json"]) == 3  # a record that cannot be read
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "identity"


def test_a_name_in_two_places_has_to_be_told_apart(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert spec
    (tmp_path / "home/.npa/soperator/sources/quick/soperator/installations/quick").mkdir(parents=True)
    local = tmp_path / "state/local/quick"
    local.mkdir(parents=True)
    (local / "record.json").write_text("{}")

    assert main(["soperator", "status", "quick"]) == 2
    assert "--target nebius" in capsys.readouterr().err
