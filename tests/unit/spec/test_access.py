from __future__ import annotations

import pytest
from tests.unit.spec.asking import MINIMAL, key, problems, said

from npa.spec import load
from npa.spec.rules.access import KEY_TYPES, key_fault


@pytest.mark.parametrize("kind", KEY_TYPES)
def test_keys_of_every_type_load(kind: str) -> None:
    assert key_fault(f"  {key(kind)} me at home\n") == ""


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("ssh-ed25519", "nothing after"),
        ("ssh-ed25519 !!!", "no base64"),
        ("ssh-ed25519 AAAA", "another kind"),
        (key("ssh-ed25519", inner="ssh-rsa"), "another kind"),
        (f"no-pty {key()}", "does not begin"),
        ("ssh-dss AAAA", "does not begin"),
        ("ssh-ed25519-cert-v01@openssh.com AAAA", "does not begin"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n", "private key"),
        (f"{key()}\n{key()}", "more than one line"),
        (f"{key()} a\x07b", "U+0007"),
        ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5", "cut short"),
    ],
)
def test_what_is_no_key_is_told_without_repeating_it(record: str, words: str) -> None:
    assert words in key_fault(record)
    assert "c2VjcmV0" not in key_fault(record)


def test_root_has_one_key_under_one_name() -> None:
    one = f"root_login_ssh_public_key: {key()}\n"
    old = f"ssh_public_keys: ['{key()}']\n"

    assert load.parse(MINIMAL + one).root_keys == load.parse(MINIMAL + old).root_keys == (key(),)
    assert list(said(MINIMAL + one + old)) == ["ssh_public_keys"]
    assert "users" in said(f"{MINIMAL}ssh_public_keys: ['{key()}', '{key()}']")["ssh_public_keys"]
    assert list(said(f"{MINIMAL}ssh_public_keys: [no]")) == ["ssh_public_keys[0]"]
    assert list(said(f"{MINIMAL}ssh_public_keys: {key()}")) == ["ssh_public_keys"]


@pytest.mark.parametrize(
    ("users", "at"),
    [
        ("[{name: root}]", "[0].name"),
        ("[{name: slurm}]", "[0].name"),
        ("[{name: www-data}]", "[0].name"),
        ("[{name: systemd-bus}]", "[0].name"),
        ("[{name: Ann}]", "[0].name"),
        ("[{name: 1ann}]", "[0].name"),
        ("[{name: 'ann:x'}]", "[0].name"),
        (f"[{{name: {'a' * 33}}}]", "[0].name"),
        ("[{name: ann}, {name: ann}]", "[1].name"),
        ("[{name: ann, uid: 2000}, {name: bob, uid: 2000}]", "[1].uid"),
        ("[{name: ann, uid: 999}]", "[0].uid"),
        ("[{name: ann, uid: 65534}]", "[0].uid"),
        ("[{name: ann, uid: '2000'}]", "[0].uid"),
        ("[{name: ann, ssh_public_keys: [x]}]", "[0].ssh_public_keys[0]"),
    ],
)
def test_a_user_is_refused_where_it_is_wrong(users: str, at: str) -> None:
    assert list(said(f"{MINIMAL}users: {users}")) == [f"users{at}"]


def test_users_load() -> None:
    assert not problems(
        f"{MINIMAL}users: [{{name: ann, uid: 1500, ssh_public_keys: ['{key()}']}}, {{name: _b}}]"
    )
