"""A state that is kept elsewhere: Terraform's own S3 backend and its lock, with an S3 server on loopback."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import cloud as clouds
from tests.fakes import provider as fake
from tests.fakes.cloud import Cloud, CloudTerraform
from tests.fakes.standin import needs_terraform

from npa.errors import OwnershipError, RefusedError, ToolError
from npa.targets.nebius import records
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.target import NebiusTarget

pytestmark = [
    needs_terraform,
    pytest.mark.skipif(find_spec("moto") is None, reason="NO S3 SERVER: pip install 'npa[dev]'; not tested"),
]

BACKEND = """\
terraform {{
  backend "s3" {{
    bucket                      = "tfstate"
    key                         = "slurm-k8s.tfstate"
    region                      = "eu-north1"
    endpoints                   = {{ s3 = "{url}" }}
    use_lockfile                = true
    use_path_style              = true
    max_retries                 = 1
    skip_region_validation      = true
    skip_credentials_validation = true
    skip_requesting_account_id  = true
    skip_metadata_api_check     = true
    skip_s3_checksum            = true
  }}
}}
"""
# The server asks for somebody, and takes anybody.
SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request"}
SIGNED |= {"Content-Type": "application/octet-stream"}
STATE, LOCK = "slurm-k8s.tfstate", "slurm-k8s.tfstate.tflock"
# Slurm's apply takes the lock away, or the whole store, as it goes.
MEANWHILE = """\
resource "terraform_data" "meanwhile" {{
  depends_on = [terraform_data.flux_values]
  provisioner "local-exec" {{ command = "{command}" }}
}}
"""


@dataclass
class Store:
    """An S3 server with one bucket."""

    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        argv = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        self.process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with suppress(OSError):
                self.ask("PUT", "/tfstate")
                return
            time.sleep(0.1)
        raise AssertionError("the S3 server does not start")

    def stop(self) -> None:
        assert self.process
        self.process.kill()
        self.process.wait()

    def ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        request = urllib.request.Request(self.url + path, data=body, method=method, headers=SIGNED)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return bytes(answer.read())

    def has(self, key: str) -> bool:
        try:
            self.ask("GET", f"/tfstate/{key}")
        except urllib.error.HTTPError:
            return False
        return True


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = Store(port)
    try:
        found.start()
        yield found
    finally:
        found.stop()


@contextmanager
def serve(root: Path, store: Store, meanwhile: str = "true") -> Iterator[Cloud]:
    for key in (STATE, LOCK):
        store.ask("DELETE", f"/tfstate/{key}")
    more = {"soperator/modules/slurm/meanwhile.tf": MEANWHILE.format(command=meanwhile)}
    with clouds.serve(root, more=more) as cloud:
        cloud.environ |= {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
        yield cloud


def backend(folder: Path, url: str) -> Path:
    path = folder / "backend.tf"
    path.write_text(BACKEND.format(url=url))
    return path


def deploy(cloud: Cloud, **more: Any) -> str:
    """Deploy with little patience for locks."""

    def impatient(folder: Path, env: Any, deadlines: Any, program: str) -> CloudTerraform:
        return CloudTerraform(cloud, folder, env, replace(deadlines, lock=1.0), program)

    outside = replace(cloud.outside, terraform=impatient)
    found = NebiusTarget(outside).deploy(
        clouds.spec(), NebiusOptions(**{"fixes": False, **more}), lambda *_: None, lambda _: None
    )
    return str(found["status"])


def test_a_state_in_s3_is_locked_written_and_found_again(tmp_path: Path, store: Store) -> None:
    with serve(tmp_path, store) as cloud:
        held: list[bool] = []
        script = cloud.after
        cloud.after = lambda command: held.append(store.has(LOCK)) or script(command)  # type: ignore[func-returns-value]
        assert deploy(cloud, backend=backend(tmp_path, store.url)) == "ready"
        assert store.has(STATE)
        assert not any(held)  # every command has given the lock back
        assert not (cloud.installation / "terraform.tfstate").exists()

        cloud.commands.clear()
        assert deploy(cloud) == "ready"
        assert "apply" not in cloud.commands
        seen = NebiusTarget(cloud.outside).status("quick", NebiusOptions()).document()
        assert seen["capacity_status"] == "applied"
        ended = NebiusTarget(cloud.outside).destroy("quick", NebiusOptions(), lambda _: None)
        assert ended["status"] == "destroyed"
        assert cloud.ids("clusters") == []


def test_a_machine_that_is_lost_is_not_the_cluster(tmp_path: Path, store: Store) -> None:
    with serve(tmp_path, store) as cloud:
        file = backend(tmp_path, store.url)
        assert deploy(cloud, backend=file) == "ready"
        made = cloud.ids("clusters")
        shutil.rmtree(cloud.home / ".npa/soperator")
        cloud.commands.clear()

        assert deploy(cloud, backend=file) == "ready"
        assert "apply" not in cloud.commands
        record = records.load_sidecar(cloud.installation)
        assert record is not None
        assert ([record.cluster_id], cloud.ids("clusters")) == (made, made)
        assert sorted(record.filesystem_ids) == sorted(cloud.ids("filesystems"))

        shutil.rmtree(cloud.home / ".npa/soperator")
        cloud.provider.held["clusters"] = [fake.cluster(made[0], project="project-2")]
        with pytest.raises(OwnershipError, match="another project"):
            deploy(cloud, backend=file)


def test_a_wrong_endpoint_changes_nothing(tmp_path: Path, store: Store) -> None:
    with serve(tmp_path, store) as cloud:
        nowhere = backend(tmp_path, "http://127.0.0.1:1")
        with pytest.raises(ToolError) as failed:
            deploy(cloud, backend=nowhere)
        assert failed.value.hint == "nothing was changed"
        assert cloud.ids("clusters") == []
        assert not store.has(STATE)


def test_a_state_does_not_move_by_a_flag(tmp_path: Path, store: Store) -> None:
    with serve(tmp_path, store) as cloud:
        assert deploy(cloud) == "ready"
        with pytest.raises(RefusedError, match="says another place") as refused:
            deploy(cloud, backend=backend(tmp_path, store.url))
        assert "init -migrate-state" in refused.value.hint
        assert deploy(cloud) == "ready"


def test_a_lock_of_somebody_else_s_is_named_and_kept(tmp_path: Path, store: Store) -> None:
    with serve(tmp_path, store) as cloud:
        assert deploy(cloud, backend=backend(tmp_path, store.url)) == "ready"
        lock = {"ID": "1234-abcd", "Operation": "OperationTypeApply", "Who": "alice@other"}
        lock |= {
            "Info": "",
            "Version": "1.12.0",
            "Created": "2026-01-01T00:00:00Z",
            "Path": f"tfstate/{STATE}",
        }
        store.ask("PUT", f"/tfstate/{LOCK}", json.dumps(lock).encode())
        cloud.commands.clear()
        with pytest.raises(ToolError) as failed:
            deploy(cloud)
        assert "force-unlock 1234-abcd" in failed.value.hint
        assert "apply" not in cloud.commands
        assert store.has(LOCK)


def test_a_lock_that_is_lost_during_an_apply_loses_nothing(tmp_path: Path, store: Store) -> None:
    script = tmp_path / "lose"
    script.write_text(
        f"#!{sys.executable}\nimport urllib.request as u\n"
        f"u.urlopen(u.Request('{store.url}/tfstate/{LOCK}', method='DELETE', headers={SIGNED}))\n"
    )
    script.chmod(0o755)
    with serve(tmp_path, store, str(script)) as cloud:
        with pytest.raises(ToolError) as failed:
            deploy(cloud, backend=backend(tmp_path, store.url))
        assert "it plans from what is there" in failed.value.hint
        made = cloud.ids("clusters")

        cloud.commands.clear()
        assert deploy(cloud) == "ready"
        assert "apply" not in cloud.commands
        assert cloud.ids("clusters") == made


def test_a_store_that_is_lost_during_an_apply_leaves_a_state_that_is_not_forgotten(
    tmp_path: Path, store: Store
) -> None:
    assert store.process
    with serve(tmp_path, store, f"kill -9 {store.process.pid}") as cloud:
        with pytest.raises(ToolError):
            deploy(cloud, backend=backend(tmp_path, store.url), fixes=True)
        assert (cloud.installation / "errored.tfstate").exists()
        store.process.wait()
        store.start()  # empty: what it held is lost
        with pytest.raises(RefusedError, match="could not save its state"):
            NebiusTarget(cloud.outside).destroy("quick", NebiusOptions(), lambda _: None)
        with pytest.raises(RefusedError, match="could not save its state") as refused:
            deploy(cloud)
        push = refused.value.hint.partition("then: ")[2]
        subprocess.run(
            push, shell=True, check=True, capture_output=True, env={**cloud.outside.environ, "TF_INPUT": "0"}
        )
        assert deploy(cloud) == "ready"
        assert len(cloud.ids("clusters")) == 1
