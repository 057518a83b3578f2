"""Fixtures of the tests on real daemons; says loudly why where this machine can hold none."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.local.harness import CPU_POOL, GPU_POOL, Cluster, Npa, until

# not /tmp, which may be a tmpfs or an overlay: the jail is an overlay, and none fits on top of another
STATE = Path("/var/lib")


def _lack() -> str:
    if platform.system() != "Linux":
        return f"needs Linux, this is {platform.system()}"
    if os.geteuid() != 0:
        return "needs root: run the tests with sudo"
    if shutil.which("mmdebstrap") is None:
        return "needs mmdebstrap: apt-get install -y mmdebstrap"
    return ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    lack = _lack()
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            if lack:
                item.add_marker(pytest.mark.skip(reason=f"a cluster on this machine {lack}"))


@pytest.fixture(scope="session")
def npa() -> Iterator[Npa]:
    """Give clusters a place of their own; whatever a failed test leaves there is removed."""
    state = Path(tempfile.mkdtemp(prefix="npa-e2e-", dir=STATE))
    npa = Npa(state)
    Path(npa.env["HOME"]).mkdir()
    yield npa
    for left in sorted((state / "local").glob("*/")):
        done = npa("destroy", left.name, "--yes", "--force")
        assert done.code == 0, str(done)
    shutil.rmtree(state)


@pytest.fixture(scope="session")
def keys(npa: Npa) -> dict[str, str]:
    """Make key pairs for root, alice and a stranger in the state folder; returns the public halves."""
    for name in ("root", "alice", "stranger"):
        argv = [
            "ssh-keygen",
            "-q",
            "-t",
            "ed25519",
            "-N",
            "",
            "-C",
            name,
            "-f",
            str(npa.state / f"{name}.key"),
        ]
        subprocess.run(argv, check=True)
    return {path.name.partition(".")[0]: path.read_text().strip() for path in npa.state.glob("*.key.pub")}


@pytest.fixture(scope="session")
def cluster(npa: Npa, keys: dict[str, str]) -> Cluster:
    """Deploy the cluster that most tests share; none of them may leave it other than it was."""
    shared = Cluster(
        npa,
        "e2e-shared",
        accounting=True,
        slurm_rest_enabled=True,
        root_login_ssh_public_key=keys["root"],
        workers=[{**GPU_POOL, "features": ["nvlink"]}, {**CPU_POOL, "features": ["amd", "local-ssd"]}],
        partitions=[
            {"name": "main", "is_all": True, "default": True},
            {"name": "train", "pools": ["gpu"], "max_time": "02:00:00", "priority_tier": 20},
        ],
        users=[{"name": "alice", "uid": 2001, "ssh_public_keys": [keys["alice"]]}, {"name": "bob"}],
    )
    shared.deploy()
    return shared


@pytest.fixture
def idle(cluster: Cluster) -> Iterator[Cluster]:
    """Give the shared cluster to a test that fills it, and take all jobs off it afterwards."""
    yield cluster
    cluster.on("login-0", "scancel", "--state=pending")
    cluster.on("login-0", "scancel", "--state=running")
    until(lambda: not cluster.on("login-0", "squeue", "-h"), "the queue is empty")
