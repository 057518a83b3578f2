"""Runs an exporter until it is told to stop, and serves what it knows."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from npa.operator.exporter.process import Exporter
from npa.operator.exporter.questions import Options
from npa.operator.runtime.tasks import background, first
from npa.tools.slurmrest import Slurmrest, Token

_TEXT = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class Serving:
    """Where figures are served; port 0 is any port."""

    host: str = "0.0.0.0"
    port: int = 8080  # of the figures
    own_port: int = 8081  # of the exporter's own, and of its health


async def export(
    url: str, token: Token, options: Options, serving: Serving, told: Callable[[int, int], None]
) -> None:
    """Export until SIGTERM or Ctrl-C; `told` is given the ports."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, stop.set)
    rest = Slurmrest(url, token)
    try:
        exporter = Exporter(rest, options)
        async with serve(exporter, serving) as ports, background(exporter.run()) as running:
            told(*ports)
            await first(stop, *running)
    finally:
        await rest.close()


@asynccontextmanager
async def serve(exporter: Exporter, at: Serving) -> AsyncIterator[tuple[int, int]]:
    """Serve /metrics at one port, and its own, /health and /ready at the other; gives both ports."""

    async def own() -> bytes:
        return exporter.own.text()

    def health(read: Callable[[], str]) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def answer(_: web.Request) -> web.Response:
            wrong = read()
            return web.Response(text=f"{wrong or 'ok'}\n", status=503 if wrong else 200)

        return answer

    figures = [web.get("/metrics", _figures(exporter.text))]
    others = [
        web.get("/metrics", _figures(own)),
        web.get("/health", health(lambda: "")),
        web.get("/ready", health(exporter.wrong)),
    ]
    async with (
        _serving(figures, at.host, at.port) as port,
        _serving(others, at.host, at.own_port) as own_port,
    ):
        yield port, own_port


def _figures(read: Callable[[], Awaitable[bytes]]) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=await read(), headers=_TEXT)

    return answer


@asynccontextmanager
async def _serving(routes: list[web.RouteDef], host: str, port: int) -> AsyncIterator[int]:
    app = web.Application()
    app.add_routes(routes)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
