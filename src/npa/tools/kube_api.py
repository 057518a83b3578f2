"""The Kubernetes API for what lives in one event loop: many calls at once, each with a deadline.

`tools.kube` is the same for who waits for each call. It decodes and decides nothing; a lookup tells what is
absent from what could not be read.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from npa.errors import KubeError, ToolMissingError
from npa.render.objects import Kind, Object, dig
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.tools.kube import kind_of
from npa.tools.kube_access import Access, context
from npa.tools.kube_answers import NotFoundError, gone, lines, path, refused, unanswered

try:
    import aiohttp
    import msgspec
except ImportError:  # an optional extra: `KubeApi` says so
    if not TYPE_CHECKING:
        aiohttp = None

FIELD_MANAGER = "npa"
DEADLINE = 30.0  # seconds for one call
WATCH = 300  # seconds after which the API is asked to end a watch
SILENCE = 150.0  # seconds without a byte, bookmarks among them, after which a watch counts as dead
_PAGE = 500  # objects per answer of a list

__all__ = ["DEADLINE", "KubeApi", "Listed", "gone", "path"]

Body = Mapping[str, Any] | list[Any]
Change = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]


@dataclass(frozen=True, slots=True)
class Listed:
    """The objects of a kind at one moment, and where a watch goes on from there."""

    items: tuple[Object, ...]
    resource_version: str


class KubeApi:
    """The Kubernetes API of the cluster that an Access names; to be made inside a running event loop."""

    def __init__(self, access: Access, *, deadline: float = DEADLINE, manager: str = FIELD_MANAGER) -> None:
        if aiohttp is None:
            raise ToolMissingError("aiohttp", hint="install npa with it: pip install 'npa[kube]'")
        self.access, self.deadline, self._manager = access, deadline, manager
        self._connector = aiohttp.TCPConnector(
            limit=0,
            ssl=context(access),
            keepalive_timeout=30,
            # Else what was given up half-way waits for TLS's goodbye, unknown to the connector that is to
            # close it. Newer Pythons need no help (python/cpython#118960), and aiohttp warns of it there.
            enable_cleanup_closed=sys.version_info < (3, 12, 8),
        )
        self._session = aiohttp.ClientSession(
            connector=self._connector, timeout=aiohttp.ClientTimeout(total=deadline)
        )

    async def close(self) -> None:
        """Close the connections, without waiting for the other side to agree."""
        await self._connector.close(abort_ssl=True)
        await self._session.close()

    async def get(self, kind: Kind, name: str, namespace: str = "") -> Lookup[Object]:
        """Return one object. Absent only where the API says so of exactly this name."""
        try:
            return Found(await self.call("GET", path(kind, namespace, name)))
        except KubeError as error:
            if isinstance(error, NotFoundError) and error.about == name:
                return Absent()
            return Unknown(error.reason)

    async def list(self, kind: Kind, namespace: str = "", selector: str = "", *, page: int = _PAGE) -> Listed:
        """Return the objects of a kind, of every namespace for ""; so many are asked for at a time."""
        items: list[Object] = []
        query = {"limit": str(page), **({"labelSelector": selector} if selector else {})}
        version = f"{kind.group}/{kind.version}" if kind.group else kind.version
        while True:
            part = await self.call("GET", path(kind, namespace), query=query)
            items += [{**each, "apiVersion": version, "kind": kind.kind} for each in part.get("items") or ()]
            if not (more := dig(part, "metadata", "continue")):
                return Listed(tuple(items), str(dig(part, "metadata", "resourceVersion") or ""))
            query["continue"] = more

    async def watch(
        self, kind: Kind, namespace: str = "", selector: str = "", *, since: str
    ) -> AsyncIterator[tuple[Change, Object]]:
        """Yield what changes after a resource version, until the API ends it; KubeError 410: list again."""
        query = {
            "watch": "1",
            "resourceVersion": since,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(WATCH),
            **({"labelSelector": selector} if selector else {}),
        }
        timeout = aiohttp.ClientTimeout(total=WATCH + SILENCE, sock_connect=self.deadline, sock_read=SILENCE)
        what = f"watch {kind.plural}"
        try:
            async with self._ask("GET", path(kind, namespace), query=query, timeout=timeout) as response:
                if response.status != 200:
                    raise refused(what, response.status, await response.read())
                async for line in lines(response):
                    event = msgspec.json.decode(line)
                    if event["type"] == "ERROR":
                        code = int(event["object"].get("code") or 0)
                        raise KubeError(f"{what}: {event['object'].get('message')}"[:300], status=code)
                    yield event["type"], event["object"]
        except (aiohttp.ClientError, TimeoutError, OSError, msgspec.DecodeError) as error:
            raise unanswered(what, error) from error

    async def create(self, wanted: Object) -> Object | None:
        """Make an object; None where there is one of this name already, which stays as it is."""
        kind, namespace = kind_of(wanted), dig(wanted, "metadata", "namespace") or ""
        query = {"fieldManager": self._manager}
        try:
            return await self.call("POST", path(kind, namespace), wanted, query=query)
        except KubeError as error:
            if error.status == 409:
                return None
            raise

    async def apply(self, wanted: Object, *, dry_run: bool = False) -> Object:
        """Server-side apply, taking the fields from whoever owned them."""
        kind, namespace = kind_of(wanted), dig(wanted, "metadata", "namespace") or ""
        query = {"fieldManager": self._manager, "force": "true", **({"dryRun": "All"} if dry_run else {})}
        where = path(kind, namespace, dig(wanted, "metadata", "name"))
        return await self.call("PATCH", where, wanted, query=query, sends="application/apply-patch+yaml")

    async def replace(self, kind: Kind, wanted: Object) -> Object:
        """Replace an object that has not changed since it was read (its resource version says so)."""
        namespace, name = dig(wanted, "metadata", "namespace") or "", dig(wanted, "metadata", "name")
        return await self.call(
            "PUT", path(kind, namespace, name), wanted, query={"fieldManager": self._manager}
        )

    async def patch(
        self, kind: Kind, name: str, namespace: str, body: Body, *, subresource: str = ""
    ) -> Object:
        """Change an object, or its status, by a JSON patch (a list) or a merge patch (a mapping)."""
        manner = "json-patch+json" if isinstance(body, list) else "merge-patch+json"
        where = path(kind, namespace, name, subresource)
        query = {"fieldManager": self._manager}
        return await self.call("PATCH", where, body, query=query, sends=f"application/{manner}")

    async def delete(
        self,
        kind: Kind,
        name: str,
        namespace: str = "",
        *,
        uid: str = "",
        resource_version: str = "",
        orphan: bool = False,
    ) -> bool:
        """Ask for an object to be deleted, exactly the one with this uid; False where it is not there."""
        only = {"uid": uid, "resourceVersion": resource_version}
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            # Without a policy, a Job's pods would be orphaned (batch/v1's default) and go on running.
            "propagationPolicy": "Orphan" if orphan else "Background",
            "preconditions": {key: value for key, value in only.items() if value},
        }
        try:
            await self.call("DELETE", path(kind, namespace, name), options)
        except KubeError as error:
            if error.status == 409 and (uid or resource_version):
                return False
            if isinstance(error, NotFoundError) and error.about == name:
                return False
            raise
        return True

    async def logs(self, pod: str, namespace: str, *, container: str = "", tail: int = 100) -> str:
        """Return the last lines that a container wrote."""
        query = {"tailLines": str(tail), **({"container": container} if container else {})}
        where = f"/api/v1/namespaces/{namespace}/pods/{pod}/log"
        return (await self._bytes("GET", where, query=query)).decode(errors="replace")

    async def served(self, kind: Kind) -> Lookup[str]:
        """Say whether a kind is served: its plural, or Absent where its group or version is not there."""
        where = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
        try:
            found = await self.call("GET", where)
        except KubeError as error:
            # An aggregated or CRD group that nobody serves is a plain 404 of the API server's root.
            return Absent() if error.status == 404 else Unknown(error.reason)
        names = {str(each.get("name")) for each in found.get("resources") or ()}
        return Found(kind.plural) if kind.plural in names else Absent()

    async def call(
        self,
        method: str,
        where: str,
        body: Body | None = None,
        *,
        query: Mapping[str, str] | None = None,
        sends: str = "application/json",
    ) -> dict[str, Any]:
        """Return what the API answers, decoded."""
        data = msgspec.json.encode(body, enc_hook=dict) if body is not None else None
        answered = await self._bytes(method, where, data=data, query=query, sends=sends)
        try:
            decoded: dict[str, Any] = msgspec.json.decode(answered, type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise KubeError(f"{method} {where}: the answer is not JSON") from error
        return decoded

    async def _bytes(
        self,
        method: str,
        where: str,
        *,
        data: bytes | None = None,
        query: Mapping[str, str] | None = None,
        sends: str = "",
    ) -> bytes:
        what = f"{method.lower()} {where.removeprefix('/apis/').removeprefix('/api/')}"
        try:
            async with self._ask(method, where, data=data, query=query, sends=sends) as response:
                answered: bytes = await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise unanswered(what, error) from error
        if response.status >= 300:
            raise refused(what, response.status, answered)
        return answered

    def _ask(
        self,
        method: str,
        where: str,
        *,
        data: bytes | None = None,
        query: Mapping[str, str] | None = None,
        sends: str = "",
        timeout: aiohttp.ClientTimeout | None = None,
    ) -> Any:
        return self._session.request(
            method,
            self.access.endpoint + where,
            data=data,
            params=query,
            headers={**self.headers(), **({"Content-Type": sends} if data is not None else {})},
            server_hostname=self.access.server_name or None,
            timeout=timeout or self._session.timeout,
        )

    def headers(self) -> dict[str, str]:
        """Return what says who we are, now."""
        token = self.access.token()
        said = {"Accept": "application/json", "User-Agent": "npa-operator"}
        return {**said, "Authorization": f"Bearer {token}"} if token else said

    def socket(self, where: str, query: Sequence[tuple[str, str]], protocols: tuple[str, ...]) -> Any:
        """Open a WebSocket, as an async context manager."""
        return self._session.ws_connect(
            self.access.endpoint + where,
            params=query,
            protocols=protocols,
            headers={**self.headers(), "Accept": "*/*"},  # kubelets refuse to upgrade to JSON
            server_hostname=self.access.server_name or None,
            max_msg_size=0,
            timeout=aiohttp.ClientWSTimeout(ws_close=1.0),
        )
