"""Who logs in: keys and accounts."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from npa.spec.finding import Finding
from npa.spec.model import USER_PATTERN, SoperatorSpec
from npa.spec.rules import words

KEY_TYPES = (
    "ssh-ed25519",
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
)
FIRST_UID = 1000
LAST_UID = 60_000  # above it Debian and systemd number accounts of their own

_DEBIAN_AND_DAEMONS = """
    root daemon bin sys sync games man lp mail news uucp proxy www-data backup list irc gnats nobody
    nogroup adm tty disk dialout fax voice cdrom floppy tape sudo audio dip operator src shadow utmp video
    sasl plugdev staff users input sgx kvm render crontab _apt sshd _ssh ssh systemd-network systemd-resolve
    systemd-timesync systemd-journal systemd-coredump messagebus polkitd tss uuidd munge slurm slurmrestd
    slurmrest slurmdbd mysql mariadb postgres docker enroot
"""
# Accounts and groups: every user gets a group of the same name.
SYSTEM_NAMES = frozenset(_DEBIAN_AND_DAEMONS.split())

_KEY_HINT = "give one line as in `ssh-ed25519 AAAA... comment`"


def key_fault(record: str) -> str:
    """Say why a text is not one OpenSSH public key, without repeating it; "" where it is."""
    record = record.strip()
    if not record:
        return "is empty"
    if "PRIVATE KEY" in record:
        return "is a private key"
    if len(record.splitlines()) > 1:
        return "holds more than one line"
    if words.unprintable(record.replace("\t", " ")):
        return f"holds {words.character(words.unprintable(record.replace(chr(9), ' ')))}"
    kind, *rest = record.split(maxsplit=2)
    if kind not in KEY_TYPES:
        return "does not begin with the type of a public key"
    if not rest:
        return f"has nothing after {kind}"
    try:
        blob = base64.b64decode(rest[0], validate=True)
    except (binascii.Error, ValueError):
        return f"has no base64 after {kind}"
    # The blob begins with its own type, after four bytes of length (RFC 4253, 6.6).
    inner = blob[4 : 4 + int.from_bytes(blob[:4], "big")]
    if inner != kind.encode():
        return f"says {kind} and holds another kind of key"
    return "" if len(blob) > 4 + len(inner) else "is cut short"


def _keys(spec: SoperatorSpec) -> Iterator[tuple[str, str]]:
    if spec.root_login_ssh_public_key:
        yield "root_login_ssh_public_key", spec.root_login_ssh_public_key
    for index, key in enumerate(spec.ssh_public_keys):
        yield f"ssh_public_keys[{index}]", key
    for number, user in enumerate(spec.users):
        for index, key in enumerate(user.ssh_public_keys):
            yield f"users[{number}].ssh_public_keys[{index}]", key


def keys_are_openssh_public_keys(spec: SoperatorSpec) -> Iterator[Finding]:
    """A key that sshd skips in silence locks its owner out."""
    for at, key in _keys(spec):
        message = key_fault(key)
        if message:
            hint = "give the key from the .pub file" if message == "is a private key" else _KEY_HINT
            yield Finding(at, message, hint)


def root_has_one_key(spec: SoperatorSpec) -> Iterator[Finding]:
    """Root's login is one grant, made in one place."""
    if spec.root_login_ssh_public_key and spec.ssh_public_keys:
        message = "root_login_ssh_public_key and ssh_public_keys are both set"
        hint = "keep root_login_ssh_public_key"
        yield Finding("ssh_public_keys", message, hint, ("root_login_ssh_public_key",))
    if len(spec.ssh_public_keys) > 1:
        message = f"holds {len(spec.ssh_public_keys)} keys, one is allowed"
        hint = "put one into root_login_ssh_public_key, and the people into users"
        yield Finding("ssh_public_keys", message, hint)


def user_names_are_account_names(spec: SoperatorSpec) -> Iterator[Finding]:
    """An account needs a name that no part of the system has."""
    for index, user in enumerate(spec.users):
        message = words.fault(user.name, USER_PATTERN, "a-z0-9_-", 32)
        hint = "use lower-case letters, digits, `_` and `-`, no digit or hyphen first"
        if not message and (user.name in SYSTEM_NAMES or user.name.startswith("systemd-")):
            message, hint = f"{user.name!r} is an account of the system", "choose another name"
        if message:
            yield Finding(f"users[{index}].name", message, hint)


def users_are_unique(spec: SoperatorSpec) -> Iterator[Finding]:
    """Two accounts of one name or one number are one account."""
    names: dict[str, int] = {}
    uids: dict[int, int] = {}
    for index, user in enumerate(spec.users):
        first = names.setdefault(user.name, index)
        if first != index:
            message = f"a second user {words.shown(user.name)}, the first is users[{first}]"
            yield Finding(f"users[{index}].name", message, "rename one of them", (f"users[{first}].name",))
        if user.uid is None:
            continue
        first = uids.setdefault(user.uid, index)
        if first != index:
            message = f"uid {user.uid} is already that of users[{first}]"
            yield Finding(
                f"users[{index}].uid", message, "remove it, and one is chosen", (f"users[{first}].uid",)
            )


def uids_are_those_of_people(spec: SoperatorSpec) -> Iterator[Finding]:
    """Numbers below and above are the system's."""
    for index, user in enumerate(spec.users):
        if user.uid is not None and not FIRST_UID <= user.uid <= LAST_UID:
            message = f"must be between {FIRST_UID} and {LAST_UID}, is {user.uid}"
            yield Finding(f"users[{index}].uid", message, "remove it, and one is chosen")


RULES = (
    keys_are_openssh_public_keys,
    root_has_one_key,
    user_names_are_account_names,
    users_are_unique,
    uids_are_those_of_people,
)
