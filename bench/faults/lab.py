"""A cluster to make faults on, and what is asked of it before, while and after."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.e2e.local.harness import CPU_POOL, Cluster, Done, Npa, kill, until

SIZE = 3
HEALED = 60.0  # seconds


@contextmanager
def lab(npa: Npa, name: str = "e2e-faults") -> Iterator[Cluster]:
    """Deploy a cluster for a fault, and leave nothing of it."""
    cluster = Cluster(npa, name, accounting=True, workers=[{**CPU_POOL, "size": SIZE}])
    cluster.deploy()
    try:
        yield cluster
    finally:
        done = cluster.destroy("--force")
        assert done.code == 0, str(done)


def start_job(cluster: Cluster, node: str = "cpu-0") -> str:
    """Start a job that only its own node's end may end, and wait until slurmctld has written it down."""
    job = cluster.submit("-w", node, "--mem=100M", command="sleep 3600")
    saved = cluster.npa.folder(cluster.name) / "ctld/job_state"
    now = time.time()
    until(lambda: saved.exists() and saved.stat().st_mtime > now, "slurmctld writes the job down")
    return job


def goes_on(cluster: Cluster, job: str) -> None:
    """Assert that a job runs, and is the one that was started."""
    shown = cluster.on("controller-0", "scontrol", "-o", "show", "job", job).split()
    assert "JobState=RUNNING" in shown, shown
    assert "Restarts=0" in shown, shown


def starts_again(cluster: Cluster, job: str) -> None:
    """Assert that a job whose node has ended is back in the queue, or runs anew."""
    shown = cluster.on("controller-0", "scontrol", "-o", "show", "job", job).split()
    assert {"JobState=PENDING", "JobState=CONFIGURING", "JobState=RUNNING"} & set(shown), shown


def status(cluster: Cluster) -> tuple[Done, str]:
    """Return the command and what it finds, one finding a line."""
    done = cluster.npa("status", cluster.name, "-o", "json")
    assert "Traceback" not in done.err, done.err
    return done, "\n".join(f"{each['subject']}: {each['message']}" for each in done.json["findings"])


def ill(cluster: Cluster, finding: str) -> None:
    """Assert that `status` exits 4 and finds this."""
    done, found = status(cluster)
    assert done.code == 4, str(done)
    assert finding in found, found


def deploy(cluster: Cluster) -> float:
    """Deploy until the cluster is healthy, and return the seconds it took."""
    began = time.monotonic()
    cluster.deploy()
    return time.monotonic() - began


def until_healthy(cluster: Cluster, began: float) -> float:
    """Wait until `status` finds nothing wrong; returns the seconds since the fault."""
    until(lambda: cluster.npa("status", cluster.name).code == 0, "the cluster is healthy", HEALED)
    return time.monotonic() - began


@contextmanager
def watched(cluster: Cluster) -> Iterator[None]:
    """Watch a cluster for a while."""
    watcher = cluster.npa.start("watch", cluster.name)
    try:
        yield
    finally:
        watcher.terminate()
        _, err = watcher.communicate(timeout=60)
    assert watcher.returncode == 0, err
    assert "Traceback" not in err, err


def kill_daemon(cluster: Cluster, node: str, daemon: str) -> None:
    """Kill a daemon and wait until it has gone."""
    kill(cluster.daemons()[node, daemon])
