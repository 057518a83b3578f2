"""The tools over the Model Context Protocol, on stdin and stdout or over HTTP."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import mcp_types as types
from anyio import to_thread
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

import npa
from npa.agent import jobtools, registry, stream
from npa.agent.guard import MAX_BODY, App, Guard
from npa.agent.jobs import Jobs
from npa.agent.token import Token
from npa.agent.tool import Tool
from npa.api import failure
from npa.plan.model import Event

PATH = "/mcp"
GRACE = 30.0  # seconds that running jobs are given to end once the client has gone
INSTRUCTIONS = (
    "Slurm clusters from one file. Begin with infra.soperator.validate and infra.soperator.plan. A tool that "
    "changes something needs `dry_run` false and the `digest` of the plan that you were shown; show that "
    "plan to a person first. A call that takes long goes on as a job when you stop waiting: see "
    "infra.jobs.list."
)
Context = Any  # the SDK's own, of one request


def server(tools: Sequence[Tool[Any]], jobs: Jobs) -> Server[Any]:
    """Return the server of these tools and of the tools that look at its jobs."""
    known = (*tools, *jobtools.tools(jobs))

    async def listed(_: Context, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(each) for each in known])

    async def called(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            tool = registry.find(params.name, known)
            asked = registry.read(tool, params.arguments or {})
            if await to_thread.run_sync(tool.claims, asked):
                job = await to_thread.run_sync(jobs.start, tool, asked)
                # Whoever stops waiting leaves the job running: its document is under `infra.jobs.status`.
                async for told in stream.follow(job):
                    if told is not None:
                        await context.session.report_progress(told.number, None, _said(job.id, told.event))
                document, _ = job.result()
            else:
                document, _ = await to_thread.run_sync(registry.call, tool, asked, _unheard)
        except Exception as error:  # the edge of the program: each ends as a document
            document, _ = failure.described(error)
        return _result(document)

    return Server(
        "npa",
        version=npa.__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=listed,
        on_call_tool=called,
    )


async def serve_stdio(tools: Sequence[Tool[Any]], jobs: Jobs) -> None:
    """Serve one client on stdin and stdout until it goes; running jobs stop before their next step."""
    served = server(tools, jobs)
    try:
        async with stdio_server() as (read, write):
            await served.run(read, write, served.create_initialization_options())
    finally:
        jobs.close()
        jobs.join(GRACE)


def app(tools: Sequence[Tool[Any]], jobs: Jobs, token: Token) -> App:
    """Return the ASGI application of the streamable HTTP transport, for whoever has the token."""
    served = server(tools, jobs)
    return Guard(served.streamable_http_app(streamable_http_path=PATH, max_request_body_size=MAX_BODY), token)


def _described(tool: Tool[Any]) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.summary,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.effect == "reads",
            destructive_hint=tool.effect == "destroys",
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


def _result(document: dict[str, Any]) -> types.CallToolResult:
    failed = "error" in document
    text = types.TextContent(type="text", text=json.dumps(document))
    # A failure is not what the output schema says, so it is text alone.
    return types.CallToolResult(
        content=[text], structured_content=None if failed else document, is_error=failed
    )


def _said(job: str, event: Event) -> str:
    return f"job {job}: {event.kind}: {event.message}"


def _unheard(_: Event) -> None:
    """Nobody listens to what ends soon."""
