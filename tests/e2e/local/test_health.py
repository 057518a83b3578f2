"""Whatever dies is named, with the next command, and the next deploy brings it back."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest
from tests.e2e.local.harness import CPU_POOL, Cluster, Npa, kill, until

DAEMONS = (
    ("cpu-0", "slurmd"),
    ("controller-0", "slurmctld"),
    ("accounting-0", "slurmdbd"),
    ("accounting-0", "mariadbd"),
    ("login-0", "sshd"),
    ("login-0", "sackd"),
    ("rest-0", "slurmrestd"),
)


@pytest.fixture(scope="module")
def mortal(npa: Npa) -> Iterator[Cluster]:
    cluster = Cluster(npa, "e2e-mortal", accounting=True, workers=[CPU_POOL])
    cluster.deploy()
    yield cluster
    assert cluster.destroy("--force").code == 0


def _pid(cluster: Cluster, node: str, daemon: str) -> int:
    """Return a daemon's PID as the report tells it."""
    (found,) = [
        each for each in cluster.status()["daemons"] if (each["node"], each["name"]) == (node, daemon)
    ]
    return int(found["pid"])


def _dies(cluster: Cluster, node: str, daemon: str) -> None:
    """Kill a daemon and whatever of it slurmd or sshd would leave behind."""
    kill(_pid(cluster, node, daemon))


def _saved(cluster: Cluster) -> None:
    """Wait until slurmctld has written down what it knows, which it does some seconds later."""
    state, now = cluster.npa.folder(cluster.name) / "ctld/job_state", time.time()
    until(lambda: state.exists() and state.stat().st_mtime > now, "the job is in slurmctld's state")


def test_status_exits_0_when_healthy_and_names_the_next_command(mortal: Cluster) -> None:
    done = mortal.npa("status", mortal.name)

    assert done.code == 0, done
    assert done.out.splitlines()[0] == f"cluster {mortal.name} on local: healthy, Slurm 26.05.5"
    assert done.out.splitlines()[-1] == f"next: npa soperator ssh --cluster {mortal.name}"


@pytest.mark.parametrize(("node", "daemon"), DAEMONS, ids=[daemon for _, daemon in DAEMONS])
def test_a_dead_daemon_is_named_and_started_again(mortal: Cluster, node: str, daemon: str) -> None:
    _dies(mortal, node, daemon)
    ill = mortal.npa("status", mortal.name, "-o", "json")
    shown = mortal.npa("status", mortal.name)
    before = mortal.first_pids()
    repaired = mortal.deploy()

    assert (ill.code, shown.code) == (4, 4)
    finding = next(each for each in ill.json["findings"] if each["subject"] == f"{daemon} on {node}")
    assert (finding["severity"], finding["message"]) == ("error", "is down")
    assert f"error: {daemon} on {node}: is down" in shown.out
    assert shown.out.splitlines()[-1].startswith("next: npa soperator ")
    assert [step["nodes"] for step in repaired["plan"]["steps"] if step["verb"] == "restart"] == [[node]]
    assert mortal.first_pids() == before
    assert mortal.srun("-N2", "true").code == 0


def test_a_job_outlives_slurmctld(mortal: Cluster) -> None:
    job = mortal.submit("-w", "cpu-1", command="sleep 8; echo lived > /root/lived")
    _saved(mortal)
    _dies(mortal, "controller-0", "slurmctld")
    unread = mortal.npa("status", mortal.name, "-o", "json")
    mortal.deploy()

    assert (unread.code, unread.json["nodes"], unread.json["jobs"]) == (4, None, None)
    until(lambda: mortal.sacct(job, "State") == ["COMPLETED"], "the job ends well")
    assert mortal.login("cat /root/lived") == "lived"


def test_a_job_outlives_slurmd(mortal: Cluster) -> None:
    job = mortal.submit("-w", "cpu-0", command="sleep 3")
    _dies(mortal, "cpu-0", "slurmd")
    mortal.deploy()

    until(lambda: mortal.sacct(job, "State") == ["COMPLETED"], "the job ends well")


