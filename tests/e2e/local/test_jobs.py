"""Jobs run, get what they ask for and nothing more, and are remembered."""

from __future__ import annotations

import json
import re

import pytest
from tests.e2e.local.harness import Cluster, until

NO_CGROUPS = "limits of memory and devices are not enforced"


@pytest.fixture
def enforced(cluster: Cluster) -> None:
    """Skip where this machine gives no control groups; the plan has to say so."""
    config = cluster.on("login-0", "scontrol", "show", "config")
    if "proctrack/cgroup" not in config:
        assert any(NO_CGROUPS in note for note in cluster.plan()["notes"])
        pytest.skip("this machine gives no control groups to write to")


def test_srun_over_all_nodes_gives_every_name(cluster: Cluster) -> None:
    done = cluster.srun("-N4", "hostname")

    assert sorted(done.out.split()) == ["cpu-0", "cpu-1", "gpu-0", "gpu-1"]


def test_a_user_submits_a_batch_job_from_the_shared_home(cluster: Cluster) -> None:
    cluster.user("alice", "sbatch --wait --output=out.txt --wrap='id -un; pwd; hostname' --nodelist=cpu-1")

    assert cluster.user("alice", "cat out.txt").split() == ["alice", "/home/alice", "cpu-1"]
    assert cluster.on("gpu-0", "stat", "-c", "%U", "/home/alice/out.txt") == "alice"


def test_an_array_of_twenty_jobs_completes(cluster: Cluster) -> None:
    cluster.user("alice", "mkdir -p array")
    job = cluster.user(
        "alice", "sbatch --parsable --wait --array=1-20 --output=array/%a --wrap='echo $SLURM_ARRAY_TASK_ID'"
    )

    assert cluster.user("alice", "cat array/* | sort -n").split() == [str(n) for n in range(1, 21)]
    told = until(
        lambda: (
            (rows := cluster.on("login-0", "sacct", "-nPX", "-j", job, "-o", "State,User").split())
            and rows.count("COMPLETED|alice") == 20
            and rows
        ),
        "the database knows all twenty",
    )
    assert len(told) == 20


def test_a_job_sees_the_gpus_that_it_asked_for(cluster: Cluster) -> None:
    done = cluster.srun(
        "--gres=gpu:b200:2", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES; ls /dev/nvidia* | wc -l"
    )

    assert done.out.split() == ["0,1", "8"]


def test_two_jobs_on_a_node_share_no_gpu(idle: Cluster) -> None:
    first = idle.submit("--gres=gpu:5", "--nodelist=gpu-0")
    second = idle.srun("--gres=gpu:3", "--nodelist=gpu-0", "sh", "-c", "echo $SLURM_STEP_GPUS")
    too_many = idle.srun("--gres=gpu:4", "--nodelist=gpu-0", "--immediate=1", "true")

    assert second.out.split() == ["5,6,7"]
    assert too_many.code != 0
    assert idle.job_state(first) == "RUNNING"


@pytest.mark.usefixtures("enforced")
def test_the_kernel_keeps_a_job_from_other_gpus(cluster: Cluster) -> None:
    script = "for each in 0 1 2 7; do dd if=/dev/nvidia$each count=1 2>&1 | grep open; done"
    told = cluster.srun("--gres=gpu:2", "sh", "-c", script).out.splitlines()

    # there is no driver behind the device files: ENXIO means that the open was let through
    assert [line.rpartition(": ")[2] for line in told] == [
        "No such device or address",
        "No such device or address",
        "Operation not permitted",
        "Operation not permitted",
    ]


@pytest.mark.usefixtures("enforced")
def test_a_job_without_gpus_reaches_none(cluster: Cluster) -> None:
    done = cluster.srun("--nodelist=gpu-0", "sh", "-c", "dd if=/dev/nvidia0 count=1")

    assert done.code != 0
    assert "Operation not permitted" in done.err


@pytest.mark.usefixtures("enforced")
def test_a_job_over_its_memory_is_killed_and_accounted_as_such(cluster: Cluster) -> None:
    job = cluster.on(
        "login-0", "sbatch", "--parsable", "--mem=64M", "--output=/dev/null", "--wrap=tail /dev/zero"
    )

    assert until(
        lambda: (
            (fields := cluster.sacct(job, "State,ExitCode"))
            and fields[0] != "PENDING"
            and fields[0] != "RUNNING"
            and fields
        ),
        "the job ends",
    ) == ["OUT_OF_MEMORY", "0:125"]
    cluster.assert_healthy()


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        pytest.param(("--nodelist=cpu-0", "--gres=gpu:1"), "not available", id="no-gpu-there"),
        pytest.param(("--gres=gpu:h100:1",), "not available", id="another-gpu"),
        pytest.param(("--gres=gpu:9",), "not available", id="too-many-gpus"),
        pytest.param(("--constraint=nosuch",), "Invalid feature", id="no-such-feature"),
        pytest.param(("--partition=train", "--constraint=amd"), "not available", id="another-pools-feature"),
        pytest.param(("--partition=nosuch",), "invalid partition", id="no-such-partition"),
        pytest.param(("--mem=17G", "--nodelist=cpu-0"), "Memory|not available", id="too-much-memory"),
        pytest.param(("--cpus-per-task=161",), "not available", id="more-cpus-than-a-node-has"),
    ],
)  # fmt: skip
def test_what_the_cluster_does_not_have_is_refused_at_once(
    cluster: Cluster, asked: tuple[str, ...], why: str
) -> None:
    done = cluster.srun("--immediate=1", *asked, "true")

    assert done.code != 0
    assert re.search(why, done.err, re.IGNORECASE), done.err


