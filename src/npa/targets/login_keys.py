"""The key that opens the login nodes: which source it comes from, and how it is named without being shown."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from npa.errors import RefusedError
from npa.spec.rules.access import key_fault

_OPTION = "--root-login-ssh-public-key-file"
_INLINE = "NPA_SOPERATOR_ROOT_LOGIN_SSH_PUBLIC_KEY"
_FILES = (f"{_INLINE}_FILE", "NPA_SSH_PUBLIC_KEY")
_DEFAULTS = ("id_ed25519.pub", "id_rsa.pub", "id_ecdsa.pub")


@dataclass(frozen=True, slots=True)
class LoginKey:
    """One OpenSSH public key of root, and where it was found. Its text never shows."""

    record: str
    source: str

    def __repr__(self) -> str:
        return f"LoginKey({self})"

    def __str__(self) -> str:
        return f"{self.source} {self.fingerprint}"

    @property
    def fingerprint(self) -> str:
        """The key's SHA-256, written as `ssh-keygen -l` writes it."""
        blob = base64.b64decode(self.record.split(maxsplit=2)[1])
        return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def choose(
    *,
    file: Path | None = None,
    spec: Sequence[tuple[str, str]] = (),
    env: Mapping[str, str] = os.environ,
    home: Path | None = None,
) -> LoginKey:
    """Return root's key: the file of the command line, the spec (field, text), the environment, `~/.ssh`.

    The first source that is there counts; raises RefusedError, naming it, when it holds no key, and when no
    source is there.
    """
    if file is not None:
        return _key(_OPTION, _text(_OPTION, file))
    for source, text in (*((field, text) for field, text in spec if text), *_sources(env, home)):
        return _key(source, text)
    raise RefusedError(
        "no SSH public key for root's login was found",
        hint=f"set root_login_ssh_public_key, pass {_OPTION}, set {_INLINE}, {_INLINE}_FILE or "
        "NPA_SSH_PUBLIC_KEY, or make one: ssh-keygen -t ed25519",
    )


def find(env: Mapping[str, str] = os.environ, home: Path | None = None) -> tuple[str, ...]:
    """Return root's OpenSSH public key as this machine knows it: variables first, then `~/.ssh`.

    The first source that is there counts; raises RefusedError, naming it, when it holds no key.
    """
    for source, text in _sources(env, home):
        return (_key(source, text).record,)
    return ()


def _key(source: str, text: str) -> LoginKey:
    fault = key_fault(text)
    if fault:
        raise RefusedError(f"{source} {fault}", hint="give it one OpenSSH public key, as in id_ed25519.pub")
    return LoginKey(text.strip(), source)


def _sources(env: Mapping[str, str], home: Path | None) -> Iterator[tuple[str, str]]:
    if env.get(_INLINE):
        yield _INLINE, env[_INLINE]
    for name in _FILES:
        if env.get(name):
            yield name, _text(name, Path(env[name]))
    folder = (home or Path(env.get("HOME") or "/nonexistent")) / ".ssh"
    for name in _DEFAULTS:
        if (folder / name).exists():
            yield f"~/.ssh/{name}", _text(f"~/.ssh/{name}", folder / name)


def _text(source: str, path: Path) -> str:
    try:
        return path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, RuntimeError) as error:
        raise RefusedError(f"the key file of {source} cannot be read: {type(error).__name__}") from error