def test_without_slurmctlds_answer_no_node_is_taken_away(mortal: Cluster) -> None:
    _dies(mortal, "controller-0", "slurmctld")
    before = mortal.first_pids()
    refused = mortal.try_deploy(workers=[{**CPU_POOL, "size": 1}])
    mortal.deploy(workers=[CPU_POOL])

    assert refused.code not in (0, 4), refused
    assert "cpu-1" in refused.json["error"]["message"]
    assert mortal.first_pids() == before


@pytest.mark.parametrize("node", ["cpu-1", "login-0", "accounting-0", "controller-0"])
def test_a_whole_node_comes_back(mortal: Cluster, node: str) -> None:
    others = {name: pid for name, pid in mortal.first_pids().items() if name != node}
    kill(mortal.first_pids()[node])
    ill = mortal.npa("status", mortal.name, "-o", "json")
    mortal.deploy()

    assert ill.code == 4
    assert {name: pid for name, pid in mortal.first_pids().items() if name != node} == others
    assert sorted(mortal.srun("-N2", "hostname").out.split()) == ["cpu-0", "cpu-1"]


def test_the_whole_lab_comes_back_with_its_jail_and_its_database(mortal: Cluster) -> None:
    mortal.login("useradd --create-home fiona; echo kept > /home/fiona/file")
    job = mortal.on("login-0", "sbatch", "--parsable", "--wait", "-o", "/dev/null", "--wrap=true")
    until(lambda: mortal.sacct(job, "State") == ["COMPLETED"], "the job is in the database")
    kill(mortal.lab_pid())
    stopped = mortal.npa("status", mortal.name, "-o", "json")
    (listed,) = [each for each in mortal.npa.ok("list", "-o", "json").json["clusters"]
                 if each["name"] == mortal.name]  # fmt: skip
    inside = mortal.npa("exec", "--cluster", mortal.name, "login-0", "--", "true")
    mortal.deploy()

    assert (stopped.code, stopped.json["status"]) == (4, "stopped")
    assert "npa soperator deploy" in stopped.json["next_command"]
    assert listed["state"] == "stopped"
    assert inside.code != 0
    assert "deploy" in inside.err.partition("hint:")[2]
    assert mortal.login("cat /home/fiona/file") == "kept"
    assert mortal.sacct(job, "State") == ["COMPLETED"]
    assert mortal.srun("-N2", "id", "-un", "fiona").out.split() == ["fiona"] * 2


def test_a_stopped_daemon_that_hangs_is_not_healthy(mortal: Cluster) -> None:
    pid = _pid(mortal, "controller-0", "slurmctld")
    os.kill(pid, signal.SIGSTOP)
    try:
        hung = mortal.npa("status", mortal.name, "-o", "json")
    finally:
        os.kill(pid, signal.SIGCONT)

    assert hung.code == 4, hung
    assert hung.json["nodes"] is None
    until(lambda: mortal.status()["ok"], "slurmctld answers again")


def test_files_that_somebody_changed_are_put_right(mortal: Cluster) -> None:
    conf = mortal.npa.folder(mortal.name) / "etc/daemons/slurm.conf"
    good = conf.read_text()
    conf.write_text(good.replace("PartitionName=main", "PartitionName=other"))
    (conf.parent / "stray.conf").write_text("left by somebody\n")
    done = mortal.deploy()

    assert "write" in [step["verb"] for step in done["plan"]["steps"]]
    assert conf.read_text() == good
    assert mortal.plan()["steps"] == []


def test_status_of_a_cluster_that_is_not_there(npa: Npa) -> None:
    done = npa("status", "nosuch", "-o", "json")

    assert done.code == 1
    assert done.json["error"]["code"] == "not-found"
    assert "npa soperator list" in done.json["error"]["hint"]
