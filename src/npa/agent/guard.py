"""What stands before every request: the token, and a look at how long it says that it is."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from npa.agent.token import Token
from npa.api.failure import SCHEMA_VERSION

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY = 2 << 20  # bytes; a spec has a kilobyte
OPEN = frozenset({"/healthz"})


class Guard:
    """Lets a request through that has the token and does not announce too much.

    What is longer than it announced, or announces nothing, is cut off by the application itself.
    """

    def __init__(self, app: App, token: Token, limit: int = MAX_BODY) -> None:
        self._app, self._token, self._limit = app, token, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        if scope["path"] not in OPEN and not self._token.admits(_text(headers.get(b"authorization"))):
            # Not where the token is: whoever asks may be anybody.
            hint = "send `Authorization: Bearer TOKEN`; the server said where the token is when it began"
            more = [(b"www-authenticate", b"Bearer")]
            await _refuse(send, 401, "unauthorized", "no token, or a wrong one", hint, more)
            return
        declared = _text(headers.get(b"content-length"))
        if declared.isdecimal() and int(declared) > self._limit:
            await self._too_large(send)
            return
        await self._app(scope, receive, send)

    async def _too_large(self, send: Send) -> None:
        what = f"the body is longer than {self._limit} bytes"
        await _refuse(send, 413, "too-large", what, "is it the right file?", [(b"connection", b"close")])


def refusal(code: str, message: str, hint: str = "") -> dict[str, Any]:
    """Return the document of an error that HTTP itself has."""
    error = {"code": code, "message": message, "hint": hint, "problems": []}
    return {"schema_version": SCHEMA_VERSION, "ok": False, "error": error}


async def _refuse(
    send: Send, status: int, code: str, message: str, hint: str, more: list[tuple[bytes, bytes]]
) -> None:
    body = json.dumps(refusal(code, message, hint)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _text(header: bytes | None) -> str:
    return (header or b"").decode("latin-1")
