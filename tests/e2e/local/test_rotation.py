"""C61: a new key reaches every daemon and client, or the old one comes back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.local.harness import CPU_POOL, Cluster, Npa

from npa.errors import NpaError
from npa.plan.model import Options
from npa.targets.local.paths import Paths
from npa.targets.local.rotate import Key
from npa.targets.local.target import LocalTarget

ASK = "curl -s -H 'X-SLURM-USER-TOKEN: {}' http://rest-0:6820/slurm/v0.0.42/nodes/"


@pytest.fixture(scope="module")
def rotated(npa: Npa) -> Iterator[Cluster]:
    """Deploy a small cluster whose keys are replaced."""
    own = Cluster(
        npa, "e2e-rotate", accounting=True, slurm_rest_enabled=True, workers=[{**CPU_POOL, "size": 1}]
    )
    own.deploy()
    yield own
    own.destroy("--force")


def _key(cluster: Cluster, name: str) -> bytes:
    return (_etc(cluster) / name).read_bytes()


def _etc(cluster: Cluster) -> Path:
    found = next(cluster.npa.folder(cluster.name).rglob("slurm.key"))
    return found.parent


def _token(cluster: Cluster) -> str:
    return cluster.on("controller-0", "scontrol", "token", "lifespan=600").partition("=")[2]


def _takes(cluster: Cluster, token: str) -> bool:
    answer = json.loads(cluster.login(ASK.format(token)))
    return [node["name"] for node in answer.get("nodes", [])] == ["cpu-0"]


def test_a_new_jwt_key_ends_every_token_and_no_job(rotated: Cluster) -> None:
    job, old, before = rotated.submit(), _token(rotated), _key(rotated, "jwt_hs256.key")
    assert _takes(rotated, old)
    done = rotated.npa.ok("rotate", rotated.name, "--key", "jwt", "--yes", "-o", "json").json

    assert done["ok"]
    assert [step["key"] for step in done["plan"]["steps"]] == ["stop:readers", "write:key", "start:again"]
    assert _key(rotated, "jwt_hs256.key") != before
    assert not _takes(rotated, old)
    assert _takes(rotated, _token(rotated))
    assert rotated.job_state(job) == "RUNNING"
    rotated.cancel(job)


def test_a_new_auth_key_is_refused_while_a_job_runs_whose_steps_know_the_old_one(rotated: Cluster) -> None:
    job, before, pids = rotated.submit(), _key(rotated, "slurm.key"), rotated.daemons()
    done = rotated.npa("rotate", rotated.name, "--key", "auth", "--yes")

    assert done.code == 3, str(done)
    assert f"would end 1 running job: {job} (root, wrap)" in done.err
    assert _key(rotated, "slurm.key") == before
    assert rotated.daemons() == pids
    rotated.cancel(job)


def test_a_new_auth_key_reaches_every_daemon_and_client(rotated: Cluster) -> None:
    before = _key(rotated, "slurm.key")
    shown = rotated.npa.ok("rotate", rotated.name, "--key", "auth", "--dry-run", "-o", "json").json
    assert _key(rotated, "slurm.key") == before
    done = rotated.npa.ok("rotate", rotated.name, "--key", "auth", "--yes", "-o", "json").json

    assert done["plan"] == shown
    assert _key(rotated, "slurm.key") != before
    assert rotated.srun("hostname").out.strip() == "cpu-0"
    assert rotated.plan()["steps"] == []
    rotated.assert_healthy()


def test_a_key_that_no_daemon_takes_is_taken_back(rotated: Cluster) -> None:
    place = LocalTarget(Paths(rotated.npa.state / "local", Paths.here().cache, Paths.here().sources))
    empty, before = Key("slurm.key", 0, "empty", frozenset()), _key(rotated, "slurm.key")
    agreed = place.plan_rotation(rotated.name, empty, Options())
    with pytest.raises(NpaError, match=r"slurmctld|slurmdbd"):
        place.rotate(rotated.name, empty, agreed, Options(), lambda _: None)

    assert _key(rotated, "slurm.key") == before
    assert rotated.srun("hostname").out.strip() == "cpu-0"
    rotated.assert_healthy()
