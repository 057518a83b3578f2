"""The command line and the SDK, whole: real git and Terraform, the provider on loopback, nothing patched."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import cloud as clouds
from tests.fakes.cloud import KEY, Cloud
from tests.fakes.standin import needs_terraform

from npa.api import nebius as api
from npa.cli.main import main
from npa.errors import DestroyIncompleteError, DestructiveError, NotFoundError
from npa.plan.model import Event, Plan
from npa.sdk import soperator
from npa.targets.nebius import records

pytestmark = needs_terraform

SPEC = "name: quick\nworkers:\n  - name: cpu\n    size: {size}\n"
JOB = {"job_id": 7, "user_name": "alice", "name": "train", "job_state": ["RUNNING"], "nodes": "cpu-1"}


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    with clouds.serve(tmp_path) as serving, api.wired(serving.outside):
        yield serving


def spec_file(folder: Path, size: int = 2) -> str:
    path = folder / "quick.yaml"
    path.write_text(SPEC.format(size=size))
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["soperator", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_cluster_lives_and_ends_through_the_command_line(
    cloud: Cloud, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = spec_file(tmp_path)
    code, out, err = run(capsys, "plan", "-f", spec, "--check", "-o", "json")
    assert (code, json.loads(out)["preflight"]["ok"]) == (0, True)

    code, out, err = run(capsys, "deploy", "-f", spec, "--yes", "-o", "json")
    result = json.loads(out)
    assert (code, result["ok"], result["status"]) == (0, True, "ready"), err
    assert result["next_command"] == "npa soperator status quick"
    assert set(RESULT_KEYS) <= set(result)
    assert result["replacement_guard"]["status"] == "passed"
    # The plan is Terraform's, in our words: addresses, and what happens to each.
    assert "module.k8s.terraform_data.this" in err
    assert "module.slurm.terraform_data.flux_values" in err
    assert KEY.split()[1] not in out + err
    assert '"unused"' not in err  # the password that the recipe marks as sensitive

    code, out, _ = run(capsys, "status", "--name", "quick", "-o", "json")
    document = json.loads(out)
    assert (code, document["capacity_status"], document["cluster"]) == (0, "applied", "present")
    assert document["workers"] == [
        {"name": "cpu", "capacity_mode": "on-demand", "node_groups": 1, "nodes": 2}
    ]

    code, out, _ = run(capsys, "destroy", "--name", "quick", "--yes", "-o", "json")
    assert (code, json.loads(out)["status"]) == (0, "destroyed")
    assert cloud.ids("clusters") == []
    code, out, _ = run(capsys, "destroy", "--name", "quick", "--yes", "-o", "json")
    assert (code, json.loads(out)["status"]) == (0, "destroyed")
    assert "already absent" in json.loads(out)["notes"][0]
    assert run(capsys, "status", "quick", "--target", "nebius")[0] == 1


RESULT_KEYS = (
    "name",
    "region",
    "project_id",
    "install_dir",
    "kube_context",
    "worker_pools",
    "docker_cache_pools",
    "control_plane",
    "workers",
    "replacement_guard",
    "post_deploy_fixes",
    "post_deploy_fix_warnings",
    "gpu_creation_checks",
    "status",
    "deployment_status",
    "validation",
    "backend",
)


def test_what_is_refused_is_one_document_and_its_approval_works(
    cloud: Cloud, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "deploy", "-f", spec_file(tmp_path), "--yes", "--skip-fixes")[0] == 0
    code, out, _ = run(capsys, "deploy", "-f", spec_file(tmp_path, 1), "--yes", "-o", "json")
    error = json.loads(out)["error"]
    assert (code, error["code"]) == (3, "destructive")
    approval = shlex.split(error["hint"].partition("--approve ")[2])[0].rstrip(";")

    cloud.slurm.workers.remove("cpu-1")
    code, out, err = run(
        capsys, "deploy", "-f", spec_file(tmp_path, 1), "--yes", "--approve", approval, "-o", "json"
    )
    assert (code, json.loads(out)["status"]) == (0, "ready"), err


def test_the_source_alone_is_verified_for_a_destroy(
    cloud: Cloud, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "deploy", "-f", spec_file(tmp_path), "--yes", "--skip-fixes")[0] == 0
    cloud.provider.calls.clear()
    cloud.commands.clear()
    code, out, _ = run(capsys, "destroy", "quick", "--source-preflight-only", "-o", "json")

    document = json.loads(out)
    assert (code, document["status"], document["provider_mutation"]) == (0, "source-preflight-passed", False)
    assert document["solutions_library_ref"] == cloud.outside.pin
    assert (cloud.provider.calls, cloud.commands) == ([], [])
    assert len(cloud.ids("clusters")) == 1
    assert records.load_sidecar(cloud.installation) is not None

    # A source that somebody changed is refused before anybody is asked.
    (cloud.installation.parents[1] / "modules/cleanup/main.tf").write_text("# gone\n")
    code, out, _ = run(capsys, "destroy", "quick", "--source-preflight-only", "-o", "json")

    error = json.loads(out)["error"]
    assert (code, error["code"]) == (3, "source")
    assert "modules/cleanup/main.tf" in " ".join(error["faults"])
    assert cloud.provider.calls == []


def test_the_sdk_does_what_the_command_line_does(cloud: Cloud) -> None:
    heard: list[Event] = []
    plans: list[Plan] = []
    spec = soperator.spec_from_mapping({"name": "quick", "workers": [{"name": "cpu", "size": 2}]})
    result = soperator.deploy(spec, heard=heard.append, agree=lambda plan, _: plans.append(plan))

    assert isinstance(result, dict)
    assert (result["status"], len(plans), bool(heard)) == ("ready", 2, True)
    status = soperator.status("quick")
    assert isinstance(status, dict)
    assert status["context"] == result["kube_context"] == "nebius-quick-slurm"
    assert soperator.apply_post_deploy_fixes(result["kube_context"], timeout_minutes=1) == []

    cloud.slurm.jobs = [JOB]
    with pytest.raises(DestructiveError, match="7"):
        soperator.destroy("quick")
    ended = soperator.destroy("quick", force=True)
    assert isinstance(ended, dict)
    assert ended["status"] == "destroyed"
    with pytest.raises(NotFoundError):
        soperator.status("quick", "nebius")


def test_the_sdk_raises_what_the_command_line_says(cloud: Cloud) -> None:
    spec = soperator.spec_from_mapping({"name": "quick", "workers": [{"name": "cpu", "size": 2}]})
    soperator.deploy(spec)
    smaller = soperator.spec_from_mapping({"name": "quick", "workers": [{"name": "cpu", "size": 1}]})
    with pytest.raises(DestructiveError, match="would shrink") as refused:
        soperator.deploy(smaller)
    assert refused.value.steps

    (cloud.installation / "terraform.tfstate").unlink()
    with pytest.raises(DestroyIncompleteError):
        soperator.destroy("quick")
    chosen: Any = soperator.NebiusOptions(accept_unknown=True)
    assert soperator.destroy("quick", nebius=chosen)["status"] == "destroyed"  # type: ignore[index]
