"""What a client leaves behind where the API server says no goodbye."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from npa.operator.runtime import certificate, server
from npa.render.objects import CONFIG_MAP
from npa.tools.kube_access import Access
from npa.tools.kube_api import KubeApi

EVENT = b'{"type":"ADDED","object":{}}\n'
ANSWER = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(EVENT), EVENT)


@contextmanager
def answering(answer: bytes) -> Iterator[Access]:
    """Serve one request, which gets this answer; the end of the connection is never answered."""
    pair = certificate.make(["127.0.0.1"], datetime.now(UTC))
    context, done = server.tls(), threading.Event()
    server.take(context, pair)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with context.wrap_socket(listening.accept()[0], server_side=True) as connection:
                connection.recv(65536)
                connection.sendall(answer)
                done.wait(30)

        thread = threading.Thread(target=serve)
        thread.start()
        yield Access("c", f"https://127.0.0.1:{listening.getsockname()[1]}", pair.ca_pem, lambda: "")
        done.set()
        thread.join()


async def a_watch(api: KubeApi) -> None:
    watch = api.watch(CONFIG_MAP, since="1")
    assert await anext(watch) == ("ADDED", {})
    await watch.aclose()  # type: ignore[attr-defined]


async def a_call(api: KubeApi) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(api.list(CONFIG_MAP), 0.2)


@pytest.mark.parametrize(("given_up", "answer"), [(a_watch, ANSWER), (a_call, b"")])
def test_what_is_given_up_leaves_no_connection_open(
    given_up: Callable[[KubeApi], Awaitable[None]], answer: bytes
) -> None:
    async def body(access: Access) -> None:
        api = KubeApi(access)
        await given_up(api)
        await api.close()

    with answering(answer) as access, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        asyncio.run(body(access))
        gc.collect()

    assert [str(each.message) for each in said] == []