def test_a_job_longer_than_its_partition_allows_is_refused_at_once(idle: Cluster) -> None:
    done = idle.exec("login-0", "sbatch", "--partition=train", "--time=3:00:00", "--wrap=true")

    assert done.code == 1, done
    assert "time limit is invalid" in done.err


@pytest.mark.parametrize(
    ("constraint", "nodes"),
    [("nvlink", {"gpu-0", "gpu-1"}), ("amd", {"cpu-0", "cpu-1"}), ("amd&local-ssd", {"cpu-0", "cpu-1"})],
)
def test_features_choose_nodes(cluster: Cluster, constraint: str, nodes: set[str]) -> None:
    done = cluster.srun("-N2", f"--constraint={constraint}", "hostname")

    assert set(done.out.split()) == nodes


def test_the_database_knows_who_ran_what(cluster: Cluster) -> None:
    job = cluster.user(
        "bob", "sbatch --parsable --wait --job-name=bobs -o /dev/null --gres=gpu:1 --wrap=true"
    )

    fields = until(
        lambda: (
            (row := cluster.sacct(job, "User,JobName,State,Partition,AllocTRES"))
            and row[2] == "COMPLETED"
            and row
        ),
        "the job is in the database",
    )
    assert fields[:4] == ["bob", "bobs", "COMPLETED", "main"]
    assert "gres/gpu=1" in fields[4]


def test_a_user_cannot_touch_another_ones_job(idle: Cluster) -> None:
    job = idle.submit("--nodelist=cpu-0", "--mem=100M")
    done = idle.exec("login-0", "setpriv", "--reuid=alice", "--regid=alice", "--clear-groups", "scancel", job)

    assert "Access/permission denied" in done.err
    assert idle.job_state(job) == "RUNNING"


def _rest(cluster: Cluster, path: str, token: str, body: str = "") -> tuple[int, str]:
    """Call slurmrestd from the login node; returns the status and the answer."""
    header = ["-H", f"X-SLURM-USER-TOKEN: {token}"] if token else []
    data = ["-H", "Content-Type: application/json", "-d", "@-"] if body else []
    url = f"http://rest-0:6820{path}"
    told = cluster.on("login-0", "curl", "-sS", "-w", r"\n%{http_code}", *header, *data, url, stdin=body)
    answer, _, status = told.rpartition("\n")
    return int(status), answer


def _token(cluster: Cluster, user: str) -> str:
    made = cluster.user(user, "scontrol token lifespan=300")
    return made.partition("=")[2]


def test_rest_answers_whoever_has_a_token(cluster: Cluster) -> None:
    status, answer = _rest(cluster, "/slurm/v0.0.42/nodes/", _token(cluster, "alice"))

    assert status == 200
    assert {node["name"] for node in json.loads(answer)["nodes"]} == {"gpu-0", "gpu-1", "cpu-0", "cpu-1"}


@pytest.mark.parametrize("token", ["", "eyJhbGciOiJIUzI1NiJ9.e30.AAAA"], ids=["none", "forged"])
def test_rest_refuses_whoever_has_none(cluster: Cluster, token: str) -> None:
    status, answer = _rest(cluster, "/slurm/v0.0.42/nodes/", token)

    assert status >= 400
    assert token or status == 401
    assert "gpu-0" not in answer


def test_a_job_submitted_through_rest_runs_as_its_owner(cluster: Cluster) -> None:
    job = {
        "script": "#!/bin/sh\nid -un > /home/alice/rest.txt\n",
        "job": {
            "name": "through-rest",
            "current_working_directory": "/home/alice",
            "environment": ["PATH=/usr/bin:/bin"],
            "standard_output": "/dev/null",
        },
    }
    status, answer = _rest(cluster, "/slurm/v0.0.42/job/submit", _token(cluster, "alice"), json.dumps(job))
    number = str(json.loads(answer)["job_id"])

    assert status == 200
    until(lambda: cluster.job_state(number) in ("COMPLETED", ""), "the job ends")
    assert cluster.user("alice", "cat rest.txt") == "alice"
