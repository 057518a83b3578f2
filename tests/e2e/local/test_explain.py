"""Nodes and jobs of a real cluster, explained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.e2e.local.harness import CPU_POOL, Cluster, Npa, kill, until


@pytest.fixture(scope="module")
def place(npa: Npa) -> Iterator[Cluster]:
    """Deploy a cluster of these tests' own: they drain its nodes and end its daemons."""
    own = Cluster(npa, "e2e-explain", accounting=True, workers=[CPU_POOL])
    own.deploy()
    yield own
    assert own.destroy("--force").code == 0


@pytest.fixture
def cluster(place: Cluster) -> Iterator[Cluster]:
    """Give the nodes back and cancel what a test left in the queue."""
    yield place
    place.login(
        "scancel --user=root; for each in $(sinfo -hN -t drain,down -o %N | sort -u); "
        "do scontrol update nodename=$each state=resume; done"
    )
    until(lambda: not place.on("login-0", "squeue", "-h"), "the queue is empty")
    until_fine(place, "cpu-0")
    until_fine(place, "cpu-1")


def node(cluster: Cluster, name: str) -> dict[str, Any]:
    done = cluster.npa.ok("explain-node", name, "--cluster", cluster.name, "-o", "json")
    (found,) = done.json["explanations"]
    assert done.json["schema_version"] == "npa.soperator.explain-node/v1"
    return dict(found)


def until_fine(cluster: Cluster, name: str) -> None:
    """Wait until a node is fine: after a resume slurmctld first asks its slurmd."""
    until(lambda: node(cluster, name)["verdict"] == "fine", f"{name} is fine")


def job(cluster: Cluster, number: str) -> dict[str, Any]:
    done = cluster.npa.ok("explain-job", number, "--cluster", cluster.name, "-o", "json")
    assert done.json["schema_version"] == "npa.soperator.explain-job/v1"
    return dict(done.json["explanations"][0])


def submit(cluster: Cluster, *args: str, command: str = "sleep 600") -> str:
    return cluster.on("login-0", "sbatch", "--parsable", *args, f"--wrap={command}")


def waits_for(cluster: Cluster, number: str, reason: str) -> None:
    until(lambda: cluster.on("login-0", "squeue", "-h", "-j", number, "-o", "%r").startswith(reason), reason)


def test_a_node_that_takes_jobs_is_fine(cluster: Cluster) -> None:
    number = cluster.submit("-w", "cpu-0")
    found = node(cluster, "cpu-0")

    assert (found["verdict"], found["state"], found["causes"]) == ("fine", "mixed", [])
    assert found["facts"]["jobs"].startswith(f"{number} (root, wrap, running)")
    assert found["facts"]["daemons"] == "slurmd up"


def test_a_drain_by_a_person_names_them_and_gives_the_node_back(cluster: Cluster) -> None:
    cluster.on("login-0", "scontrol", "update", "nodename=cpu-1", "state=drain", "reason=rack | move")
    found = node(cluster, "cpu-1")

    assert found["verdict"] == "action"
    assert found["causes"][0]["what"] == "root drained it"
    assert found["causes"][0]["evidence"][0] == "reason: rack | move"
    assert any("reason set to: rack | move" in line for line in found["log"])
    assert found["next_command"].endswith("scontrol update nodename=cpu-1 state=resume")

    _, _, command = found["next_command"].partition(" -- ")
    cluster.on("controller-0", *command.split())

    until_fine(cluster, "cpu-1")


def test_a_drain_by_npa_says_so(cluster: Cluster) -> None:
    reason = "npa: pool cpu shrinks"
    cluster.on("login-0", "scontrol", "update", "nodename=cpu-1", "state=drain", f"reason={reason}")
    found = node(cluster, "cpu-1")

    assert found["causes"][0]["what"] == "npa drained it: pool cpu shrinks"
    assert found["next_command"].startswith("npa soperator deploy")


def test_a_dead_slurmd_is_seen_before_slurmctld_sees_it(cluster: Cluster) -> None:
    kill(cluster.daemons()["cpu-1", "slurmd"])
    found = node(cluster, "cpu-1")
    cluster.deploy()

    assert (found["verdict"], found["state"].partition("+")[0]) == ("action", "idle")
    assert found["causes"][0]["what"] == "slurmd is not running"
    assert any("slurmd | " in line for line in found["log"])
    until_fine(cluster, "cpu-1")


def test_a_node_of_the_control_plane(cluster: Cluster) -> None:
    assert node(cluster, "login-0")["summary"] == "fine: up"


