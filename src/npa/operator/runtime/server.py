"""What a process answers over HTTP: whether it is alive and ready, its figures, and admission reviews."""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from npa.operator.runtime import webhook
from npa.operator.runtime.certificate import Pair
from npa.operator.runtime.metrics import Metrics

Handler = Callable[[web.Request], Any]


@asynccontextmanager
async def health(
    host: str, port: int, metrics: Metrics, ready: Callable[[], str], alive: Callable[[], str]
) -> AsyncIterator[int]:
    """Serve /healthz, /readyz and /metrics in plain HTTP; gives the port, which 0 leaves to the kernel."""

    def say(read: Callable[[], str]) -> Handler:
        async def answer(_: web.Request) -> web.Response:
            wrong = read()
            return web.Response(text=f"{wrong or 'ok'}\n", status=503 if wrong else 200)

        return answer

    async def figures(_: web.Request) -> web.Response:
        return web.Response(body=metrics.text(), headers={"Content-Type": "text/plain; version=0.0.4"})

    app = web.Application()
    app.add_routes(
        [
            web.get("/healthz", say(alive)),
            web.get("/readyz", say(ready)),
            web.get("/metrics", figures),
        ]
    )
    async with _serving(app, host, port, None) as at:
        yield at


@asynccontextmanager
async def admission(host: str, port: int, answer: Handler, tls: ssl.SSLContext) -> AsyncIterator[int]:
    """Serve admission reviews over TLS; gives the port."""
    app = web.Application(client_max_size=webhook.LARGEST)
    app.add_routes([web.post(webhook.PATH, answer)])
    async with _serving(app, host, port, tls) as at:
        yield at


def tls() -> ssl.SSLContext:
    """Return the settings of a server that has no certificate yet."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def take(context: ssl.SSLContext, pair: Pair) -> None:
    """Have a running server use a certificate from its next connection on."""
    with tempfile.TemporaryDirectory() as folder:  # 0700; the ssl module takes files only
        chain, key = Path(folder, "chain"), Path(folder, "key")
        chain.write_text(pair.certificate_pem)
        key.write_text(pair.key_pem)
        context.load_cert_chain(chain, key)


@asynccontextmanager
async def _serving(
    app: web.Application, host: str, port: int, context: ssl.SSLContext | None
) -> AsyncIterator[int]:
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=5.0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port, ssl_context=context)
        await site.start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
