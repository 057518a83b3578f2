"""Deploy and destroy on real Terraform and git, with the stand-in recipe and the provider on loopback."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml
from tests.fakes import cloud as clouds
from tests.fakes import provider as fake
from tests.fakes.cloud import KEY, Cloud
from tests.fakes.standin import needs_terraform

from npa.cli import failure
from npa.errors import (
    DestroyIncompleteError,
    DestructiveError,
    IdentityError,
    KubeError,
    OwnershipError,
    QuotaError,
    RefusedError,
    SourceError,
    ToolError,
)
from npa.plan import guard
from npa.plan.model import Plan
from npa.render.nebius import definitions, quotas
from npa.render.objects import CRD, HELM_RELEASE
from npa.spec.model import SoperatorSpec, WorkerPoolSpec
from npa.targets.nebius import records
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.result import SoperatorDeploymentValidationError, SoperatorStateCaptureError
from npa.targets.nebius.target import NebiusTarget

pytestmark = needs_terraform

JOB = {"job_id": 7, "user_name": "alice", "name": "train", "job_state": ["RUNNING"], "nodes": "cpu-1"}


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    with clouds.serve(tmp_path) as serving:
        yield serving


def deploy(cloud: Cloud, spec: Any = None, *, plans: list[Plan] | None = None, **more: Any) -> dict[str, Any]:
    def agree(plan: Plan, _: bool) -> None:
        if plans is not None:
            plans.append(plan)

    return NebiusTarget(cloud.outside).deploy(
        spec or clouds.spec(), NebiusOptions(**more), agree, lambda _: None
    )


def quickly(cloud: Cloud, spec: Any = None, **more: Any) -> dict[str, Any]:
    """Deploy in one plan."""
    return deploy(cloud, spec, fixes=False, **more)


def pools(**sizes: int) -> SoperatorSpec:
    return clouds.spec(workers=tuple(WorkerPoolSpec(name=name, size=size) for name, size in sizes.items()))


def destroy(cloud: Cloud, **more: Any) -> dict[str, Any]:
    return NebiusTarget(cloud.outside).destroy("quick", NebiusOptions(**more), lambda _: None)


def test_a_cluster_is_made_known_and_ended(cloud: Cloud) -> None:
    plans: list[Plan] = []
    result = deploy(cloud, plans=plans)

    record = records.load_sidecar(cloud.installation)
    assert (result["status"], result["deployment_status"], result["backend"]) == (
        "ready",
        "applied",
        "soperator",
    )
    assert result["replacement_guard"]["plans_checked"] == 2
    assert len(plans) == 2
    assert record is not None
    assert [record.cluster_id] == cloud.ids("clusters")
    assert set(record.filesystem_ids) == set(cloud.ids("filesystems"))
    assert cloud.commands.count("apply") == 2

    status = NebiusTarget(cloud.outside).status("quick", NebiusOptions())
    assert status.document()["capacity_status"] == "applied"
    assert status.report.ok, status.report

    assert destroy(cloud)["status"] == "destroyed"
    assert cloud.ids("clusters") + cloud.ids("filesystems") + cloud.ids("allocations") == []
    assert records.load_sidecar(cloud.installation) is None


def test_a_second_deploy_does_nothing(cloud: Cloud) -> None:
    deploy(cloud)
    before = cloud.ids("clusters")
    cloud.commands.clear()
    plans: list[Plan] = []
    deploy(cloud, plans=plans)

    assert plans == []
    assert "apply" not in cloud.commands
    assert cloud.ids("clusters") == before


def test_nothing_is_done_where_nobody_agrees(cloud: Cloud) -> None:
    def no(_: Plan, __: bool) -> None:
        raise RefusedError("not agreed to")

    with pytest.raises(RefusedError, match="not agreed"):
        NebiusTarget(cloud.outside).deploy(clouds.spec(), NebiusOptions(), no, lambda _: None)

    assert "apply" not in cloud.commands
    assert records.load_sidecar(cloud.installation) is None
    assert not list(cloud.installation.glob(".npa-plan-*"))


def test_one_plan_where_repairs_are_left_out(cloud: Cloud) -> None:
    plans: list[Plan] = []
    result = deploy(cloud, plans=plans, fixes=False)

    assert len(plans) == 1
    assert result["replacement_guard"]["plans_checked"] == 1
    assert "post_deploy_fixes" not in result


def test_the_source_alone_is_verified_before_anybody_is_asked(cloud: Cloud) -> None:
    result = deploy(cloud, source_only=True)

    assert (result["status"], result["provider_mutation"]) == ("source-preflight-passed", False)
    assert (cloud.provider.calls, cloud.commands) == ([], [])
    assert not cloud.installation.exists()


def test_everything_that_does_not_reach_is_told_before_anything_is_written(cloud: Cloud) -> None:
    cloud.provider.held["quotas"] = [
        fake.allowance("compute.disk.count", 4, 3), fake.allowance("mk8s.cluster.count", 1, 1)
    ]  # fmt: skip

    with pytest.raises(QuotaError) as refused:
        deploy(cloud)

    assert len(refused.value.shortfalls) == 2
    assert refused.value.unreadable
    assert not cloud.installation.exists()


def test_a_project_that_is_elsewhere_is_refused(cloud: Cloud) -> None:
    cloud.provider.held["projects"] = [fake.project("project-1", tenant="tenant-2", region="eu-west1")]

    with pytest.raises(IdentityError) as refused:
        deploy(cloud)

    assert len(refused.value.problems) == 2


def test_a_pool_grows_in_place_and_says_so(cloud: Cloud) -> None:
    quickly(cloud)
    cloud.slurm.workers.append("cpu-2")
    plans: list[Plan] = []
    quickly(cloud, pools(cpu=3), plans=plans)

    steps = {step.subject: step.reason for plan in plans for step in plan.steps}
    assert any("grows from 2 nodes to 3 nodes" in reason for reason in steps.values()), steps


def test_a_pool_shrinks_only_by_its_own_approval(cloud: Cloud) -> None:
    deploy(cloud)
    cloud.slurm.jobs = [JOB]
    plans: list[Plan] = []
    with pytest.raises(DestructiveError, match="would shrink from 2 nodes to 1 node") as refused:
        deploy(cloud, pools(cpu=1), plans=plans)

    assert [job.id for step in plans[0].steps for job in step.jobs] == ["7"]
    approval = shlex.split(refused.value.hint.partition("--approve ")[2])[0].rstrip(";")
    cloud.slurm.workers.remove("cpu-1")
    with pytest.raises(RefusedError, match="another plan"):
        deploy(cloud, pools(cpu=1), approvals=(approval.partition("@")[0] + "@0000000000000000",))
    result = deploy(cloud, pools(cpu=1), approvals=(approval,))

    assert result["status"] == "ready"
    assert result["replacement_guard"]["replacement_count"] == 1


def test_gpus_that_fail_leave_a_degraded_cluster(tmp_path: Path) -> None:
    gpu = WorkerPoolSpec(
        name="gpu", platform="gpu-h200-sxm", preset="8gpu-128vcpu-1600gb", size=2, fabric="fabric-3"
    )
    wanted = clouds.spec(workers=(gpu,))
    with clouds.serve(tmp_path, wanted) as cloud:
        cloud.slurm.workers, cloud.slurm.bad = ["gpu-0", "gpu-1"], {"gpu-1"}
        with pytest.raises(SoperatorDeploymentValidationError) as failed:
            deploy(cloud, wanted)

        document, code = failure.described(failed.value)
        assert (code, document["ok"], document["status"]) == (4, False, "degraded-validation")
        assert document["validation"]["pool"] == "gpu"
        assert document["error"]["code"] == "degraded-validation"
        assert failed.value.failure.to_dict()["cleanup_confirmed"] is True
        assert len(cloud.ids("clusters")) == 1

        cloud.slurm.bad = set()
        result = deploy(cloud, wanted)
        assert (result["status"], result["gpu_creation_checks"][0]["status"]) == ("ready", "PASS")


def test_an_installation_without_its_record_is_not_destroyed(cloud: Cloud) -> None:
    quickly(cloud)
    records.forget_sidecar(cloud.installation)

    with pytest.raises(OwnershipError, match="no record"):
        destroy(cloud)
    with pytest.raises(OwnershipError, match="has no record"):
        quickly(cloud)
    assert len(cloud.ids("clusters")) == 1


def test_a_destroy_with_a_lost_state_ends_what_is_recorded_and_says_what_is_unknown(cloud: Cloud) -> None:
    quickly(cloud)
    for left in cloud.installation.glob("terraform.tfstate*"):
        left.unlink()

    with pytest.raises(DestroyIncompleteError) as incomplete:
        destroy(cloud)
    document, code = failure.described(incomplete.value)
    assert (code, document["error"]["report"]["status"]) == (1, "destroy-incomplete")
    assert cloud.ids("clusters") + cloud.ids("filesystems") + cloud.ids("allocations") == []
    assert records.load_sidecar(cloud.installation) is not None
    assert destroy(cloud, accept_unknown=True)["status"] == "destroyed"


def test_what_a_destroy_ends_is_shown_with_its_jobs(cloud: Cloud) -> None:
    quickly(cloud)
    cloud.slurm.jobs = [JOB]
    plan = NebiusTarget(cloud.outside).plan_destroy("quick", NebiusOptions(), force=False)

    assert plan.steps[0].subject == "Kubernetes cluster soperator-quick"
    with pytest.raises(DestructiveError, match="7"):
        guard.check(plan)


def test_status_without_state_or_provider_says_what_is_unknown(cloud: Cloud) -> None:
    quickly(cloud)
    (cloud.installation / "terraform.tfstate").unlink()
    cloud.provider.faults["ClusterService/Get"] = fake.Fault(grpc.StatusCode.UNAVAILABLE)
    seen = NebiusTarget(cloud.outside).status("quick", NebiusOptions())

    document = seen.document()
    assert (document["capacity_status"], document["cluster"], seen.report.ok) == ("unknown", "unknown", False)
    assert document["unknown"]


def test_a_second_change_at_once_is_refused(cloud: Cloud) -> None:
    def agree(_: Plan, __: bool) -> None:
        with pytest.raises(RefusedError, match="another npa is changing quick"):
            deploy(cloud)

    NebiusTarget(cloud.outside).deploy(clouds.spec(), NebiusOptions(), agree, lambda _: None)


def test_secrets_are_in_no_log(cloud: Cloud) -> None:
    deploy(cloud)
    files = [path for path in cloud.installation.glob(".npa*") if path.is_file()]

    assert files
    for path in files:
        assert KEY.split()[1] not in path.read_text()
        assert path.stat().st_mode & 0o077 == 0


def test_the_minimum_version_is_a_gate_before_anything_else(cloud: Cloud) -> None:
    cloud.minimum = (99, 0)

    with pytest.raises(RefusedError, match=r"older than 99\.0"):
        deploy(cloud)

    assert cloud.provider.calls == []


def test_a_check_asks_the_provider_and_writes_nothing(cloud: Cloud) -> None:
    found = NebiusTarget(cloud.outside).check(clouds.spec(), NebiusOptions(project="lab"))

    assert found.ok
    assert cloud.commands == []
    assert not (cloud.home / ".npa/soperator").exists()


def test_disks_for_images_that_are_there_are_not_asked_for_again(tmp_path: Path) -> None:
    pool = WorkerPoolSpec(name="cpu", size=2, docker_cache=True)
    wanted = clouds.spec(workers=(pool,))
    with clouds.serve(tmp_path, wanted) as cloud:
        quickly(cloud, wanted)
        cloud.provider.held["quotas"] = [
            fake.allowance(need.quota, need.amount, need.amount, unit=clouds.unit(need.unit))
            for need in quotas.needs(wanted)
        ]
        found = NebiusTarget(cloud.outside).check(wanted, NebiusOptions())

        assert "compute.disk.size.network-ssd-io-m3" not in [each.quota for each in found.quotas.shortfalls]


def test_ctrl_c_as_an_apply_ends_keeps_what_it_made(cloud: Cloud) -> None:
    def interrupt(command: str) -> None:
        if command == "apply":
            cloud.after = lambda _: None
            raise KeyboardInterrupt

    cloud.after = interrupt
    with pytest.raises(KeyboardInterrupt):
        deploy(cloud)

    record = records.load_sidecar(cloud.installation)
    assert record is not None
    assert [record.cluster_id] == cloud.ids("clusters")
    said: list[str] = []
    NebiusTarget(cloud.outside).deploy(
        clouds.spec(), NebiusOptions(), lambda *_: None, lambda event: said.append(event.message)
    )
    assert any(text.startswith("the last deploy was interrupted in kubernetes") for text in said)


def test_repairs_run_without_an_apply(cloud: Cloud) -> None:
    deploy(cloud)
    cloud.commands.clear()
    said: list[str] = []

    assert NebiusTarget(cloud.outside).repair("quick", NebiusOptions(), said.append, 60.0) == ()
    assert "apply" not in cloud.commands
    assert any("prefixed-scripts" in each for each in said)


def test_a_cluster_without_definitions_gets_open_ones_and_later_those_of_a_file(
    cloud: Cloud, tmp_path: Path
) -> None:
    for name in definitions.OPEN:
        cloud.kube.delete(CRD, name)
    assert deploy(cloud)["status"] == "ready"
    assert all(definitions.is_ours(cloud.kube.objects[CRD.plural, "", name]) for name in definitions.OPEN)

    file = tmp_path / "crds.yaml"
    file.write_text("\n---\n".join(yaml.safe_dump(CRD.object(name)) for name in definitions.OPEN))
    assert deploy(cloud, definitions=file)["status"] == "ready"
    assert not any(definitions.is_ours(cloud.kube.objects[CRD.plural, "", name]) for name in definitions.OPEN)


def test_kubernetes_that_takes_no_prerequisites_stops_the_deploy_before_slurm(cloud: Cloud) -> None:
    def refuses(wanted: Any) -> Any:
        raise KubeError(f"no leave to apply {wanted['kind']}", status=403)

    cloud.kube.apply = refuses  # type: ignore[method-assign]
    with pytest.raises(KubeError, match="no leave to apply Namespace"):
        deploy(cloud)
    assert cloud.commands.count("apply") == 1


def test_a_state_that_is_kept_elsewhere_is_found_again(cloud: Cloud, tmp_path: Path) -> None:
    kept = tmp_path / "elsewhere.tfstate"
    backend = tmp_path / "backend.tf"
    backend.write_text(f'terraform {{\n  backend "local" {{\n    path = "{kept}"\n  }}\n}}\n')
    quickly(cloud, backend=backend)

    assert kept.exists()
    assert not (cloud.installation / "terraform.tfstate").exists()
    cloud.commands.clear()
    assert quickly(cloud)["status"] == "ready"
    assert "apply" not in cloud.commands
    assert destroy(cloud)["status"] == "destroyed"


def test_a_dry_run_shows_terraform_s_plan_and_applies_nothing(cloud: Cloud) -> None:
    target = NebiusTarget(cloud.outside)
    first = target.planned(clouds.spec(), NebiusOptions(), lambda _: None)
    assert first.refusal is None
    assert "known once Kubernetes is there" in first.plan.notes[-1]
    assert "module.k8s.terraform_data.this" in " ".join(step.subject for step in first.plan.steps)
    assert cloud.ids("clusters") == []

    quickly(cloud)
    cloud.commands.clear()
    shown = target.planned(pools(cpu=1), NebiusOptions(), lambda _: None)
    assert isinstance(shown.refusal, DestructiveError)
    assert any("would shrink from 2 nodes to 1 node" in step.reason for step in shown.plan.steps)
    assert "apply" not in cloud.commands
    assert quickly(cloud)["status"] == "ready"


def test_c67_a_smaller_jail_is_refused_before_anything_is_planned(cloud: Cloud) -> None:
    quickly(cloud, clouds.spec(jail_size_gib=1024))
    cloud.commands.clear()
    with pytest.raises(RefusedError, match="jail has 1024 GiB and cannot shrink to 1000 GiB"):
        quickly(cloud, clouds.spec(jail_size_gib=1000))
    assert "plan" not in cloud.commands

    plans: list[Plan] = []
    quickly(cloud, clouds.spec(jail_size_gib=2048), plans=plans)
    (grown,) = [step for plan in plans for step in plan.steps if "jail" in step.subject]
    assert (grown.verb, grown.diff.splitlines()[0]) == (
        "reconfigure",
        "input.size_gibibytes: 1024 -> 2048",
    )


def test_c68_an_operator_does_not_go_back(cloud: Cloud) -> None:
    quickly(cloud)
    history = {"history": [{"chartVersion": "4.1.7+x"}]}
    cloud.kube.put(HELM_RELEASE, "flux-system-soperator", "flux-system", status=history)
    cloud.commands.clear()

    with pytest.raises(RefusedError, match=r"operator cannot go back from 4\.1\.7 to 4\.1\.6"):
        quickly(cloud)
    assert cloud.commands == ["state"]


def test_what_an_apply_made_and_nobody_could_record_is_a_result_of_its_own(cloud: Cloud) -> None:
    def unreadable(command: str) -> None:
        if command == "apply":
            cloud.after = broken

    def broken(command: str) -> None:
        if command == "state":
            cloud.after = lambda _: None
            raise ToolError(["terraform", "state"], 1, "no such bucket")

    cloud.after = unreadable
    with pytest.raises(SoperatorStateCaptureError) as failed:
        quickly(cloud)

    document, code = failure.described(failed.value)
    assert (code, document["status"], document["deployment_status"]) == (
        1,
        "deployed-state-capture-failed",
        "applied",
    )
    assert "do not delete anything by its name" in document["recovery"]
    assert len(cloud.ids("clusters")) == 1  # nothing was destroyed
    record = records.load_sidecar(cloud.installation)
    assert record is not None
    assert record.cluster_id == ""  # the record before the apply is kept
    assert quickly(cloud)["status"] == "ready"
    assert [records.load_sidecar(cloud.installation).cluster_id] == cloud.ids("clusters")  # type: ignore[union-attr]


def test_an_installation_keeps_its_recipe_until_it_is_moved_as_the_refusal_says(cloud: Cloud) -> None:
    extra = "soperator/installations/example/extra.tf"
    old = cloud.release({extra: "# only here\n"})
    quickly(cloud)
    new = cloud.release({"soperator/VERSION": "4.1.7-1\n"}, without=extra)
    assert (cloud.installation / "extra.tf").exists()
    assert cloud.outside.pin == new
    assert quickly(cloud)["status"] == "ready"  # a newer npa, whose pin is another
    record = records.load_sidecar(cloud.installation)
    assert record is not None
    assert record.ref == old

    with pytest.raises(SourceError, match=f"made with the recipe at {old}") as refused:
        quickly(cloud, ref=new)
    commands = refused.value.hint.partition("to move it: ")[2].partition(", then")[0]
    subprocess.run(commands, shell=True, check=True, capture_output=True)
    shown = NebiusTarget(cloud.outside).planned(clouds.spec(), NebiusOptions(ref=new), lambda _: None)
    assert shown.refusal is None
    assert quickly(cloud, ref=new)["status"] == "ready"
    record = records.load_sidecar(cloud.installation)
    assert record is not None
    assert record.ref == new
    assert not (cloud.installation / "extra.tf").exists()
