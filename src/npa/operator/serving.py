"""What the operator's process serves: health, figures, and admission reviews."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from npa.operator.runtime import server, webhook
from npa.operator.runtime.certified import Certified, Place
from npa.operator.runtime.metrics import Metrics
from npa.operator.runtime.tasks import background
from npa.operator.runtime.webhook import Review
from npa.tools.kube_api import KubeApi

_LOG = logging.getLogger(__name__)
SECRET = "npa-operator-webhook"  # of the certificate


@dataclass(frozen=True, slots=True)
class Serving:
    """Where a process listens; a port of None is not served, 0 is any."""

    host: str = "0.0.0.0"
    health_port: int | None = None
    webhook_port: int | None = None
    webhook_names: tuple[str, ...] = ("localhost",)  # by which the API server reaches it
    webhook: str = "npa-operator"  # name of the ValidatingWebhookConfiguration
    namespace: str = "default"  # of the certificate's Secret


@dataclass(slots=True)
class Ports:
    """Where it listens by now."""

    health: int = 0
    webhook: int = 0
    why: list[Callable[[], str]] = field(default_factory=list)  # each says why it is not ready


@asynccontextmanager
async def serve(
    api: KubeApi, asked: Serving, metrics: Metrics, review: Review, ready: Callable[[], str]
) -> AsyncIterator[Ports]:
    """Serve what is asked for beside a block."""
    ports = Ports(why=[ready])

    def unready() -> str:
        return "; ".join(filter(None, (why() for why in ports.why)))

    async with AsyncExitStack() as stack:
        if asked.health_port is not None:
            ports.health = await stack.enter_async_context(
                server.health(asked.host, asked.health_port, metrics, unready, lambda: "")
            )
        if asked.webhook_port is not None:
            tls = server.tls()
            place = Place(asked.namespace, SECRET, asked.webhook_names, asked.webhook)
            certified = Certified(api, place, tls)
            await stack.enter_async_context(background(certified.run()))
            answer = webhook.handler(review, metrics)
            ports.webhook = await stack.enter_async_context(
                server.admission(asked.host, asked.webhook_port, answer, tls)
            )
            ports.why.append(lambda: certified.why)
        _LOG.info("listening: health %s, webhook %s", ports.health or "no", ports.webhook or "no")
        yield ports
