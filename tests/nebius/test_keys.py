from __future__ import annotations

import base64
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from npa.errors import RefusedError
from npa.spec.load import parse
from npa.spec.model import SoperatorSpec
from npa.targets import login_keys
from npa.targets.nebius import keys

INLINE = "NPA_SOPERATOR_ROOT_LOGIN_SSH_PUBLIC_KEY"
ORDER = (
    "--root-login-ssh-public-key-file",
    "root_login_ssh_public_key",
    INLINE,
    f"{INLINE}_FILE",
    "NPA_SSH_PUBLIC_KEY",
    "~/.ssh/id_ed25519.pub",
    "~/.ssh/id_rsa.pub",
    "~/.ssh/id_ecdsa.pub",
)


def key(who: str) -> str:
    parts = (b"ssh-ed25519", who.encode().ljust(32, b"."))
    blob = b"".join(struct.pack(">I", len(part)) + part for part in parts)
    return f"ssh-ed25519 {base64.b64encode(blob).decode()} {who}"


def spec(**fields: str) -> SoperatorSpec:
    lines = "".join(f"{name}: {value}\n" for name, value in fields.items())
    return parse(f"name: a1\nworkers: [{{name: cpu}}]\n{lines}")


@pytest.mark.parametrize("first", range(len(ORDER)), ids=lambda index: ORDER[index])
def test_the_first_source_that_is_there_counts(tmp_path: Path, first: int) -> None:
    there = ORDER[first:]
    ssh = tmp_path / ".ssh"
    ssh.mkdir()
    env = {"HOME": str(tmp_path)}
    fields: dict[str, str] = {}
    file = None
    for source in there:
        path = ssh / source.removeprefix("~/.ssh/").replace("/", "_")
        path.write_text(key(source) + "\n")
        if source.startswith("--"):
            file = path
        elif source == INLINE:
            env[source] = key(source)
        elif source.startswith("NPA_"):
            env[source] = str(path)
        elif not source.startswith("~"):
            fields[source] = key(source)
    found = keys.resolve(spec(**fields), file=file, env=env)

    assert (found.source, found.record) == (there[0], key(there[0]))


def test_the_older_field_is_read_and_becomes_the_canonical_one() -> None:
    asked = spec(ssh_public_keys=f"[{key('old')}]")
    found = keys.resolve(asked, env={})
    whole = keys.with_key(asked, found)

    assert found.source == "ssh_public_keys[0]"
    assert (whole.root_login_ssh_public_key, whole.ssh_public_keys) == (key("old"), ())


def test_an_invalid_first_source_is_an_error_and_not_skipped(tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh/id_ed25519.pub").write_text("ssh-ed25519 AAAA\n")
    (tmp_path / ".ssh/id_rsa.pub").write_text(key("good"))

    with pytest.raises(RefusedError, match="id_ed25519"):
        keys.resolve(spec(), env={"HOME": str(tmp_path)})


def test_a_file_that_cannot_be_read_is_named_by_its_source_alone(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="--root-login-ssh-public-key-file") as raised:
        keys.resolve(spec(), file=tmp_path / "secret-name", env={})

    assert "secret-name" not in str(raised.value)


def test_a_file_of_two_keys_is_refused(tmp_path: Path) -> None:
    (tmp_path / "two").write_text(f"{key('a')}\n{key('b')}\n")

    with pytest.raises(RefusedError, match="more than one line"):
        keys.resolve(spec(), file=tmp_path / "two", env={})


def test_no_key_lists_every_way_to_give_one() -> None:
    with pytest.raises(RefusedError) as raised:
        keys.resolve(spec(), env={})

    for each in ("root_login_ssh_public_key", ORDER[0], INLINE, f"{INLINE}_FILE", "NPA_SSH_PUBLIC_KEY"):
        assert each in raised.value.hint


def test_a_key_shows_its_source_and_fingerprint_and_never_itself() -> None:
    found = keys.resolve(spec(root_login_ssh_public_key=key("me")), env={})

    assert str(found) == f"root_login_ssh_public_key {found.fingerprint}"
    assert key("me").split()[1] not in f"{found!r} {found}"


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="no ssh-keygen")
def test_the_fingerprint_is_that_of_ssh_keygen(tmp_path: Path) -> None:
    (tmp_path / "key.pub").write_text(key("me"))
    told = subprocess.run(
        ["ssh-keygen", "-lf", str(tmp_path / "key.pub")], check=True, capture_output=True, text=True
    ).stdout

    assert login_keys.choose(file=tmp_path / "key.pub", env={}).fingerprint == told.split()[1]


def test_the_local_target_finds_no_key_without_failing() -> None:
    assert login_keys.find({}) == ()
    assert login_keys.find({INLINE: f" {key('me')}\n"}) == (key("me"),)
