"""slurmrestd over HTTP: asks, decodes, interprets nothing. Every question has a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from npa.errors import RefusedError, ToolMissingError, UnknownError
from npa.slurm import replies

try:
    import aiohttp
    import jwt
except ImportError:  # an optional extra: `Slurmrest` says so
    if not TYPE_CHECKING:
        aiohttp = jwt = None

API = "v0.0.42"  # the newest that Slurm 24.11 and 26.05 both serve
DEADLINE = 20.0  # seconds for one question
LIFE = 300  # seconds for which a token holds
_EARLY = 60  # seconds by which clocks may differ
_MOST = 512 * 1024 * 1024  # bytes of an answer

Token = Callable[[], str]


class Slurmrest:
    """`GET` of slurmrestd's documents; to be made inside a running event loop."""

    def __init__(self, url: str, token: Token, *, deadline: float = DEADLINE) -> None:
        if aiohttp is None:
            raise ToolMissingError("aiohttp", hint="install npa with it: pip install 'npa[kube]'")
        self._url, self._token, self._deadline = url.rstrip("/"), token, deadline
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=deadline))

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> bytes:
        """Return what is at a path, as `slurm/v0.0.42/nodes`; UnknownError where there is no such answer."""
        url = f"{self._url}/{path}"
        try:
            headers = {"X-SLURM-USER-TOKEN": self._token(), "Accept": "application/json"}
            async with self._session.get(url, params=dict(query or {}), headers=headers) as response:
                text = await response.content.read(_MOST)
                while (more := await response.content.read(_MOST)) and len(text) < _MOST:
                    text += more
                status = response.status
        except TimeoutError as error:
            raise UnknownError(f"{url}: no answer within {self._deadline:g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            raise UnknownError(f"{url}: {str(error) or type(error).__name__}") from error
        if status != 200:
            raise UnknownError(f"{url}: status {status}{_why(text)}")
        return text


def signed(key: Path, user: str) -> Token:
    """Return what signs tokens by slurmctld's own key, which is read anew each time: it may be replaced."""
    if jwt is None:
        raise ToolMissingError("pyjwt", hint="install npa with it: pip install 'npa[kube]'")

    def token() -> str:
        now = int(time.time())
        said = {"iat": now - _EARLY, "exp": now + LIFE, "sun": user}
        return jwt.encode(said, key.read_bytes(), algorithm="HS256")

    return token


def given(text: str) -> Token:
    """Return a token that somebody else made, as `scontrol token` prints it."""
    found = text.strip().removeprefix("SLURM_JWT=")
    if not found or not found.isascii() or not found.isprintable():
        raise RefusedError("SLURM_JWT is no token", hint="make one by `scontrol token`")
    return lambda: found


def _why(text: bytes) -> str:
    """Return what an answer says of its failure."""
    try:
        document = replies.load(text)
    except UnknownError:
        return ""
    said = document.get("errors") if isinstance(document, Mapping) else None
    first = said[0] if isinstance(said, list) and said else None
    why = (first.get("error") or first.get("description")) if isinstance(first, Mapping) else first
    return f": {str(why)[:200]}" if why else ""