def test_what_is_not_there_is_not_found(cluster: Cluster) -> None:
    lost = cluster.npa("explain-node", "cpu-7", "--cluster", cluster.name, "-o", "json")
    never = cluster.npa("explain-job", "99999", "--cluster", cluster.name, "-o", "json")
    wrong = cluster.npa("explain-job", "x;y", "--cluster", cluster.name, "-o", "json")

    assert (lost.code, lost.json["error"]["code"]) == (1, "not-found")
    assert (never.code, never.json["error"]["code"]) == (1, "not-found")
    assert (wrong.code, wrong.json["error"]["code"]) == (2, "usage")


def test_a_job_that_no_node_can_ever_take(cluster: Cluster) -> None:
    number = submit(cluster, "--hold", "--mem=1G")
    cluster.login(f"scontrol update jobid={number} minmemorynode=900000; scontrol release {number}")
    waits_for(cluster, number, "BadConstraints")
    found = job(cluster, number)

    assert found["verdict"] == "action"
    assert found["causes"][0]["what"] == "no node can ever give what it asks for"
    assert found["causes"][0]["evidence"] == [
        "it asks for 878.9G memory on a node of partition main; the most there is on one is 16G"
    ]


def test_a_job_that_waits_for_memory_in_use(cluster: Cluster) -> None:
    cluster.submit("--mem=10G", "-w", "cpu-0")
    number = submit(cluster, "--mem=10G", "-w", "cpu-0")
    waits_for(cluster, number, "Resources")
    found = job(cluster, number)

    assert found["verdict"] == "waits"
    assert (
        "it needs 10G memory on a node; the most that is free is 6G, on cpu-0"
        in found["causes"][0]["evidence"]
    )


def test_a_held_job_and_a_cancelled_one(cluster: Cluster) -> None:
    number = submit(cluster, "--hold", "--job-name=crazy|name")
    waits_for(cluster, number, "JobHeldUser")
    held = job(cluster, number)
    cluster.on("login-0", "scancel", number)
    until(lambda: "by root" in job(cluster, number)["summary"], "accounting knows who cancelled it")
    cancelled = job(cluster, number)

    assert held["causes"][0]["what"] == "its user held it"
    assert held["facts"]["job"].startswith("crazy|name of root")
    assert held["next_command"].endswith(f"scontrol release {number}")
    assert (cancelled["verdict"], cancelled["summary"]) == ("fine", "cancelled: by root before it started")


def test_a_job_out_of_memory(cluster: Cluster) -> None:
    if cluster.npa("status", cluster.name).code or not cluster.exec("cpu-0", "ls", "/sys/fs/cgroup").out:
        pytest.skip("this kernel offers no memory cgroup")
    number = submit(cluster, "--mem=30M", command="tail -c 200M /dev/zero | sort > /dev/null")
    until(lambda: cluster.job_state(number) in ("OUT_OF_MEMORY", "FAILED", "COMPLETED"), "the job has ended")
    found = job(cluster, number)

    assert found["state"] == "out_of_memory"
    assert "it asked for 30M on each node" in found["causes"][0]["evidence"]
    assert any("oom" in line.lower() for line in found["log"])


def test_a_failed_job_shows_where_to_read_on(cluster: Cluster) -> None:
    number = submit(cluster, "--output=/root/it's %j.out", command="echo lost; exit 7")
    until(lambda: cluster.job_state(number) == "FAILED", "the job has failed")
    found = job(cluster, number)

    assert found["summary"] == "failed: exit code 7"
    assert f"/root/it's {number}.out" in found["facts"]["output"]


def test_tasks_of_an_array_and_parts_of_a_heterogeneous_job(cluster: Cluster) -> None:
    array = submit(cluster, "--array=1-4%1", "-w", "cpu-0")
    until(lambda: cluster.on("login-0", "squeue", "-h", "-t", "running", "-j", array), "a task runs")
    het = cluster.on("login-0", "sbatch", "--parsable", "--wrap=sleep 600", ":", "--mem=1G")

    assert job(cluster, f"{array}_1")["subject"] == f"job {array}_1"
    assert job(cluster, f"{array}_3")["subject"] == f"job {array}_[2-4%1]"
    assert job(cluster, f"{het}+1")["subject"] == f"job {het}+1"
    assert cluster.npa("explain-job", f"{array}_9", "--cluster", cluster.name).code == 1


def test_a_slurmctld_that_is_down_is_not_a_job_that_is_not_there(cluster: Cluster) -> None:
    kill(cluster.daemons()["controller-0", "slurmctld"])
    lost = cluster.npa("explain-job", "1", "--cluster", cluster.name, "-o", "json")
    found = node(cluster, "cpu-0")
    cluster.deploy()

    assert (lost.code, lost.json["error"]["code"]) == (1, "unknown")
    assert found["causes"][0]["what"].startswith("slurmctld is down")
    assert found["state"] == "unknown"
