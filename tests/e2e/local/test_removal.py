"""Destroy leaves nothing behind, and touches nothing that is not its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.conftest import STATE
from tests.e2e.local.harness import (
    CACHE,
    CPU_POOL,
    Cluster,
    Npa,
    children,
    kill,
    network,
    stat,
    title,
    traces,
    until,
)

GROUPS = Path("/sys/fs/cgroup")


@pytest.fixture
def elsewhere() -> Iterator[Npa]:
    """Give a second state folder."""
    state = Path(tempfile.mkdtemp(prefix="npa-e2e-", dir=STATE))
    other = Npa(state)
    yield other
    for left in sorted((state / "local").glob("*/")):
        other("destroy", left.name, "--yes", "--force")
    shutil.rmtree(state)


def _below(pid: int) -> dict[int, str]:
    """Return a process and all that descend from it."""
    found = {pid: title(pid)}
    for child in children(pid):
        found |= _below(child)
    return found


def _groups(cluster: Cluster) -> list[Path]:
    record = json.loads((cluster.npa.folder(cluster.name) / "record.json").read_text())
    return [Path(path) for path in record["cgroups"].values()]


def _left(name: str) -> list[str]:
    return [folder for folder, _, _ in os.walk(GROUPS) if f"npa-{name}-" in folder]


@pytest.fixture
def apart() -> Iterator[int]:
    """Give a process in a network of its own, where nobody else makes links while a test looks."""
    process = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    here, there = (Path(f"/proc/{pid}/ns/net").stat for pid in ("self", process.pid))
    until(lambda: there().st_ino != here().st_ino, "it is apart")
    yield process.pid
    process.kill()
    process.wait()


def test_destroy_leaves_nothing_behind(npa: Npa, apart: int) -> None:
    before = network(apart)
    cache = {path for path in (CACHE / "rootfs").iterdir() if path.is_dir()}
    inside = Npa(npa.state, through=("nsenter", f"--net=/proc/{apart}/ns/net"))
    cluster = Cluster(inside, "e2e-gone", accounting=True, workers=[CPU_POOL], users=[{"name": "gina"}])
    cluster.deploy()
    cluster.srun("-N2", "true")
    processes = _below(cluster.lab_pid())
    groups = _groups(cluster)
    during = network(apart)
    done = cluster.destroy()
    words = f"{npa.state}/local/e2e-gone"

    assert done.code == 0, done
    assert len(processes) > 8
    assert [pid for pid, shown in processes.items() if title(pid) == shown and stat(pid)[1] != "Z"] == []
    assert traces(words) == []
    assert [path for path in groups if path.exists()] == []
    assert _left("e2e-gone") == []
    assert [path for path in (npa.state / "local").iterdir() if "e2e-gone" in path.name] == []
    assert before == during == network(apart)
    assert all(path.is_dir() for path in cache)


def test_a_second_destroy_says_that_there_is_nothing(npa: Npa) -> None:
    done = npa("destroy", "e2e-gone", "--yes", "-o", "json")

    assert done.code == 1
    assert done.json["error"]["code"] == "not-found"


def test_running_jobs_are_named_and_not_ended_unasked(npa: Npa) -> None:
    cluster = Cluster(npa, "e2e-busy", workers=[{**CPU_POOL, "size": 1}])
    cluster.deploy()
    job = cluster.submit("--job-name=precious")
    before = cluster.first_pids()
    refused = cluster.destroy()
    state = cluster.job_state(job)
    nobody_to_ask = npa("destroy", cluster.name)
    dry = npa("destroy", cluster.name, "--dry-run", "-o", "json")

    assert (refused.code, refused.json["error"]["code"]) == (3, "destructive")
    assert f"{job} (root, precious)" in refused.json["error"]["message"]
    assert "--force" in refused.json["error"]["hint"]
    assert state == "RUNNING"
    assert nobody_to_ask.code == 3, nobody_to_ask
    assert dry.code == 0, dry
    assert cluster.first_pids() == before
    assert cluster.destroy("--force").code == 0
    assert traces(f"{npa.state}/local/e2e-busy") == _left("e2e-busy") == []


def test_a_stopped_cluster_can_be_destroyed(npa: Npa) -> None:
    cluster = Cluster(npa, "e2e-stopped", workers=[{**CPU_POOL, "size": 1}])
    cluster.deploy()
    kill(cluster.lab_pid())

    assert cluster.destroy().code == 0
    assert traces(f"{npa.state}/local/e2e-stopped") == _left("e2e-stopped") == []


def test_a_cluster_whose_record_is_lost_can_be_destroyed(npa: Npa) -> None:
    cluster = Cluster(npa, "e2e-lost", workers=[{**CPU_POOL, "size": 1}])
    cluster.deploy()
    (npa.folder(cluster.name) / "record.json").unlink()
    over = cluster.try_deploy()
    done = cluster.destroy("--force")

    assert over.code == 3, over
    assert done.code == 0, done
    assert traces(f"{npa.state}/local/e2e-lost") == []
    assert _left("e2e-lost") == []


def test_two_clusters_live_side_by_side(npa: Npa, cluster: Cluster) -> None:
    second = Cluster(npa, "e2e-second", workers=[{**CPU_POOL, "size": 1}])
    second.deploy()
    before = cluster.first_pids()

    assert second.srun("hostname").out.split() == ["cpu-0"]
    assert sorted(cluster.srun("-N4", "hostname").out.split()) == ["cpu-0", "cpu-1", "gpu-0", "gpu-1"]
    assert npa("status").code == 2  # which one?
    assert second.destroy().code == 0
    assert cluster.first_pids() == before
    cluster.assert_healthy()


def test_a_cluster_of_the_same_name_elsewhere_is_another_one(npa: Npa, elsewhere: Npa) -> None:
    here = Cluster(npa, "e2e-twins", workers=[{**CPU_POOL, "size": 1}])
    there = Cluster(elsewhere, "e2e-twins", workers=[{**CPU_POOL, "size": 1}])
    here.deploy()
    there.deploy()
    here.login("echo here > /srv/where")
    job = there.submit()
    before = there.first_pids()

    assert there.exec("login-0", "test", "-e", "/srv/where").code != 0
    assert here.destroy().code == 0
    assert there.first_pids() == before
    assert there.job_state(job) == "RUNNING"
    assert there.exec("login-0", "srun", "--overlap", "--jobid", job, "hostname").out.strip() == "cpu-0"
    assert there.destroy("--force").code == 0
    until(lambda: not _left("e2e-twins"), "the groups are gone")


@pytest.mark.parametrize("name", ["../shared", "..", "Not_a_name", "a" * 100])
def test_a_name_that_is_none_is_not_looked_for_on_disk(npa: Npa, name: str) -> None:
    done = npa("destroy", name, "--yes", "-o", "json")

    assert done.code == 1
    assert done.json["error"]["code"] == "not-found"
    assert (npa.state / "home").exists()
