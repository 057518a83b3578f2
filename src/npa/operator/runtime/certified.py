"""Keeps a webhook's certificate: made, shared by replicas, made anew in time, trusted by the API server."""

from __future__ import annotations

import asyncio
import base64
import logging
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from npa.errors import KubeError
from npa.operator.runtime import certificate, server
from npa.operator.runtime.certificate import Pair
from npa.render.objects import SECRET, VALIDATING_WEBHOOK, Object, dig
from npa.slurm.lookup import Absent, Found
from npa.tools.kube_api import KubeApi

_LOG = logging.getLogger(__name__)
EVERY = 60.0  # seconds between two looks at what is kept
_SOON = 2.0  # seconds after one that went wrong


@dataclass(frozen=True, slots=True)
class Place:
    """Where a certificate is kept, for which host names it is, and whose word it backs."""

    namespace: str
    secret: str
    names: tuple[str, ...]
    configuration: str  # the ValidatingWebhookConfiguration; "" for none


class Certified:
    """The certificate of one webhook server."""

    def __init__(self, api: KubeApi, place: Place, tls: ssl.SSLContext) -> None:
        self._api, self._place, self._tls = api, place, tls
        self._served: Pair | None = None
        self.why = "there is no certificate yet"  # not ready; "" where it is

    async def run(self) -> None:
        """See to it for ever."""
        while True:
            try:
                await self.look(datetime.now(UTC))
            except (KubeError, OSError) as error:
                _LOG.warning("certificate: %s", error)
                await asyncio.sleep(_SOON)
            else:
                await asyncio.sleep(EVERY)

    async def look(self, now: datetime) -> None:
        """Make the certificate where it has to be, have it trusted, and only then serve with it."""
        answer = await self._api.get(SECRET, self._place.secret, self._place.namespace)
        if not isinstance(answer, Found | Absent):
            raise KubeError(answer.why)
        secret = answer.value if isinstance(answer, Found) else None
        pair = _pair(secret)
        if certificate.due(pair, self._place.names, now):
            pair = await self._make(secret, pair, now)
        assert pair is not None
        await self._trust(pair)
        if pair != self._served:
            server.take(self._tls, pair)
            self._served, self.why = pair, ""
            _LOG.info("the certificate is good until %s", certificate.ends(pair))

    async def _make(self, secret: Object | None, before: Pair | None, now: datetime) -> Pair:
        made = await asyncio.to_thread(certificate.make, self._place.names, now, before)
        wanted = SECRET.object(
            self._place.secret, self._place.namespace, type="kubernetes.io/tls", data=_data(made)
        )
        if secret is None:
            if await self._api.create(wanted) is None:
                raise KubeError("another replica made the certificate")
            return made
        wanted["metadata"] = dict(secret["metadata"])
        await self._api.replace(SECRET, {**secret, **wanted})  # refused where another replica was first
        return made

    async def _trust(self, pair: Pair) -> None:
        """Have the API server trust who signed it, before it is served."""
        if not self._place.configuration:
            return
        answer = await self._api.get(VALIDATING_WEBHOOK, self._place.configuration)
        if not isinstance(answer, Found):
            return  # nobody asks us, or nobody can say: looked at again in a while
        bundle = base64.b64encode(pair.ca_pem.encode()).decode()
        hooks: Sequence[Object] = answer.value.get("webhooks") or ()
        version = dig(answer.value, "metadata", "resourceVersion")
        patch = [
            {"op": "add", "path": f"/webhooks/{index}/clientConfig/caBundle", "value": bundle}
            for index, hook in enumerate(hooks)
            if dig(hook, "clientConfig", "caBundle") != bundle
        ]
        if patch:
            same = {"op": "test", "path": "/metadata/resourceVersion", "value": version}
            await self._api.patch(VALIDATING_WEBHOOK, self._place.configuration, "", [same, *patch])


def _data(pair: Pair) -> dict[str, str]:
    parts = {"ca.crt": pair.ca_pem, "tls.crt": pair.certificate_pem, "tls.key": pair.key_pem}
    return {key: base64.b64encode(text.encode()).decode() for key, text in parts.items()}


def _pair(secret: Object | None) -> Pair | None:
    data = (secret or {}).get("data") or {}
    try:
        ca, chain, key = (base64.b64decode(data[part]).decode() for part in ("ca.crt", "tls.crt", "tls.key"))
    except (KeyError, ValueError):
        return None
    return Pair(ca, chain, key)
