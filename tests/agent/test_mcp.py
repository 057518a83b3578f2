"""The tools over the Model Context Protocol, with the SDK's own client, over stdio and over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from tests.agent import serving
from tests.fakes.tools import PATIENCE, Gate

from npa.agent import mcp, registry
from npa.agent.jobs import Jobs

SPEC = """\
name: lab
region: us-central1
workers:
  - {name: cpu, platform: cpu-d3, preset: 4vcpu-16gb}
"""
Said = Callable[[Client], Awaitable[None]]


@pytest.fixture
def program(tmp_path: Path) -> StdioServerParameters:
    env = {"NPA_STATE_DIR": str(tmp_path), "HOME": str(tmp_path), "NPA_CONFIG_DIR": str(tmp_path)}
    return StdioServerParameters(command=serving.NPA, args=["mcp"], env=env)


def talk(server: Any, said: Said) -> None:
    """Connect a client, and let a test say what it has to say."""

    async def session() -> None:
        async with Client(server, read_timeout_seconds=serving.PATIENCE) as client:
            await said(client)

    anyio.run(session)


@asynccontextmanager
async def remote(served: serving.Served, token: str = serving.TOKEN.value) -> AsyncIterator[Any]:
    """Give the transport of a server over HTTP."""
    head = {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=head, timeout=PATIENCE) as http,
        streamable_http_client(served.url + mcp.PATH, http_client=http) as streams,
    ):
        yield streams


def serve(gate: Gate) -> serving.Served:
    """Return a server with a tool that waits at its gate."""
    jobs = Jobs()
    return serving.Served(mcp.app((*registry.tools(), gate.tool()), jobs, serving.TOKEN), jobs)


@pytest.mark.slow
def test_the_tools_are_the_same_with_the_same_schemas(program: StdioServerParameters) -> None:
    async def said(client: Client) -> None:
        found = {each.name: each for each in (await client.list_tools()).tools}

        ours = {each.name: each for each in registry.tools()}
        assert found.keys() - ours.keys() == {"infra.jobs.list", "infra.jobs.status", "infra.jobs.stop"}
        for name, each in ours.items():
            assert found[name].input_schema == each.input_schema
            assert found[name].output_schema == each.output_schema

    talk(program, said)


@pytest.mark.slow
def test_a_tool_says_whether_it_only_looks(program: StdioServerParameters) -> None:
    async def said(client: Client) -> None:
        for each in (await client.list_tools()).tools:
            assert each.annotations is not None
            destroys = each.name.endswith((".deploy", ".destroy"))
            assert each.annotations.destructive_hint is destroys, each.name
            assert each.annotations.read_only_hint is not (destroys or each.name == "infra.jobs.stop"), (
                each.name
            )

    talk(program, said)


@pytest.mark.slow
def test_an_answer_is_structured_and_fits_its_schema(program: StdioServerParameters) -> None:
    async def said(client: Client) -> None:
        answer = await client.call_tool("infra.soperator.validate", {"spec": SPEC})  # the client validates it

        assert not answer.is_error
        assert answer.structured_content["name"] == "lab"
        assert json.loads(answer.content[0].text) == answer.structured_content  # type: ignore[union-attr]

    talk(program, said)


FAILURES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("infra.soperator.validate", {}, "invalid-input"),
    ("infra.soperator.validate", {"spec": "name: UPPER"}, "invalid-spec"),
    ("infra.soperator.plan", {"spec": "/etc/passwd"}, "invalid-spec"),
    ("infra.soperator.deploy", {"spec": SPEC, "spec_path": "x"}, "invalid-input"),
    ("infra.soperator.deploy", {"spec": SPEC, "dry_run": False}, "not-agreed"),
    ("infra.soperator.nothing", {}, "not-found"),
    ("infra.jobs.status", {"job": "0" * 12}, "not-found"),
)


@pytest.mark.slow
def test_a_failure_is_the_document_of_every_other_surface(program: StdioServerParameters) -> None:
    async def said(client: Client) -> None:
        for tool, arguments, code in FAILURES:
            answer = await client.session.call_tool(tool, arguments)

            assert answer.is_error, tool
            document = json.loads(answer.content[0].text)  # type: ignore[union-attr]
            assert (document["ok"], document["error"]["code"]) == (False, code), tool

    talk(program, said)


def test_a_change_tells_how_far_it_is() -> None:
    gate, heard = Gate(), list[str]()

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        assert (progress > 0, total) == (True, None)
        heard.append(message or "")
        gate.opened.set()

    async def said(client: Client) -> None:
        answer = await client.call_tool("infra.fake.change", {"name": "a"}, progress_callback=progressed)

        assert answer.structured_content["ok"] is True

    with serve(gate) as served:
        talk(remote(served), said)
        (job,) = served.jobs.all()

    assert heard == [f"job {job.id}: started: step one", f"job {job.id}: started: step two"]


def test_who_stops_waiting_leaves_the_job_running_and_finds_it_again() -> None:
    gate = Gate()

    async def said(client: Client) -> None:
        with anyio.move_on_after(PATIENCE) as waiting:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "infra.fake.change", {"name": "a"})
                await anyio.to_thread.run_sync(gate.reached.wait, PATIENCE)
                tasks.cancel_scope.cancel()
        assert not waiting.cancelled_caught
        (job,) = (await client.call_tool("infra.jobs.list", {})).structured_content["jobs"]
        assert job["state"] == "running"

        busy = await client.call_tool("infra.fake.change", {"name": "a"})
        assert json.loads(busy.content[0].text)["error"]["holder"]["job"] == job["id"]  # type: ignore[union-attr]

        stopping = await client.call_tool("infra.jobs.stop", {"job": job["id"]})
        assert stopping.structured_content["job"]["stopping"] is True

    with serve(gate) as served:
        talk(remote(served), said)
        gate.opened.set()
        (job,) = served.jobs.all()
        job.join(PATIENCE)

    assert job.state == "stopped"


def test_nobody_gets_in_without_the_token() -> None:
    async def said(_: Client) -> None:
        raise AssertionError("connected")

    with serve(Gate()) as served, pytest.raises(BaseExceptionGroup) as caught:
        talk(remote(served, "wrong"), said)

    assert caught.group_contains(MCPError) or caught.group_contains(httpx2.HTTPStatusError)
