"""A watched cluster is brought back, and the watcher ends when told to or when nothing is left."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.local.harness import CPU_POOL, NPA, PATIENCE, Cluster, Npa, kill, until


@pytest.fixture(scope="module")
def deployed(npa: Npa) -> Iterator[Cluster]:
    cluster = Cluster(npa, "e2e-watched", accounting=True, workers=[CPU_POOL])
    cluster.deploy()
    yield cluster
    if npa.folder(cluster.name).exists():
        assert cluster.destroy("--force").code == 0


class Watch:
    """`npa soperator watch` with what it says in a file."""

    def __init__(self, cluster: Cluster, log: Path) -> None:
        self._log = log
        with log.open("w") as file:
            self.process = subprocess.Popen(
                (NPA, "soperator", "watch", cluster.name),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env=dict(cluster.npa.env),
            )
        until(lambda: "watching" in self.said(), "the watcher is there")

    def said(self) -> str:
        return self._log.read_text()

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


@pytest.fixture
def watch(deployed: Cluster, tmp_path: Path) -> Iterator[Watch]:
    watch = Watch(deployed, tmp_path / "log")
    yield watch
    if watch.process.poll() is None:
        assert watch.end() == 0, watch.said()
    assert "Traceback" not in watch.said()


def well(cluster: Cluster) -> None:
    until(lambda: cluster.npa("status", cluster.name).code == 0, "the cluster is well")


def test_whatever_ends_comes_back_and_jobs_go_on(deployed: Cluster, watch: Watch) -> None:
    job = deployed.submit("-w", "cpu-0")
    before = deployed.first_pids()
    for node, daemon in (("cpu-1", "slurmd"), ("login-0", "sshd"), ("accounting-0", "mariadbd")):
        kill(deployed.daemons()[node, daemon])
        until(lambda wanted=(node, daemon): wanted in deployed.daemons(), f"{daemon} is back")  # type: ignore[misc]
    kill(before["login-0"])
    until(lambda: "login-0" in deployed.first_pids(), "the node is back")
    well(deployed)

    assert "restart slurmd on cpu-1" in watch.said()
    assert "start login-0" in watch.said()
    assert deployed.job_state(job) == "RUNNING"
    deployed.cancel(job)


def test_the_whole_lab_comes_back(deployed: Cluster, watch: Watch) -> None:
    kill(deployed.lab_pid())
    until(lambda: deployed.lab_pid(), "the lab is back")
    well(deployed)

    assert "start lab" in watch.said()


def test_a_settled_cluster_is_left_alone(deployed: Cluster, watch: Watch) -> None:
    before = deployed.daemons()
    time.sleep(3)

    assert deployed.daemons() == before
    assert watch.said().count("\n") == 1


def test_a_file_that_somebody_broke_is_put_right(deployed: Cluster, watch: Watch) -> None:
    conf = deployed.npa.folder(deployed.name) / "etc/daemons/slurm.conf"
    good = conf.read_text()
    conf.write_text("NoSuchKey=1\n")
    until(lambda: conf.read_text() == good, "the file is as it was")
    well(deployed)

    assert "write slurm.conf" in watch.said()


def test_what_keeps_failing_is_tried_less_and_less_often(deployed: Cluster, watch: Watch) -> None:
    # without it sshd ends at each start
    key = deployed.npa.folder(deployed.name) / "etc/ssh/ssh_host_ed25519_key"
    good = key.read_text()
    key.write_text("no key\n")
    kill(deployed.daemons()["login-0", "sshd"])
    time.sleep(12)
    tries = watch.said().count("restart sshd on login-0")
    key.write_text(good)
    until(lambda: ("login-0", "sshd") in deployed.daemons(), "sshd is back")
    well(deployed)

    # after 0, 1, 3, 7 and 15 s
    assert 3 <= tries <= 5, watch.said()


def test_somebody_elses_drain_and_running_jobs_are_left_alone(deployed: Cluster, watch: Watch) -> None:
    job = deployed.submit("-w", "cpu-0")
    deployed.on("controller-0", "scontrol", "update", "nodename=cpu-1", "state=drain", "reason=bad fan")
    kill(deployed.daemons()["login-0", "sackd"])
    until(lambda: "restart sackd" in watch.said(), "the watcher was at work")
    state = deployed.states()["cpu-1"]
    deployed.on("controller-0", "scontrol", "update", "nodename=cpu-1", "state=resume")

    assert "drain" in state
    assert deployed.job_state(job) == "RUNNING"
    deployed.cancel(job)


def test_a_deploy_beside_it_goes_through(deployed: Cluster, watch: Watch) -> None:
    deployed.deploy(workers=[{**CPU_POOL, "size": 3}])
    well(deployed)
    deployed.deploy(workers=[CPU_POOL])

    assert watch.process.poll() is None


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_ends_when_told_to(deployed: Cluster, watch: Watch, number: signal.Signals, code: int) -> None:
    before = deployed.daemons()
    watch.process.send_signal(number)

    assert watch.process.wait(PATIENCE) == code, watch.said()
    assert deployed.daemons() == before


def test_it_ends_when_the_cluster_is_destroyed(deployed: Cluster, watch: Watch) -> None:
    done = deployed.destroy("--force")

    assert done.code == 0, done
    assert watch.process.wait(PATIENCE) == 0, watch.said()
    assert not deployed.npa.folder(deployed.name).exists()
