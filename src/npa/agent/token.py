"""The bearer token of a server: the environment's, a file's, or one that is made on first use."""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from npa.errors import RefusedError

VARIABLE = "NPA_SERVE_TOKEN"
FILE = "serve-token"
SHORTEST = 16


@dataclass(frozen=True, slots=True)
class Token:
    """A secret, and where a caller finds it."""

    value: str
    where: str

    def __repr__(self) -> str:
        return f"Token('***', {self.where!r})"

    def admits(self, header: str) -> bool:
        """Say whether an `Authorization` header has it; takes as long for a near miss as for a far one."""
        scheme, _, given = header.partition(" ")
        ours = hmac.compare_digest(given.strip().encode(), self.value.encode())
        return ours and scheme.lower() == "bearer"


def find(file: Path | None = None, env: Mapping[str, str] = os.environ) -> Token:
    """Return the token; a file that is not there is made, readable by nobody else.

    Raises RefusedError for a token that is too short, and for a file that others may read.
    """
    if file is None and env.get(VARIABLE):
        return _checked(env[VARIABLE], f"the variable {VARIABLE}")
    path = file or _folder(env) / FILE
    try:
        return _load(path)
    except FileNotFoundError:
        _make(path)
        return _load(path)


def _folder(env: Mapping[str, str]) -> Path:
    from npa.targets.nebius import config

    return config.folder(env)


def _load(path: Path) -> Token:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    with os.fdopen(fd, encoding="utf-8", errors="replace") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or stat.S_IMODE(found.st_mode) & 0o077:
            raise RefusedError(f"{path}: others may read the token", hint=f"chmod 600 {path}")
        if found.st_uid not in (0, os.geteuid()):
            raise RefusedError(f"{path}: belongs to somebody else", hint="name another file, or remove it")
        return _checked(file.read(4096).strip(), str(path))


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Written beside and linked: whoever reads at the same moment sees a whole token, and only one is made.
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(32) + "\n")
    try:
        os.link(beside, path)
    except FileExistsError:
        pass
    finally:
        beside.unlink()


def _checked(value: str, where: str) -> Token:
    if len(value) < SHORTEST or not value.isascii() or not value.isprintable() or " " in value:
        hint = "make one: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"
        raise RefusedError(f"{where}: no token of at least {SHORTEST} printable characters", hint=hint)
    return Token(value, where)
