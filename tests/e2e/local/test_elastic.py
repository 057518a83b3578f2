"""Elastic pools: Slurm says which nodes it wants, the agent does it, and nothing hangs on one message."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.local.harness import CPU_POOL, Cluster, Npa, kill, pids, stat, title, traces, until

OFF = "idle+cloud+powered_down"
# slurmctld looks at its timeouts for nodes every 10 s, and at nodes that are wanted every 30 s
SLOW = 90.0
SETTINGS = {"SuspendTime": "2", "ResumeTimeout": "15", "SuspendTimeout": "3"}


def pools(**changes: Any) -> list[dict[str, Any]]:
    burst = {**CPU_POOL, "name": "burst", "size": 8, "ephemeral": True, **changes}
    return [{**CPU_POOL, "size": 1}, burst]


@pytest.fixture(scope="module")
def deployed(npa: Npa) -> Iterator[Cluster]:
    cluster = Cluster(npa, "e2e-elastic", workers=pools(), slurm={"settings": SETTINGS})
    cluster.deploy()
    yield cluster
    assert cluster.destroy("--force").code == 0
    assert traces(f"{npa.state}/local/e2e-elastic") == []  # no agent either


@pytest.fixture
def elastic(deployed: Cluster) -> Iterator[Cluster]:
    """Give a test the cluster; each has nodes of its own, because it takes Slurm long to put them off."""
    yield deployed
    for state in ("running", "pending"):
        deployed.on("controller-0", "scancel", f"--state={state}")


def running(cluster: Cluster) -> set[str]:
    return {node for node in cluster.first_pids() if node.startswith("burst-")}


SAVED = 7  # seconds after which slurmctld has written down whatever changed


def submit(cluster: Cluster, *nodes: str) -> str:
    """Submit a job that wants these nodes."""
    wanted = ("-N", str(len(nodes)), "-w", ",".join(nodes))
    return cluster.on("login-0", "sbatch", "--parsable", "-o", "/dev/null", *wanted, "--wrap=sleep 600")


def asked(cluster: Cluster, node: str) -> None:
    until(lambda: "powering_up" in cluster.states()[node], f"slurmctld asks for {node}")


def off(cluster: Cluster, *nodes: str) -> None:
    until(
        lambda: all(cluster.states()[node] == OFF for node in nodes) and not running(cluster) & set(nodes),
        f"{nodes} are off",
        SLOW,
    )


def runs(cluster: Cluster, job: str) -> None:
    until(lambda: cluster.job_state(job) == "RUNNING", f"job {job} runs", SLOW)


def agent(cluster: Cluster) -> int:
    """Return the PID of the power agent; 0 where there is none."""
    wanted = f"npa.targets.local.agent {cluster.npa.folder(cluster.name)} "
    return next((pid for pid in pids() if wanted in title(pid)), 0)


@contextmanager
def deaf(cluster: Cluster) -> Iterator[None]:
    """Halt the agent for a while, at a moment when it is not at work."""
    lock = cluster.npa.state / "local" / f".{cluster.name}.lock"
    pid = agent(cluster)
    while True:
        os.kill(pid, signal.SIGSTOP)
        until(lambda: stat(pid)[1] == "T", "the agent is halted")
        if not lock.exists():
            break
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.1)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def test_nodes_that_are_off_are_well(elastic: Cluster) -> None:
    report = elastic.status()

    assert report["ok"]
    assert report["schedulable"]["nodes"] == 9
    assert elastic.plan()["steps"] == []


def test_a_job_gets_its_nodes_at_once_and_they_go_when_idle(elastic: Cluster) -> None:
    nodes = ("burst-0", "burst-1", "burst-2")
    job = submit(elastic, *nodes)
    until(lambda: running(elastic) == set(nodes), "nodes come up, and nothing but them")
    until(lambda: _told(elastic, "start nodes burst-[0-2]"), "the agent started them in one step")
    runs(elastic, job)
    busy = elastic.status()
    elastic.cancel(job)
    off(elastic, *nodes)

    assert busy["ok"]
    assert elastic.status()["ok"]


def test_a_missed_ring_or_a_killed_agent_is_made_up_for(elastic: Cluster) -> None:
    with deaf(elastic):
        job = submit(elastic, "burst-3")
        asked(elastic, "burst-3")
        kill(agent(elastic))
    silent = running(elastic)
    ill = elastic.npa("status", elastic.name, "-o", "json")
    steps = elastic.deploy()["plan"]["steps"]
    runs(elastic, job)

    assert "burst-3" not in silent
    assert ill.code == 4
    assert "power agent on this machine: is down" in [
        f"{each['subject']}: {each['message']}" for each in ill.json["findings"]
    ]
    assert [step["subject"] for step in steps if step["verb"] == "start"] == ["power agent"]
    assert agent(elastic)


def test_slurmctld_may_end_while_nodes_come_up(elastic: Cluster) -> None:
    state = elastic.npa.folder(elastic.name) / "ctld/job_state"
    with deaf(elastic):
        before = time.time()
        job = submit(elastic, "burst-4")
        asked(elastic, "burst-4")
        # it writes what changed within five seconds, perhaps at once
        until(
            lambda: state.stat().st_mtime > before and time.time() - before > SAVED,
            "slurmctld has written it down",
        )
        kill(elastic.daemons()["controller-0", "slurmctld"])
        elastic.deploy()

    until(lambda: "burst-4" in running(elastic), "the node comes up")
    runs(elastic, job)


def test_a_node_that_cannot_start_goes_back_and_its_job_waits(elastic: Cluster) -> None:
    folder = elastic.npa.folder(elastic.name) / "nodes/burst-5"
    with _in_the_way(folder):
        job = submit(elastic, "burst-5", "burst-6")
        until(lambda: _told(elastic, "could not start burst-5"), "the agent gives up")
        until(lambda: not running(elastic) & {"burst-5", "burst-6"}, "the job's other node goes, too")
        until(lambda: elastic.job_state(job) == "PENDING", "the job waits")
    # Slurm holds what it puts back into the queue for two minutes
    elastic.on("controller-0", "scontrol", "update", f"jobid={job}", "starttime=now")

    runs(elastic, job)
    assert running(elastic) >= {"burst-5", "burst-6"}


def test_what_does_not_come_up_in_time_is_off_for_both(elastic: Cluster) -> None:
    job = submit(elastic, "burst-7")
    until(lambda: _slurmd_ends(elastic, "burst-7"), "slurmd is killed as soon as it is there")
    until(lambda: "burst-7" not in running(elastic), "Slurm gives up, and so do we", SLOW)
    waits = elastic.job_state(job)
    elastic.cancel(job)
    off(elastic, "burst-7")

    assert waits == "PENDING"
    assert elastic.status()["ok"]


def test_a_pool_becomes_static_and_elastic_again(elastic: Cluster) -> None:
    job = submit(elastic, "burst-0")
    until(lambda: "burst-0" in running(elastic), "the node comes up")
    refused = elastic.try_deploy(workers=pools(ephemeral=False))
    still = elastic.job_state(job)
    elastic.cancel(job)
    elastic.deploy(workers=pools(ephemeral=False))
    static, without = len(running(elastic)), agent(elastic)
    elastic.deploy(workers=pools())

    assert refused.code == 3, refused
    assert still in ("CONFIGURING", "RUNNING")
    assert (static, without) == (8, 0)
    assert agent(elastic)
    assert elastic.plan()["steps"] == []


@contextmanager
def _in_the_way(path: Path) -> Iterator[None]:
    """Put a file where a node's folder has to be."""
    aside = path.with_name("aside")
    if path.exists():
        path.rename(aside)
    path.write_text("in the way\n")
    try:
        yield
    finally:
        path.unlink()
        if aside.exists():
            aside.rename(path)


def _told(cluster: Cluster, words: str) -> bool:
    log = cluster.npa.folder(cluster.name) / "log/power-agent.log"
    return log.exists() and words in log.read_text()


def _slurmd_ends(cluster: Cluster, node: str) -> bool:
    pid = cluster.daemons().get((node, "slurmd"), 0)
    if pid:
        kill(pid)
    return bool(pid)
