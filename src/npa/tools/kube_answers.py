"""What the Kubernetes API is asked by, and how its answers are read: paths, lines of a watch, refusals."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from npa.errors import KubeError
from npa.render.objects import Kind, dig


class NotFoundError(KubeError):
    """The API says which name is not there."""

    def __init__(self, reason: str, about: str) -> None:
        super().__init__(reason, status=404)
        self.about = about


def path(kind: Kind, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """Return the path of a kind's objects, of one of them, or of a part of one."""
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    within = f"/namespaces/{namespace}" if kind.namespaced and namespace else ""
    ends = "".join(f"/{part}" for part in (name, subresource) if part)
    return f"{root}{within}/{kind.plural}{ends}"


async def lines(response: Any) -> AsyncIterator[bytes]:
    """Yield whole lines, however long: an object may be larger than aiohttp's own limit for one."""
    held: list[bytes] = []
    async for part in response.content.iter_any():
        *whole, rest = part.split(b"\n")
        for line in whole:
            yield b"".join((*held, line))
            held = []
        if rest:
            held.append(rest)


def refused(what: str, status: int, answered: bytes) -> KubeError:
    """Return the error that the API answered with."""
    try:
        said = json.loads(answered)
    except ValueError:
        said = {}
    said = said if isinstance(said, dict) and said.get("kind") == "Status" else {}
    reason = f"{what}: {said.get('message') or f'HTTP {status}'}"[:500]
    if status == 404 and said.get("reason") == "NotFound":
        return NotFoundError(reason, str(dig(said, "details", "name") or ""))
    return KubeError(reason, status=status)


def unanswered(what: str, error: BaseException) -> KubeError:
    """Return the error that there is no answer."""
    if isinstance(error, (TimeoutError, asyncio.TimeoutError)):
        return KubeError(f"{what}: no answer within the deadline")
    return KubeError(f"{what}: {type(error).__name__}: {error}"[:300])


def gone(error: KubeError) -> bool:
    """Say whether a watch cannot go on from where it was, so that everything has to be listed again."""
    return error.status == 410
