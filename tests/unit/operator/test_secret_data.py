from __future__ import annotations

import base64
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from npa.operator import secret_data
from npa.reconcile.decision import NewSecret
from npa.render.objects import SECRET

WANTED = SECRET.object("s", "ns")


def decoded(new: NewSecret) -> dict[str, bytes]:
    return {key: base64.b64decode(text) for key, text in secret_data.fill(new)["data"].items()}


def test_random_bytes_and_passwords_are_as_long_as_asked_and_never_the_same() -> None:
    new = NewSecret(WANTED, random=(("slurm.key", 1024),), passwords=(("password", 32),))
    one, other = decoded(new), decoded(new)

    assert (len(one["slurm.key"]), len(one["password"])) == (1024, 32)
    assert one["password"].isalnum()
    assert one["slurm.key"] != other["slurm.key"]
    assert one["password"] != other["password"]


@pytest.mark.parametrize("kind", ["ecdsa", "ed25519"])
def test_host_keys_are_pairs(kind: str) -> None:
    data = decoded(NewSecret(WANTED, ssh_host_keys=True))
    private = serialization.load_ssh_private_key(data[f"ssh_host_{kind}_key"], password=None)
    public = private.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )

    assert data[f"ssh_host_{kind}_key.pub"] == public + b"\n"


def test_ssh_itself_reads_them(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(decoded(NewSecret(WANTED, ssh_host_keys=True))["ssh_host_ecdsa_key"])
    key.chmod(0o600)
    try:
        done = subprocess.run(
            ["ssh-keygen", "-y", "-f", str(key)], capture_output=True, text=True, check=False, timeout=30
        )
    except FileNotFoundError:
        pytest.skip("no ssh-keygen here: apt-get install openssh-client")

    assert done.stdout.startswith("ecdsa-sha2-nistp256 "), done.stderr
