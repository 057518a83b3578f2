from __future__ import annotations

import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

import npa
from npa import errors
from npa.errors import KubeError, SpecError
from npa.render.nebius.outcome import DeploymentValidationFailure
from npa.sdk import soperator
from npa.spec import model

MAPPING = {"name": "lab", "workers": [{"name": "cpu", "size": 3}]}


def test_public_names_are_sorted_and_there() -> None:
    for module in (npa, soperator):
        assert list(module.__all__) == sorted(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)


def test_the_types_are_there_for_whoever_checks_theirs() -> None:
    assert resources.files("npa").joinpath("py.typed").is_file()


def test_the_classes_are_the_spec_s_own() -> None:
    assert soperator.SoperatorSpec is model.SoperatorSpec
    assert soperator.WorkerPoolSpec is model.WorkerPoolSpec


@pytest.mark.parametrize(
    ("older", "ours", "kind"),
    [
        ("SoperatorSpecError", errors.SpecError, ValueError),
        ("UpstreamContractError", errors.SourceError, ValueError),
        ("SolutionsLibraryReconciliationError", errors.SourceError, ValueError),
        ("ProviderReplacementPlanError", errors.DestructiveError, RuntimeError),
        ("BackendCommandError", errors.ToolError, Exception),
        ("GPUCreationCheckError", soperator.SoperatorDeploymentValidationError, Exception),
    ],
)
def test_what_older_code_catches_is_caught(older: str, ours: type[Exception], kind: type[Exception]) -> None:
    assert getattr(soperator, older) is ours
    assert issubclass(ours, kind)


def test_what_older_code_reads_of_an_error_is_there() -> None:
    failure = DeploymentValidationFailure("code", "no answer", "gpu", "gpu", "run", cleanup_confirmed=True)
    gate = soperator.SoperatorDeploymentValidationError({"name": "lab"}, failure)

    assert errors.DestructiveError("no", ["pool gpu"]).replacements == ("pool gpu",)
    assert (gate.pool, gate.phase, gate.cleanup_confirmed) == ("gpu", "run", True)


def test_a_name_that_is_not_there_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        soperator.nothing  # noqa: B018


def test_a_file_and_a_mapping_are_one_spec(tmp_path: Path) -> None:
    path = tmp_path / "lab.yaml"
    path.write_text("name: lab\nworkers: [{name: cpu, size: 3}]\n")

    assert soperator.load_spec(path) == soperator.spec_from_mapping(MAPPING)


def test_problems_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "lab.yaml"
    path.write_text("name: lab\nworkers: [{name: cpu, sise: 3}]\n")

    with pytest.raises(SpecError) as refused:
        soperator.load_spec(str(path))

    assert [(each.source, each.line) for each in refused.value.problems] == [(str(path), 2)]


@pytest.mark.parametrize("target", [None, "nebius", "kubernetes"])
def test_a_plan_without_a_provider_is_the_public_one(target: soperator.TargetName | None) -> None:
    plan = soperator.plan(soperator.spec_from_mapping(MAPPING), target)

    assert isinstance(plan, dict)
    assert plan["workers"][0]["size"] == 3
    assert plan["provider_mutation"] is False


def test_a_spec_made_in_python_is_checked_too() -> None:
    pool = soperator.WorkerPoolSpec(name="gpu", platform="gpu-b200-sxm", preset="8gpu-160vcpu-1792gb")

    with pytest.raises(SpecError, match="fabric"):
        soperator.plan(soperator.SoperatorSpec(name="lab", workers=(pool,)))


def test_a_kubernetes_that_nobody_names_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPA_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))

    with pytest.raises(KubeError, match="none: no such file or directory"):
        soperator.deploy(soperator.spec_from_mapping(MAPPING), "kubernetes")


def test_importing_it_does_not_import_pydantic() -> None:
    code = "import sys, npa.sdk.soperator; sys.exit('pydantic' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
