"""The client and the informer against a server that does what API servers do on bad days."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from npa.errors import KubeError
from npa.operator.runtime.informer import Informer, Watch
from npa.operator.runtime.tasks import background
from npa.render.objects import CONFIG_MAP, Kind, Object, name_of
from npa.slurm.lookup import Absent, Found, Unknown
from npa.tools import kube_exec
from npa.tools.kube import Executed
from npa.tools.kube_access import Access
from npa.tools.kube_api import KubeApi

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def config_map(name: str, version: int, text: str = "") -> dict[str, Any]:
    made = CONFIG_MAP.object(name, "ns", data={"k": text})
    made["metadata"]["resourceVersion"] = str(version)
    return made


def event(change: str, found: object) -> bytes:
    return json.dumps({"type": change, "object": found}).encode() + b"\n"


def status(code: int, reason: str, **details: Any) -> dict[str, Any]:
    return {"kind": "Status", "code": code, "reason": reason, "message": reason, "details": details}


@asynccontextmanager
async def served(handler: Handler, **options: Any) -> AsyncIterator[KubeApi]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    api = KubeApi(Access("c", f"http://127.0.0.1:{port}", "", lambda: "t"), **options)
    try:
        yield api
    finally:
        await api.close()
        await runner.cleanup()


def run(body: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(30):
            await body()

    asyncio.run(bounded())


class Server:
    """Lists what it holds, and plays a script of watches: each a list of what is sent before it ends."""

    def __init__(self, held: list[dict[str, Any]], *watches: list[bytes]) -> None:
        self.held, self.watches = held, list(watches)
        self.lists, self.since = 0, list[str]()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            self.lists += 1
            return web.json_response({"items": self.held, "metadata": {"resourceVersion": "10"}})
        self.since.append(request.query["resourceVersion"])
        response = web.StreamResponse()
        await response.prepare(request)
        if not self.watches:
            await asyncio.sleep(30)
        for part in self.watches.pop(0):
            await response.write(part)
        return response


async def watched(server: Server, until: Callable[[Informer], bool]) -> list[tuple[str, str]]:
    """Run an informer until it knows something; return what it told."""
    told: list[tuple[str, str]] = []

    def heard(kind: Kind, old: Object | None, new: Object | None) -> None:
        del kind
        what = "changed" if old and new else "made" if new else "gone"
        told.append((what, name_of(new or old or {})))

    async with served(server.answer) as api:
        informer = Informer(api, Watch(CONFIG_MAP, "ns"), heard)
        async with background(informer.run()):
            while not until(informer):
                await asyncio.sleep(0.01)
    return told


def text(informer: Informer, name: str) -> str:
    found = informer.store.get("ns", name)
    return str(found["data"]["k"]) if found else ""


def test_what_a_watch_says_is_kept_and_told() -> None:
    server = Server(
        [config_map("a", 1), config_map("b", 2)],
        [event("MODIFIED", config_map("a", 11, "x")), event("DELETED", config_map("b", 12))],
    )

    async def body() -> None:
        told = await watched(server, lambda it: it.store.get("ns", "b") is None and text(it, "a") == "x")

        assert told == [("made", "a"), ("made", "b"), ("changed", "a"), ("gone", "b")]

    run(body)


def test_a_history_that_is_lost_is_listed_anew() -> None:
    server = Server([config_map("a", 1)], [event("ERROR", status(410, "Expired"))])

    async def body() -> None:
        await watched(server, lambda it: server.lists == 2 and not it.why)

        assert server.lists == 2

    run(body)


def test_what_went_while_nobody_looked_is_told_as_gone() -> None:
    server = Server([config_map("a", 1)], [event("ERROR", status(410, "Expired"))])

    async def body() -> None:
        def gone(informer: Informer) -> bool:
            server.held = [] if server.lists else server.held
            return server.lists == 2 and len(informer.store) == 0

        told = await watched(server, gone)

        assert told[-1] == ("gone", "a")

    run(body)


def test_a_watch_goes_on_from_where_it_was() -> None:
    server = Server([], [event("ADDED", config_map("a", 15))], [event("BOOKMARK", config_map("", 20))])

    async def body() -> None:
        await watched(server, lambda _: len(server.since) == 3)

        assert server.since == ["10", "15", "20"]
        assert server.lists == 1

    run(body)


def test_an_object_may_be_larger_than_any_part_and_half_of_one_is_none() -> None:
    large = event("ADDED", config_map("a", 11, "x" * 1_000_000))
    server = Server([], [large[:100], large[100:], event("ADDED", config_map("b", 12))[:50]])

    async def body() -> None:
        told = await watched(server, lambda it: len(server.since) == 2 and bool(text(it, "a")))

        assert told == [("made", "a")]

    run(body)


def test_an_old_event_does_not_undo_what_we_wrote() -> None:
    server = Server([config_map("a", 1)], [event("MODIFIED", config_map("a", 15, "old"))])

    async def body() -> None:
        async with served(server.answer) as api:
            informer = Informer(api, Watch(CONFIG_MAP, "ns"), lambda *_: None)
            informer.keep(config_map("a", 20, "new"))
            async with background(informer.run()):
                while len(server.since) < 2:
                    await asyncio.sleep(0.01)

            assert text(informer, "a") == "new"

    run(body)


def test_a_kind_that_cannot_be_listed_is_unread() -> None:
    async def refuse(request: web.Request) -> web.StreamResponse:
        del request
        return web.json_response(status(403, "Forbidden"), status=403)

    async def body() -> None:
        async with served(refuse) as api:
            informer = Informer(api, Watch(CONFIG_MAP, "ns"), lambda *_: None)
            async with background(informer.run()):
                while "Forbidden" not in informer.unread(60):
                    await asyncio.sleep(0.01)

            assert not informer.synced.is_set()

    run(body)


@pytest.mark.parametrize(
    ("code", "answer", "kind"),
    [
        pytest.param(404, status(404, "NotFound", name="a"), Absent, id="not-there"),
        pytest.param(404, status(404, "NotFound", name="b"), Unknown, id="another-is-not-there"),
        pytest.param(404, "a proxy's page", Unknown, id="a-proxy"),
        pytest.param(500, status(500, "InternalError"), Unknown, id="broken"),
        pytest.param(200, CONFIG_MAP.object("a", "ns"), Found, id="there"),
    ],
)
def test_only_the_api_s_own_word_is_absence(code: int, answer: object, kind: type) -> None:
    async def reply(request: web.Request) -> web.StreamResponse:
        assert request.headers["Authorization"] == "Bearer t"
        return web.json_response(answer, status=code)

    async def body() -> None:
        async with served(reply) as api:
            assert isinstance(await api.get(CONFIG_MAP, "a", "ns"), kind)

    run(body)


def test_no_answer_has_an_end() -> None:
    async def silent(request: web.Request) -> web.StreamResponse:
        del request
        await asyncio.sleep(30)
        return web.Response()

    async def body() -> None:
        async with served(silent, deadline=0.1) as api:
            found = await api.get(CONFIG_MAP, "a", "ns")

        assert isinstance(found, Unknown)
        assert "no answer within the deadline" in found.why

    run(body)


def executes(*messages: bytes, silent: bool = False) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(protocols=("v4.channel.k8s.io",))
        await socket.prepare(request)
        for message in messages:
            await socket.send_bytes(message)
        if silent:
            await asyncio.sleep(30)
        await socket.close()
        return socket

    return handler


SUCCESS = b"\x03" + json.dumps({"status": "Success"}).encode()
FAILURE = (
    b"\x03"
    + json.dumps(
        {"status": "Failure", "details": {"causes": [{"reason": "ExitCode", "message": "7"}]}}
    ).encode()
)


async def ran(api: KubeApi, timeout: float = 10) -> Executed:
    return await kube_exec.execute(api, "p", "ns", ["echo", "a b"], container="c", timeout=timeout)


def test_a_command_s_words_and_exit_code_come_back() -> None:
    async def body() -> None:
        async with served(executes(b"\x01one ", b"\x02oh", b"\x01two", SUCCESS)) as api:
            assert await ran(api) == Executed(0, "one two", "oh")
        async with served(executes(b"\x01x", FAILURE)) as api:
            assert (await ran(api)).code == 7

    run(body)


@pytest.mark.parametrize(
    ("handler", "why"),
    [
        pytest.param(executes(b"\x01half"), "ended before the command did", id="cut-off"),
        pytest.param(executes(silent=True), "has not ended in 0.2 s", id="silent"),
    ],
)
def test_half_an_answer_is_none(handler: Handler, why: str) -> None:
    async def body() -> None:
        async with served(handler) as api:
            with pytest.raises(KubeError, match=why):
                await ran(api, timeout=0.2)

    run(body)
