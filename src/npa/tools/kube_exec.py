"""Commands in pods, over the Kubernetes API's WebSocket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from npa.errors import KubeError
from npa.tools.kube import Executed
from npa.tools.kube_api import DEADLINE, KubeApi

if TYPE_CHECKING:
    import aiohttp

_PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
_STDOUT, _STDERR, _ENDED = 1, 2, 3  # channels: the first byte of each message


async def execute(
    api: KubeApi,
    pod: str,
    namespace: str,
    argv: Sequence[str],
    *,
    container: str = "",
    timeout: float = DEADLINE,
) -> Executed:
    """Run a command in a pod to its end; its exit code is an answer, not an error."""
    import aiohttp

    query = [("command", each) for each in argv] + [("stdout", "true"), ("stderr", "true")]
    query += [("container", container)] if container else []
    what = f"exec in {pod}"
    try:
        async with asyncio.timeout(timeout):
            where = f"/api/v1/namespaces/{namespace}/pods/{pod}/exec"
            async with api.socket(where, query, _PROTOCOLS) as socket:
                return await _read(socket, what)
    except TimeoutError as error:
        raise KubeError(f"{what}: `{argv[0]}` has not ended in {timeout:g} s") from error
    except aiohttp.WSServerHandshakeError as error:
        raise KubeError(f"{what}: HTTP {error.status}", status=error.status) from error
    except (aiohttp.ClientError, OSError) as error:
        raise KubeError(f"{what}: {type(error).__name__}: {error}"[:300]) from error


async def _read(socket: aiohttp.ClientWebSocketResponse, what: str) -> Executed:
    said: dict[int, list[bytes]] = {_STDOUT: [], _STDERR: [], _ENDED: []}
    async for message in socket:
        if isinstance(message.data, bytes) and message.data:
            said.setdefault(message.data[0], []).append(message.data[1:])
    stdout, stderr = (b"".join(said[channel]).decode(errors="replace") for channel in (_STDOUT, _STDERR))
    if not said[_ENDED]:  # cut off: what came may be half of it
        raise KubeError(f"{what}: the connection ended before the command did")
    return Executed(_code(json.loads(b"".join(said[_ENDED])), what), stdout, stderr)


def _code(status: Mapping[str, Any], what: str) -> int:
    if status.get("status") == "Success":
        return 0
    causes = (status.get("details") or {}).get("causes") or ()
    for cause in causes:
        if cause.get("reason") == "ExitCode":
            return int(cause.get("message") or 1)
    raise KubeError(f"{what}: {status.get('message')}"[:300])
