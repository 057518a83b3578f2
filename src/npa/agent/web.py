"""The tools over HTTP: what looks answers at once, what changes becomes a job."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from npa.agent import openapi, registry, stream
from npa.agent.guard import MAX_BODY, App, Guard, refusal
from npa.agent.jobs import LOG, Job, Jobs
from npa.agent.token import Token
from npa.agent.tool import Tool
from npa.api import failure
from npa.errors import NotFoundError, NpaError, RefusedError, SpecError
from npa.plan.model import Event
from npa.spec import catalog
from npa.spec.base import Model

Handler = Callable[[Request], Awaitable[Response]]
JOBS = "npa.jobs/v1"
TOOLS = "npa.tools/v1"
UNEXPECTED = 500


def app(tools: Sequence[Tool[Any]], jobs: Jobs, token: Token) -> App:
    """Return the ASGI application that serves these tools to whoever has the token."""
    routes = [
        Route("/healthz", _healthy, methods=["GET"]),
        Route("/openapi.json", _description(tools), methods=["GET"]),
        Route("/tools", _tool_list(tools), methods=["GET"]),
        Route("/jobs", _job_list(jobs), methods=["GET"]),
        Route("/jobs/{id}", _job(jobs), methods=["GET"]),
        Route("/jobs/{id}", _stop(jobs), methods=["DELETE"]),
        Route("/jobs/{id}/events", _events(jobs), methods=["GET"]),
        *(Route(openapi.path(each), _call(each, jobs), methods=["POST"]) for each in tools),
        *(
            Route(openapi.path_by_name(each), _look(each), methods=["GET"])
            for each in tools
            if openapi.by_name(each)
        ),
    ]
    # `Exception` itself is not caught by a handler here: Starlette would raise it once more.
    handlers: dict[Any, Any] = {HTTPException: _http_error}
    served = Starlette(routes=routes, exception_handlers=handlers, max_body_size=MAX_BODY)
    return Guard(served, token)


async def _healthy(_: Request) -> Response:
    return _json({"ok": True})


def _description(tools: Sequence[Tool[Any]]) -> Handler:
    document = openapi.describe(tools)

    async def handler(_: Request) -> Response:
        return _json(document)

    return handler


def _tool_list(tools: Sequence[Tool[Any]]) -> Handler:
    document = {"schema_version": TOOLS, "tools": [each.describe() for each in tools]}

    async def handler(_: Request) -> Response:
        return _json(document)

    return handler


def _call(tool: Tool[Any], jobs: Jobs) -> Handler:
    async def handler(request: Request) -> Response:
        try:
            asked = registry.read(tool, await _body(request))
            if await to_thread.run_sync(tool.claims, asked):
                return _begun(await to_thread.run_sync(jobs.start, tool, asked))
            return await _answered(tool, asked)
        except HTTPException:
            raise
        except Exception as error:  # the edge of the program: each ends as a document
            return _failed(error)

    return handler


def _look(tool: Tool[Any]) -> Handler:
    async def handler(request: Request) -> Response:
        try:
            return await _answered(tool, registry.read(tool, {"name": request.path_params["name"]}))
        except Exception as error:  # as above
            return _failed(error)

    return handler


async def _answered(tool: Tool[Any], asked: Model) -> Response:
    document, _ = await to_thread.run_sync(registry.call, tool, asked, _unheard)
    return _json(document)


def _begun(job: Job) -> Response:
    document = {
        **job.document(),
        "links": {"self": f"/jobs/{job.id}", "events": f"/jobs/{job.id}/events"},
    }
    return _json(document, 202, {"location": f"/jobs/{job.id}"})


def _job_list(jobs: Jobs) -> Handler:
    async def handler(_: Request) -> Response:
        found = [{**each.document(), "result": None} for each in jobs.all()]
        return _json({"schema_version": JOBS, "jobs": found})

    return handler


def _job(jobs: Jobs) -> Handler:
    async def handler(request: Request) -> Response:
        try:
            return _json(jobs.find(request.path_params["id"]).document())
        except NotFoundError as error:
            return _failed(error)

    return handler


def _stop(jobs: Jobs) -> Handler:
    async def handler(request: Request) -> Response:
        try:
            job = jobs.find(request.path_params["id"])
        except NotFoundError as error:
            return _failed(error)
        job.stop()
        return _json(job.document(), 202)

    return handler


def _events(jobs: Jobs) -> Handler:
    async def handler(request: Request) -> Response:
        try:
            job = jobs.find(request.path_params["id"])
        except NotFoundError as error:
            return _failed(error)
        last = request.headers.get("last-event-id", "")
        after = int(last) if last.isdecimal() and len(last) < 10 else 0
        headers = {"cache-control": "no-store"}
        if request.method == "HEAD":
            return Response(media_type="text/event-stream", headers=headers)
        return StreamingResponse(
            stream.server_sent(job, after), media_type="text/event-stream", headers=headers
        )

    return handler


async def _body(request: Request) -> Any:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "the body must be `application/json`")
    try:
        return json.loads(await request.body(), parse_constant=_no_constant)
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        raise HTTPException(400, "the body is not JSON") from None


def _no_constant(word: str) -> None:
    raise ValueError(word)


def _failed(error: Exception) -> Response:
    if status_of(error) == UNEXPECTED:
        LOG.error("unexpected", exc_info=error)
    document, _ = failure.described(error)
    if isinstance(error, SpecError):
        document["apiVersion"] = catalog.API_VERSION
    return _json(document, status_of(error))


def status_of(error: BaseException) -> int:
    """Return HTTP's word for an error."""
    if isinstance(error, NotFoundError):
        return 404
    if isinstance(error, RefusedError):
        return 409
    if isinstance(error, NpaError):
        return 400 if error.exit_code == 2 else 502
    return UNEXPECTED


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {
        400: "invalid-input",
        404: "not-found",
        405: "method-not-allowed",
        413: "too-large",
        415: "unsupported-media-type",
    }
    document = refusal(words.get(error.status_code, "http"), error.detail.lower(), "see /openapi.json")
    return _json(document, error.status_code, dict(error.headers or {}))


def _json(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    # ASCII: a caller's lone surrogate comes back as it was written, and is not an error of ours.
    return Response(json.dumps(document), status, headers, media_type="application/json")


def _unheard(_: Event) -> None:
    """Nobody listens to what ends soon."""
