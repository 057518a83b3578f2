"""What this machine lacks is said in one message that says what to do."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.conftest import STATE
from tests.e2e.local.harness import CACHE, CPU_POOL, NPA, Cluster, Npa, traces


@pytest.fixture
def bare() -> Iterator[Npa]:
    """Give a state folder with an empty image cache, and a PATH with nothing but what is put there."""
    folder = Path(tempfile.mkdtemp(prefix="npa-e2e-", dir=STATE))
    (folder / "bin").mkdir()
    yield Npa(folder, NPA_CACHE_DIR=str(folder / "cache"), PATH=str(folder / "bin"))
    shutil.rmtree(folder)


@pytest.mark.parametrize("verb", ["plan", "deploy", "status", "list", "destroy", "exec", "ssh", "logs"])
def test_whoever_is_not_root_is_told_so(npa: Npa, verb: str) -> None:
    spec = Cluster(npa, "e2e-nobody", workers=[CPU_POOL]).write().read_text()
    args = {
        "plan": ["-f", "-", "-o", "json"],
        "deploy": ["-f", "-", "--yes"],
        "destroy": ["e2e-nobody", "--yes"],
        "status": ["e2e-nobody"],
        "exec": ["--cluster", "e2e-nobody", "login-0", "--", "true"],
        "ssh": ["--cluster", "e2e-nobody"],
        "logs": ["--cluster", "e2e-nobody", "login-0"],
    }.get(verb, [])
    readable = subprocess.run(
        ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", NPA, "--version"],
        capture_output=True, check=False, cwd="/",
    )  # fmt: skip
    if readable.returncode != 0:
        pytest.skip("nobody may not read where npa is installed")
    done = subprocess.run(
        ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", NPA, "soperator", verb, *args],
        input=spec, capture_output=True, text=True, env=dict(npa.env), timeout=60, check=False, cwd="/",
    )  # fmt: skip

    assert done.returncode == 3, done.stderr
    assert done.stderr == "error: the local target needs root\nhint: run the same command with sudo\n"
    assert "Traceback" not in done.stderr


def test_missing_programs_are_named_all_at_once(bare: Npa) -> None:
    done = bare("plan", "-f", str(Cluster(bare, "e2e-bare", workers=[CPU_POOL]).write()), "-o", "json")

    assert done.code == 3, done
    lacks = {each["message"]: each["hint"] for each in done.json["error"]["lacks"]}
    assert lacks["mmdebstrap is not installed"] == "apt-get install -y mmdebstrap"
    assert lacks["nsenter is not installed"] == "apt-get install -y util-linux"
    assert "gcc is not installed" in lacks
    assert not (bare.state / "local").exists()


def test_an_image_that_is_cached_needs_no_builder(npa: Npa, bare: Npa) -> None:
    for program in ("nsenter", "unshare", "true"):
        (bare.state / "bin" / program).symlink_to(shutil.which(program) or "")
    cached = Npa(bare.state, PATH=str(bare.state / "bin"), NPA_CACHE_DIR=str(CACHE))
    spec = Cluster(cached, "e2e-bare", workers=[CPU_POOL]).write()

    assert npa("plan", "-f", str(spec)).code == 0
    assert cached("plan", "-f", str(spec)).code == 0


def test_a_failed_build_leaves_no_image_and_says_what_to_do(bare: Npa) -> None:
    for program in ("nsenter", "unshare", "true", "gcc", "dpkg-deb", "chroot", "sh"):
        (bare.state / "bin" / program).symlink_to(shutil.which(program) or "")
    fake = bare.state / "bin/mmdebstrap"
    fake.write_text("#!/bin/sh\necho 'E: Unable to fetch some archives' >&2\nexit 25\n")
    fake.chmod(0o755)
    done = Cluster(bare, "e2e-bare", workers=[CPU_POOL]).try_deploy()

    assert done.code == 1, done
    assert "mirror" in done.json["error"]["hint"]
    assert not [path for path in (bare.state / "cache/rootfs").glob("*") if not path.name.startswith(".")]
    assert not (bare.state / "local/e2e-bare").exists()


def test_an_image_that_was_tampered_with_is_not_started(npa: Npa, bare: Npa, cluster: Cluster) -> None:
    image = json.loads((npa.folder(cluster.name) / "record.json").read_text())["image"]
    copies = bare.state / "cache/rootfs"
    copies.mkdir(parents=True)
    shutil.copy(CACHE / "rootfs" / f"{image}.json", copies)
    # a copy is another image as far as its change times tell
    subprocess.run(["cp", "-a", "--reflink=auto", CACHE / "rootfs" / image, copies], check=True)
    other = Cluster(
        Npa(npa.state, NPA_CACHE_DIR=str(bare.state / "cache")), "e2e-tampered", workers=[CPU_POOL]
    )
    done = other.try_deploy()

    assert done.code == 3, done
    assert "is not what was built" in done.json["error"]["message"]
    assert "rm -r" in done.json["error"]["hint"]
    assert traces(f"{npa.state}/local/e2e-tampered") == []
    assert not (npa.state / "local/e2e-tampered").exists()
