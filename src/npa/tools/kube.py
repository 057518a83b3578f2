"""The Kubernetes API of one cluster. It decodes and decides nothing.

A client is bound to one endpoint, one certificate authority and the id of the cluster that they were read
for; nobody's kubeconfig is read or written. Every call has a deadline, and a lookup tells what is absent from
what could not be read.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from npa.errors import KubeError, ToolMissingError
from npa.render.objects import BUILT_IN, CRD, Kind, Object, dig
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.tools.kube_access import Access, context

try:
    import httpx2
    import lightkube
    from httpx2.websockets import HTTPXWSException
    from lightkube import generic_resource
    from lightkube.config import models
    from lightkube.config.kubeconfig import SingleConfig
    from lightkube.types import CascadeType, PatchType
except ImportError:  # an optional extra: `Kube` says so
    if not TYPE_CHECKING:
        lightkube = None

__all__ = ["Access", "Executed", "Kube", "kind_of"]

FIELD_MANAGER = "npa"
DEADLINE = 30.0  # seconds for one call
_PAGE = 500  # objects per answer of a list

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Executed:
    """What a command in a pod left."""

    code: int
    stdout: str
    stderr: str = ""


class Kube:
    """The Kubernetes API of the cluster that an Access names."""

    def __init__(self, access: Access, *, deadline: float = DEADLINE, manager: str = FIELD_MANAGER) -> None:
        if lightkube is None:
            raise ToolMissingError("lightkube", hint="install npa with it: pip install 'npa[kube]'")
        self.cluster_id, self.endpoint = access.cluster_id, access.endpoint
        # read by lightkube, used by our transport
        ca = base64.b64encode(access.ca_pem.encode()).decode() or None
        self._config = SingleConfig(
            context_name=access.cluster_id,
            context=models.Context(cluster=access.cluster_id, namespace="default"),
            cluster=models.Cluster(server=access.endpoint, certificate_auth_data=ca),
            user=models.User(),
        )
        self._access, self._manager = access, manager
        self._client = self._connect(deadline)

    def get(self, kind: Kind, name: str, namespace: str = "") -> Lookup[Object]:
        """Return one object. Absent only where the API says so of exactly this name."""
        try:
            found = self._client.get(_resource(kind), name, **_space(kind, namespace))
        except _failures() as error:
            return self._missing(error, kind, name)
        return Found(_plain(found))

    def list(self, kind: Kind, namespace: str = "") -> Lookup[tuple[Object, ...]]:
        """Return the objects of a kind, of every namespace for "". Absent: the kind is not served."""
        where = {"namespace": namespace or "*"} if kind.namespaced else {}
        try:
            listed = self._client.list(_resource(kind), chunk_size=_PAGE, **where)
            return Found(tuple(_plain(each) for each in listed))
        except _failures() as error:
            return self._missing(error, kind, "")

    def apply(self, wanted: Object) -> Object:
        """Server-side apply, taking the fields from whoever owned them."""
        kind = kind_of(wanted)
        name, namespace = dig(wanted, "metadata", "name"), dig(wanted, "metadata", "namespace") or ""
        resource = _resource(kind)
        return self._call(
            f"apply {kind.kind} {name}",
            lambda: _plain(
                self._client.apply(resource(dict(wanted)), name, force=True, **_space(kind, namespace))
            ),
        )

    def patch(
        self, kind: Kind, name: str, namespace: str, body: object, how: Literal["json", "merge"] = "merge"
    ) -> Object:
        """Change an object by a JSON patch (a list) or a merge patch (a mapping)."""
        manner = PatchType.JSON if how == "json" else PatchType.MERGE
        return self._call(
            f"patch {kind.kind} {name}",
            lambda: _plain(
                self._client.patch(_resource(kind), name, body, patch_type=manner, **_space(kind, namespace))
            ),
        )

    def delete(self, kind: Kind, name: str, namespace: str = "") -> bool:
        """Ask for an object to be deleted; False where there is none. It may take a while to be gone."""
        # Without a policy, a Job's pods would be orphaned (batch/v1's default) and go on running.
        cascade = CascadeType.BACKGROUND
        try:
            self._client.delete(_resource(kind), name, cascade=cascade, **_space(kind, namespace))
        except _failures() as error:
            if isinstance(self._missing(error, kind, name), Absent):
                return False
            raise _translated(f"delete {kind.kind} {name}", error) from error
        return True

    def exec(
        self, pod: str, namespace: str, argv: Sequence[str], *, container: str = "", timeout: float = DEADLINE
    ) -> Executed:
        """Run a command in a pod to its end; its exit code is an answer, not an error."""
        client = self._connect(timeout)
        with client:
            done = self._call(
                f"exec in {pod}",
                lambda: client.exec(
                    pod,
                    namespace=namespace,
                    container=container or None,
                    command=list(argv),
                    stdout=True,
                    stderr=True,
                    decode=None,
                    timeout=timeout,
                ),
            )
        return Executed(done.exit_code, _text(done.stdout), _text(done.stderr))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _connect(self, deadline: float) -> Any:
        inner = httpx2.HTTPTransport(verify=context(self._access), trust_env=False)
        return lightkube.Client(
            self._config,
            timeout=httpx2.Timeout(deadline),
            field_manager=self._manager,
            trust_env=False,
            transport=_Authorized(inner, self._access.token, deadline),
        )

    def _missing(self, error: Exception, kind: Kind, name: str) -> Lookup[Any]:
        """Tell an absent object or kind from an answer that proves nothing."""
        if isinstance(error, httpx2.HTTPStatusError) and error.response.status_code == 404:
            return self._absence(error.response, kind, name)
        return Unknown(_translated(f"read {kind.plural} {name}".rstrip(), error).reason)

    def _absence(self, response: Any, kind: Kind, name: str) -> Lookup[Any]:
        said = _status(response)
        if name and said.get("reason") == "NotFound" and dig(said, "details", "name") == name:
            return Absent()
        # A kind that is not served is a plain 404, as a proxy's is: only its definition's absence tells.
        if kind.group not in BUILT_IN and isinstance(self.get(CRD, kind.crd), Absent):
            return Absent()
        return Unknown(f"the API answered 404 without saying that {kind.kind} {name or 'objects'} are absent")

    def _call(self, what: str, does: Callable[[], _T]) -> _T:
        try:
            return does()
        except _failures() as error:
            raise _translated(what, error) from error


def kind_of(wanted: Object) -> Kind:
    """Return the kind of an object to be applied; its plural is the regular one."""
    group, _, version = str(wanted.get("apiVersion", "")).rpartition("/")
    kind = str(wanted.get("kind", ""))
    global_ = not dig(wanted, "metadata", "namespace")
    return Kind(group, version, kind, f"{kind.lower()}s", namespaced=not global_)


if lightkube is not None or TYPE_CHECKING:

    class _Authorized(httpx2.BaseTransport):
        """Puts the token of the moment on each request, and ends an answer that outlasts its deadline."""

        def __init__(self, inner: httpx2.BaseTransport, token: Callable[[], str], deadline: float) -> None:
            self._inner, self._token, self._deadline = inner, token, deadline

        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            if token := self._token():
                request.headers["Authorization"] = f"Bearer {token}"
            until = time.monotonic() + self._deadline
            response = self._inner.handle_request(request)
            if response.status_code != 101:
                response.stream = _Bounded(cast("httpx2.SyncByteStream", response.stream), until)
            return response

        def close(self) -> None:
            self._inner.close()

    class _Bounded(httpx2.SyncByteStream):
        """A body that has to be complete by a moment, however it drips."""

        def __init__(self, inner: httpx2.SyncByteStream, until: float) -> None:
            self._inner, self._until = inner, until

        def __iter__(self) -> Iterator[bytes]:
            for part in self._inner:
                if time.monotonic() > self._until:
                    raise httpx2.ReadTimeout("the answer outlasts its deadline")
                yield part

        def close(self) -> None:
            self._inner.close()


def _failures() -> tuple[type[Exception], ...]:
    return (httpx2.HTTPError, HTTPXWSException, OSError)


def _translated(what: str, error: Exception) -> KubeError:
    if isinstance(error, (httpx2.TimeoutException, TimeoutError)):
        return KubeError(f"{what}: no answer within the deadline")
    response = error.response if isinstance(error, httpx2.HTTPStatusError) else None
    if response is None:
        return KubeError(f"{what}: {type(error).__name__}: {error}"[:300])
    said = _status(response).get("message") or f"HTTP {response.status_code}"
    return KubeError(f"{what}: {said}"[:300], status=response.status_code)


def _status(response: Any) -> Mapping[str, Any]:
    try:
        decoded = response.json()
    except (ValueError, httpx2.StreamError):
        return {}
    return decoded if isinstance(decoded, Mapping) and decoded.get("kind") == "Status" else {}


def _resource(kind: Kind) -> Any:
    """Return lightkube's generic class of a kind: its typed ones drop fields that they do not know."""
    base: Any = (
        generic_resource.GenericNamespacedResource
        if kind.namespaced
        else generic_resource.GenericGlobalResource
    )
    info = generic_resource.create_api_info(kind.group, kind.version, kind.kind, kind.plural)
    return type(kind.kind, (base,), {"_api_info": info})


def _space(kind: Kind, namespace: str) -> dict[str, str]:
    return {"namespace": namespace} if kind.namespaced else {}


def _plain(found: Any) -> Object:
    decoded: Object = found.to_dict()
    return decoded


def _text(output: bytes | str | None) -> str:
    return output.decode(errors="replace") if isinstance(output, bytes) else output or ""
