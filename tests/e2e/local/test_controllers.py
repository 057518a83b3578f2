"""Two controllers: one takes over when the other ends, never while it lives, and jobs notice neither."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.e2e.local.harness import CPU_POOL, Cluster, Npa, kill, until

FIRST, SECOND = "controller-0", "controller-1"
TAKEN = "taking over"  # what slurmctld writes when it does
TIMEOUT = 10.0  # seconds: SlurmctldTimeout


def control(size: int) -> dict[str, Any]:
    return {"controller": {"size": size}}


@pytest.fixture(scope="module")
def deployed(npa: Npa) -> Iterator[Cluster]:
    cluster = Cluster(npa, "e2e-pair", workers=[CPU_POOL], control_plane=control(2))
    cluster.deploy()
    yield cluster
    assert cluster.destroy("--force").code == 0


@pytest.fixture
def pair(deployed: Cluster) -> Iterator[Cluster]:
    """Give a test two controllers, the first one in control, and no jobs."""
    yield deployed
    deployed.deploy(control_plane=control(2))
    deployed.on(FIRST, "scancel", "-u", "root")
    until(lambda: not deployed.on(FIRST, "squeue", "-h"), "the queue is empty")


def answers(cluster: Cluster, node: str) -> bool:
    """Say whether the slurmctld of this very node is in control."""
    return _ping(cluster, node).get(node) == "UP" and cluster.exec(node, "squeue", "-h").code == 0


def _ping(cluster: Cluster, node: str) -> dict[str, str]:
    """Return what a node sees of each controller."""
    told = cluster.exec(node, "scontrol", "ping").out.splitlines()
    rows = [line.split() for line in told if line.startswith("Slurmctld(")]
    return {row[2]: row[4] for row in rows}


def log(cluster: Cluster, node: str) -> str:
    return (cluster.npa.folder(cluster.name) / "log" / node / "slurmctld.log").read_text()


def job(cluster: Cluster, node: str) -> str:
    """Start a job, and wait until slurmctld has written it down."""
    number = cluster.submit("-w", node, "--mem=100M")
    state, now = cluster.npa.folder(cluster.name) / "ctld/job_state", time.time()
    until(lambda: state.exists() and state.stat().st_mtime > now, "the job is in slurmctld's state")
    return number


def goes_on(cluster: Cluster, number: str) -> None:
    shown = cluster.on(FIRST, "scontrol", "-o", "show", "job", number).split()
    assert {"JobState=RUNNING", "Restarts=0"} <= set(shown)


def test_the_second_stands_by(pair: Cluster) -> None:
    assert _ping(pair, "login-0") == {FIRST: "UP", SECOND: "UP"}
    assert TAKEN not in log(pair, SECOND)
    assert pair.status()["ok"]
    assert pair.plan()["steps"] == []


def test_the_second_takes_over_and_hands_back(pair: Cluster) -> None:
    before = job(pair, "cpu-0")
    kill(pair.daemons()[FIRST, "slurmctld"])
    until(lambda: answers(pair, SECOND), "the second takes over")
    meanwhile = pair.submit("-w", "cpu-1", "--mem=100M")
    ill = pair.npa("status", pair.name, "-o", "json")
    began = time.monotonic()
    pair.deploy()
    took = time.monotonic() - began

    assert ill.code == 4
    assert [each["subject"] for each in ill.json["findings"]] == [f"slurmctld on {FIRST}"]
    assert ill.json["jobs"] == {"running": 2}
    assert _ping(pair, "login-0") == {FIRST: "UP", SECOND: "UP"}
    assert answers(pair, FIRST)
    assert "Old state possible" not in log(pair, SECOND)
    goes_on(pair, before)
    goes_on(pair, meanwhile)  # started a moment before, and known to the first one all the same
    assert took < 20, took


def test_a_whole_controller_may_end(pair: Cluster) -> None:
    before = job(pair, "cpu-0")
    kill(pair.first_pids()[FIRST])
    until(lambda: answers(pair, SECOND), "the second takes over")
    pair.deploy()

    assert answers(pair, FIRST)
    goes_on(pair, before)


def test_nobody_misses_the_second(pair: Cluster) -> None:
    before = job(pair, "cpu-0")
    kill(pair.daemons()[SECOND, "slurmctld"])
    ill = pair.npa("status", pair.name, "-o", "json")
    pair.deploy()

    assert [each["subject"] for each in ill.json["findings"]] == [f"slurmctld on {SECOND}"]
    assert ill.json["jobs"] == {"running": 1}
    goes_on(pair, before)


def test_the_second_waits_while_the_first_one_lives_unheard(pair: Cluster) -> None:
    """Cut off, the first one still writes into the state folder, and so nobody else may."""
    before = job(pair, "cpu-0")
    heard = log(pair, SECOND).count(TAKEN)
    _ip(pair.first_pids()[FIRST], "link", "set", "eth0", "down")
    deadline = time.monotonic() + 1.5 * TIMEOUT
    seen = []
    while time.monotonic() < deadline:
        seen.append((_ping(pair, FIRST).get(FIRST), pair.exec("login-0", "squeue", "-h").code == 0))
        time.sleep(1)
    ill = pair.npa("status", pair.name, "-o", "json")
    pair.deploy()

    assert set(seen) == {("UP", False)}  # it is in control, and nobody is for the others
    assert log(pair, SECOND).count(TAKEN) == heard
    assert f"link on {FIRST}" in [each["subject"] for each in ill.json["findings"]]
    goes_on(pair, before)


def test_one_becomes_two_and_two_become_one_while_a_job_runs(pair: Cluster) -> None:
    before = job(pair, "cpu-0")
    fewer = pair.deploy(control_plane=control(1))
    alone = sorted(node for node in pair.first_pids() if node.startswith("controller-"))
    ping = _ping(pair, "login-0")
    more = pair.deploy(control_plane=control(2))

    assert not any(step["kills_jobs"] for plan in (fewer, more) for step in plan["plan"]["steps"])
    assert (alone, ping) == ([FIRST], {FIRST: "UP"})
    assert _ping(pair, "login-0") == _ping(pair, "cpu-0") == {FIRST: "UP", SECOND: "UP"}
    goes_on(pair, before)
    assert pair.plan()["steps"] == []


def _ip(pid: int, *words: str) -> None:
    subprocess.run(["nsenter", "-t", str(pid), "-n", "ip", *words], check=True)
