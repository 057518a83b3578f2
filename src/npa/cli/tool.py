"""Commands for programs: tool list, tool describe, tool run, serve, mcp."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from npa.cli import request, screen
from npa.cli.options import OutputKind
from npa.errors import Problem, ToolMissingError, UsageError

if TYPE_CHECKING:
    from npa.agent.server import Address
    from npa.plan.model import Event

LIST_VERSION = "npa.tools/v1"
EXTRA = "pip install 'npa[agent]'"

ToolName = Annotated[str, typer.Argument(metavar="TOOL", help="Name of a tool, as `npa tool list` shows it.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help="File with the bearer token, made where there is none; without it NPA_SERVE_TOKEN, else "
        "~/.npa/serve-token.",
    ),
]
Port = Annotated[int, typer.Option("--port", min=0, max=65_535, help="Port; 0 takes one that is free.")]


def list_(output: OutputKind = "text") -> None:
    """List the tools that programs may call.

    \b
    npa tool list
    npa tool list --output json | jq '.tools[].input_schema'
    """
    from npa.agent import registry
    from npa.health import text

    tools = registry.tools()
    if output == "json":
        screen.document({"schema_version": LIST_VERSION, "tools": [each.describe() for each in tools]})
    else:
        screen.data("\n".join(text.table([(each.name, each.effect, each.summary) for each in tools])))


def describe(tool: ToolName) -> None:
    """Print what a tool does, and the JSON Schemas of what goes in and comes out.

    \b
    npa tool describe infra.soperator.deploy
    """
    from npa.agent import registry

    found = registry.find(tool, registry.tools())
    screen.document({"schema_version": "npa.tool/v1", "ok": True, **found.describe()})


def run(
    tool: ToolName,
    input_: Annotated[
        str | None,
        typer.Option("--input", "-i", metavar="FILE", help="The input, a JSON object; `-` reads stdin."),
    ] = None,
    spec: Annotated[
        str | None,
        typer.Option("--spec", "-f", metavar="FILE", help="Put the text of this file into the field `spec`."),
    ] = None,
) -> None:
    """Call a tool and print its answer, one JSON document; also where it fails.

    Tools that change something show the plan unless the input says `"dry_run": false` and names the digest of
    the plan that was shown.

    \b
    npa tool run infra.soperator.plan --spec cluster.yaml
    npa tool run infra.soperator.destroy --input call.json
    """
    from npa.agent import registry

    found = registry.find(tool, registry.tools())
    document, code = registry.call(found, registry.read(found, _payload(input_, spec)), _tell)
    screen.document(document)
    raise typer.Exit(code)


def serve(
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Port = 7421,
    token_file: TokenFile = None,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let other machines in; needs TLS.")
    ] = False,
    tls_certificate: Annotated[
        Path | None, typer.Option("--tls-certificate", metavar="FILE", help="Certificate, PEM.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", metavar="FILE", help="Its key, PEM.")] = None,
) -> None:
    """Serve the tools over HTTP, on this machine alone, to whoever has the token.

    \b
    npa serve
    curl -H "Authorization: Bearer $(cat ~/.npa/serve-token)" http://127.0.0.1:7421/tools
    """
    _require_extra()
    from npa.agent import jobs, registry, server, token, web

    address = server.Address(host, port, allow_remote, tls_certificate, tls_key)
    server.check(address)
    secret, running = token.find(token_file), jobs.Jobs()
    _serve(web.app(registry.tools(), running, secret), running, address, secret.where, "")


def mcp(
    transport: Annotated[
        Literal["stdio", "http"],
        typer.Option("--transport", help="stdin and stdout of a client that starts this, or HTTP."),
    ] = "stdio",
    port: Port = 7422,
    token_file: TokenFile = None,
) -> None:
    """Serve the tools over the Model Context Protocol.

    \b
    npa mcp
    npa mcp --transport http --port 7422
    """
    _require_extra()
    from npa.agent import jobs, registry
    from npa.agent import mcp as protocol

    running = jobs.Jobs()
    if transport == "stdio":
        import anyio

        anyio.run(protocol.serve_stdio, registry.tools(), running)
        return
    from npa.agent import server, token

    address, secret = server.Address(port=port), token.find(token_file)
    _serve(protocol.app(registry.tools(), running, secret), running, address, secret.where, protocol.PATH)


def _serve(app: Any, running: Any, address: Address, where: str, path: str) -> None:
    from npa.agent import server

    with server.listen(address) as bound:
        served = server.Server(app, running, address, said=screen.progress)
        screen.progress(f"serving {server.url(address, bound)}{path}")
        screen.progress(f"the token is in {where}; Ctrl-C ends")
        # uvicorn ends in order on either signal, and then raises it once more for who was there before
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            served.run(sockets=[bound])
        except KeyboardInterrupt:
            screen.progress("ended")
        finally:
            signal.signal(signal.SIGTERM, before)


def _payload(path: str | None, spec: str | None) -> Any:
    from npa.agent.errors import InputError

    if path == spec == request.STDIN:
        raise UsageError("stdin can be one file only", hint="give `-` once")
    try:
        value = json.loads(request.read(path)) if path is not None else {}
    except (ValueError, RecursionError):
        raise InputError([Problem(0, 0, "", "is not JSON", "write a JSON object", path or "")]) from None
    if spec is not None and isinstance(value, dict):
        value = {**value, "spec": request.read(spec).decode("utf-8", "surrogateescape")}
    return value


def _tell(event: Event) -> None:
    if event.kind != "done":
        screen.progress(event.message)


def _require_extra() -> None:
    """Raise ToolMissingError where the packages of the servers are not installed."""
    from importlib.util import find_spec

    for package in ("mcp", "starlette", "uvicorn"):
        if find_spec(package) is None:
            raise ToolMissingError(package, hint=f"install what serves programs: {EXTRA}")
