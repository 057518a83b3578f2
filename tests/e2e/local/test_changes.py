"""A changed spec is the smallest change of the cluster, and running jobs are nobody's to lose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.local.harness import CPU_POOL, GPU_POOL, PATIENCE, Cluster, Npa, until


def pool(size: int, **changes: Any) -> dict[str, Any]:
    return {**CPU_POOL, "size": size, **changes}


@pytest.fixture(scope="module")
def deployed(npa: Npa) -> Iterator[Cluster]:
    cluster = Cluster(npa, "e2e-changing", workers=[pool(2)])
    cluster.deploy()
    yield cluster
    assert cluster.destroy("--force").code == 0


@pytest.fixture
def two(deployed: Cluster) -> Iterator[Cluster]:
    """Give a test a cluster of two idle CPU nodes, and bring it back to that."""
    yield deployed
    for state in ("running", "pending"):
        deployed.on("controller-0", "scancel", f"--state={state}")
    until(lambda: not deployed.on("controller-0", "squeue", "-h"), "the queue is empty")
    for key in set(deployed.spec) - {"apiVersion", "name", "target", "region", "workers"}:
        del deployed.spec[key]
    for node, state in deployed.states().items():
        if "drain" in state:
            deployed.on("controller-0", "scontrol", "update", f"nodename={node}", "state=resume")
    deployed.deploy(workers=[pool(2)])


def verbs(plan: dict[str, Any]) -> list[str]:
    return [step["verb"] for step in plan["steps"]]


def test_a_second_deploy_does_nothing_and_says_so(two: Cluster) -> None:
    before = two.first_pids()
    done = two.npa.ok("deploy", "-f", str(two.write()), "--yes")

    assert "nothing to do" in done.out
    assert two.first_pids() == before


def test_growing_starts_only_the_new_nodes_and_the_job_goes_on(two: Cluster) -> None:
    job = two.submit("-w", "cpu-1")
    before = two.first_pids()
    done = two.deploy(workers=[pool(4)])
    after = two.first_pids()

    assert [step["nodes"] for step in done["plan"]["steps"] if step["verb"] == "start"] == [
        ["cpu-2", "cpu-3"]
    ]
    assert {node: after[node] for node in before} == before
    assert sorted(set(after) - set(before)) == ["cpu-2", "cpu-3"]
    assert two.job_state(job) == "RUNNING"
    assert len(set(two.srun("-N4", "--overlap", "--mem=1", "hostname").out.split())) == 4


def test_shrinking_drains_the_idle_nodes_and_ends_only_them(two: Cluster) -> None:
    two.deploy(workers=[pool(4)])
    job = two.submit("-w", "cpu-0")
    before = two.first_pids()
    done = two.deploy(workers=[pool(2)])

    assert verbs(done["plan"])[:2] == ["drain", "stop"]
    assert done["plan"]["steps"][0]["nodes"] == ["cpu-2", "cpu-3"]
    assert not any(step["kills_jobs"] for step in done["plan"]["steps"])
    assert two.first_pids() == {node: pid for node, pid in before.items() if node not in ("cpu-2", "cpu-3")}
    assert two.job_state(job) == "RUNNING"
    assert sorted(two.states()) == ["cpu-0", "cpu-1"]
    assert not (two.npa.folder(two.name) / "nodes/cpu-3").exists()


def test_a_node_that_a_job_runs_on_is_not_taken_away(two: Cluster) -> None:
    two.deploy(workers=[pool(3)])
    job = two.submit("-w", "cpu-2", "--job-name=precious")
    before = two.first_pids()
    refused = two.try_deploy(workers=[pool(2)])

    error = refused.json["error"]
    assert (refused.code, error["code"]) == (3, "destructive")
    assert f"{job} (root, precious)" in error["message"]
    assert "--force" in error["hint"]
    assert "--wait-for-jobs" in error["hint"]
    assert two.first_pids() == before
    assert two.job_state(job) == "RUNNING"
    assert "drain" not in two.states()["cpu-2"]


def test_a_job_that_starts_after_the_plan_is_not_lost_either(two: Cluster, tmp_path: Path) -> None:
    two.deploy(workers=[pool(3)])
    file = tmp_path / "plan"
    two.plan("--out", str(file), workers=[pool(2)])
    job = two.submit("-w", "cpu-2")
    refused = two.npa("deploy", "--plan", str(file), "--yes", "-o", "json")

    assert refused.code == 3, refused
    assert two.job_state(job) == "RUNNING"
    assert "drain" not in two.states()["cpu-2"]


def test_waiting_for_jobs_lets_them_end_and_keeps_new_ones_away(two: Cluster) -> None:
    two.deploy(workers=[pool(3)])
    gate = "/root/gate"
    two.login(f"rm -f {gate}")
    job = two.submit(
        "-w", "cpu-2", command=f"until [ -e {gate} ]; do sleep 0.1; done; echo done > /root/ended"
    )
    shrink = two.npa.start(
        "deploy", "-f", str(two.write(workers=[pool(2)])), "--yes", "--wait-for-jobs", "2m"
    )
    until(lambda: "drain" in two.states()["cpu-2"], "the node drains")
    late = two.srun("-w", "cpu-2", "--immediate=1", "true")
    still = two.job_state(job)
    two.login(f"touch {gate}")
    _, progress = shrink.communicate(timeout=PATIENCE)

    assert late.code != 0
    assert still == "RUNNING"
    assert shrink.returncode == 0, progress
    assert f"waiting for jobs {job} (root, wrap)" in progress
    assert two.login("cat /root/ended") == "done"
    assert sorted(two.states()) == ["cpu-0", "cpu-1"]


def test_waiting_too_short_gives_the_node_back(two: Cluster) -> None:
    two.deploy(workers=[pool(3)])
    job = two.submit("-w", "cpu-2")
    refused = two.try_deploy("--wait-for-jobs", "1s", workers=[pool(2)])

    assert (refused.code, refused.json["error"]["code"]) == (3, "destructive"), refused
    assert two.job_state(job) == "RUNNING"
    assert "drain" not in two.states()["cpu-2"]
    until(lambda: two.status()["ok"], "slurmctld hears of the node again")


def test_a_shrink_that_was_refused_once_is_as_careful_the_second_time(two: Cluster) -> None:
    two.deploy(workers=[pool(3)])
    job = two.submit("-w", "cpu-2")
    codes = [two.try_deploy("--wait-for-jobs", "1s", workers=[pool(2)]).code for _ in range(2)]
    codes.append(two.try_deploy(workers=[pool(2)]).code)

    assert codes == [3, 3, 3]
    assert two.job_state(job) == "RUNNING"


def test_force_ends_the_job_and_only_that(two: Cluster) -> None:
    two.deploy(workers=[pool(3)])
    lost, kept = two.submit("-w", "cpu-2", "--no-requeue"), two.submit("-w", "cpu-0")
    done = two.deploy("--force", workers=[pool(2)])

    assert [job["id"] for step in done["plan"]["steps"] if step["kills_jobs"] for job in step["jobs"]] == [
        lost
    ]
    assert two.job_state(kept) == "RUNNING"
    assert two.job_state(lost) in ("", "CANCELLED", "NODE_FAIL", "FAILED")


def test_somebody_elses_drain_is_left_alone(two: Cluster) -> None:
    two.on("controller-0", "scontrol", "update", "nodename=cpu-1", "state=drain", "reason=bad fan")
    done = two.try_deploy(workers=[pool(3)])

    assert done.code == 4  # it was done, and the drained node makes the cluster degraded
    row = next(node for node in two.status()["nodes"] if node["name"] == "cpu-1")
    assert "drain" in row["state"]
    assert row["reason"].startswith("bad fan")


def test_adding_a_pool_leaves_the_others_alone(two: Cluster) -> None:
    before = two.first_pids()
    done = two.deploy(workers=[pool(2), {**GPU_POOL, "size": 1}])
    after = two.first_pids()

    assert [step["subject"] for step in done["plan"]["steps"] if step["verb"] == "start"] == ["pool gpu"]
    assert {node: after[node] for node in before} == before
    assert two.srun("--gres=gpu:8", "hostname").out.split() == ["gpu-0"]


def test_removing_a_pool_leaves_the_others_alone(two: Cluster) -> None:
    two.deploy(workers=[pool(2), pool(1, name="spare")])
    before = two.first_pids()
    done = two.deploy(workers=[pool(2)])
    after = two.first_pids()

    assert verbs(done["plan"])[:2] == ["drain", "stop"]
    assert after == {node: pid for node, pid in before.items() if node != "spare-0"}
    assert sorted(two.states()) == ["cpu-0", "cpu-1"]


def test_another_preset_replaces_only_its_pool(two: Cluster) -> None:
    two.deploy(workers=[pool(2), {**GPU_POOL, "size": 1}])
    before = two.first_pids()
    two.deploy(workers=[pool(2, preset="8vcpu-32gb"), {**GPU_POOL, "size": 1}])
    after = two.first_pids()

    shown = two.on("controller-0", "scontrol", "show", "node", "cpu-0").split()
    assert {"CPUTot=8", "RealMemory=32768"} <= set(shown)
    assert after["gpu-0"] == before["gpu-0"]
    assert after["login-0"] == before["login-0"]


def test_a_replaced_node_comes_back_every_time(two: Cluster) -> None:
    # slurmctld has just read its files anew and does not know the node's state when it is to be resumed
    for preset in ("8vcpu-32gb", "4vcpu-16gb") * 2:
        two.deploy(workers=[pool(2, preset=preset)])

        assert two.states() == {"cpu-0": "idle", "cpu-1": "idle"}


def test_another_gpu_count_makes_new_devices(two: Cluster) -> None:
    two.deploy(workers=[{**GPU_POOL, "size": 1}])
    h100 = {"platform": "gpu-h100-sxm", "preset": "8gpu-128vcpu-1600gb", "fabric": "fabric-2"}
    done = two.try_deploy(workers=[{**GPU_POOL, **h100, "size": 1}], region="eu-north1")
    two.spec["region"] = "us-central1"

    assert done.code == 0, done
    assert two.srun("--gres=gpu:h100:8", "hostname").out.split() == ["gpu-0"]


def test_another_partition_is_a_reconfiguration_that_no_job_notices(two: Cluster) -> None:
    job = two.submit("-w", "cpu-0")
    before, daemons = two.first_pids(), two.daemons()
    parts = [
        {"name": "main", "is_all": True, "default": True},
        {"name": "short", "pools": ["cpu"], "max_time": "10"},
    ]
    done = two.deploy(partitions=parts)

    assert verbs(done["plan"]) == ["write", "reconfigure", "wait"]
    assert "PartitionName=short" in done["plan"]["steps"][0]["diff"]
    assert two.first_pids() == before
    assert two.daemons() == daemons
    assert two.on("login-0", "sinfo", "-h", "-p", "short", "-o", "%l") == "10:00"
    assert two.job_state(job) == "RUNNING"


def test_features_change_without_a_restart(two: Cluster) -> None:
    job = two.submit("-w", "cpu-0")
    before = two.first_pids()
    two.deploy(workers=[pool(2, features=["fresh"])])

    assert two.srun("-C", "fresh", "-N2", "--mem=1", "hostname").code == 0
    assert two.first_pids() == before
    assert two.job_state(job) == "RUNNING"


@pytest.mark.parametrize(
    ("setting", "value", "line"),
    [
        pytest.param("SchedulerParameters", "batch_sched_delay=1", "batch_sched_delay=1", id="read-again"),
        pytest.param("PriorityType", "priority/basic", "priority/basic", id="read-at-start"),
    ],
)
def test_settings_of_the_spec_reach_slurmctld(two: Cluster, setting: str, value: str, line: str) -> None:
    job = two.submit("-w", "cpu-0")
    before = two.first_pids()
    two.deploy(slurm={"settings": {setting: value}})

    config = two.on("login-0", "scontrol", "show", "config")
    assert line in next(each for each in config.splitlines() if each.startswith(setting))
    assert two.first_pids() == before
    assert two.job_state(job) == "RUNNING"


def test_a_setting_that_slurm_does_not_know_is_said_and_does_not_wedge(two: Cluster) -> None:
    done = two.try_deploy(slurm={"settings": {"NoSuchSetting": "1"}})

    assert done.code != 0
    assert two.try_deploy(slurm={"settings": {}}).code == 0
    two.assert_healthy()


def test_users_are_added_and_their_keys_changed(two: Cluster) -> None:
    two.deploy(users=[{"name": "dora", "uid": 4001}])
    keys = two.npa.folder(two.name) / "etc/ssh/keys"
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEn4tKZQ8yJxgqgJvUbH2mVTF6w5CyqkqGvZqqRzjB6w dora"
    done = two.deploy(
        users=[{"name": "dora", "uid": 4001, "ssh_public_keys": [key]}, {"name": "emil", "uid": 4002}]
    )

    assert [step["subject"] for step in done["plan"]["steps"] if step["verb"] == "create"] == [
        "users emil (4002)"
    ]
    assert key in (keys / "dora").read_text()
    assert two.srun("-N2", "id", "-u", "emil").out.split() == ["4002"] * 2
    assert two.npa.ok("ssh", "-c", two.name, "emil", "--", "id -un").out.strip() == "emil"


def test_a_plan_file_is_done_once(two: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "plan"
    shown = two.plan("--out", str(file), workers=[pool(3)])
    done = two.npa.ok("deploy", "--plan", str(file), "--yes", "-o", "json").json
    again = two.npa("deploy", "--plan", str(file), "--yes", "-o", "json")

    assert done["plan"]["steps"] == shown["steps"]
    assert sorted(two.states()) == ["cpu-0", "cpu-1", "cpu-2"]
    assert (again.code, again.json["error"]["code"]) == (3, "refused"), again
    assert "moved on" in again.json["error"]["message"]


def test_a_plan_file_is_refused_once_the_world_is_another(two: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "plan"
    two.plan("--out", str(file), workers=[pool(4)])
    two.deploy(workers=[pool(3)])
    before = two.first_pids()
    refused = two.npa("deploy", "--plan", str(file), "--yes", "-o", "json")

    assert refused.code == 3, refused
    assert two.first_pids() == before


def test_a_plan_file_that_was_changed_is_refused(two: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "plan"
    two.plan("--out", str(file), workers=[pool(3)])
    document = json.loads(file.read_text())
    document["plan"]["steps"] = document["plan"]["steps"][:1]
    file.write_text(json.dumps(document))
    refused = two.npa("deploy", "--plan", str(file), "--yes")

    assert refused.code == 3, refused
    assert sorted(two.states()) == ["cpu-0", "cpu-1"]


def test_planning_changes_nothing(two: Cluster) -> None:
    before = two.first_pids()
    folder = two.npa.folder(two.name)
    files = {path: path.stat().st_mtime_ns for path in (folder / "etc").rglob("*")}
    two.plan(workers=[pool(1, preset="8vcpu-32gb")])
    two.npa.ok("deploy", "-f", str(two.file), "--dry-run")

    assert two.first_pids() == before
    assert {path: path.stat().st_mtime_ns for path in (folder / "etc").rglob("*")} == files


def test_accounting_can_be_switched_on_later(two: Cluster) -> None:
    job = two.submit("-w", "cpu-0")
    before = two.first_pids()
    two.deploy(accounting=True)
    after = two.first_pids()
    mine = two.on(
        "login-0", "sbatch", "--parsable", "--wait", "-w", "cpu-1", "-o", "/dev/null", "--wrap=true"
    )

    until(lambda: two.sacct(mine, "State") == ["COMPLETED"], "the database has the new job")
    assert {node: after[node] for node in before} == before
    assert {"accounting-0", "rest-0"} == set(after) - set(before)
    assert two.job_state(job) == "RUNNING"


def test_another_slurm_is_refused_while_the_cluster_stands(two: Cluster) -> None:
    refused = two.try_deploy(slurm={"version": "24.11"})

    assert refused.code == 3, refused
    assert "destroy" in refused.json["error"]["hint"]
    two.assert_healthy()
