"""The key that opens the login nodes, where the spec names none."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from npa.errors import RefusedError
from npa.spec.rules.access import key_fault

_INLINE = "NPA_SOPERATOR_ROOT_LOGIN_SSH_PUBLIC_KEY"
_FILES = (f"{_INLINE}_FILE", "NPA_SSH_PUBLIC_KEY")
_DEFAULTS = ("id_ed25519.pub", "id_rsa.pub", "id_ecdsa.pub")


def find(env: Mapping[str, str] = os.environ, home: Path | None = None) -> tuple[str, ...]:
    """Return root's OpenSSH public key as this machine knows it: variables first, then `~/.ssh`.

    The first source that is there counts; raises RefusedError, naming it, when it holds no key.
    """
    for source, text in _sources(env, home):
        fault = key_fault(text)
        if fault:
            raise RefusedError(
                f"{source} {fault}", hint="give it one OpenSSH public key, as in id_ed25519.pub"
            )
        return (text.strip(),)
    return ()


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
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RefusedError(f"the key file of {source} cannot be read: {type(error).__name__}") from error
