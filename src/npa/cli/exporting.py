"""`npa operator exporter`: figures of a Slurm cluster for Prometheus."""

from __future__ import annotations

import logging
import os
import re
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from npa.cli import operator_options as given
from npa.cli import screen
from npa.errors import UsageError

_UNITS = {"y": 31_536_000, "w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1, "ms": 0.001}

Server = Annotated[str, typer.Option("--server", metavar="URL", help="Where slurmrestd is.")]
Key = Annotated[
    Path | None,
    typer.Option("--key", metavar="PATH", help="slurmctld's key (rest_jwt.key): tokens are made by it."),
]
User = Annotated[str, typer.Option("--user", metavar="NAME", help="Whose tokens are made.")]
Interval = Annotated[str, typer.Option("--interval", metavar="TIME", help="How often Slurm is asked: 30s.")]
Most = Annotated[
    int, typer.Option("--max-inflight", min=1, help="Questions to a source that are open at once.")
]
Jobs = Annotated[Literal["controller", "accounting"], typer.Option("--jobs", help="Who is asked about jobs.")]
Lookback = Annotated[
    str, typer.Option("--lookback", metavar="TIME", help="How far back accounting is asked: 1h.")
]
Listen = Annotated[str, typer.Option("--listen", metavar="ADDRESS", help="Where it listens.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Serve /metrics; 0: any port.")]
OwnPort = Annotated[
    int, typer.Option("--own-port", min=0, max=65535, help="Serve /health, /ready and its own /metrics.")
]


def exporter(
    server: Server = "http://localhost:6820",
    key: Key = None,
    user: User = "root",
    interval: Interval = "30s",
    max_inflight: Most = 1,
    jobs: Jobs = "controller",
    lookback: Lookback = "1h",
    listen: Listen = "0.0.0.0",
    port: Port = 8080,
    own_port: OwnPort = 8081,
    log_level: given.LogLevel = "info",
) -> None:
    """Show Prometheus the nodes and jobs of a Slurm cluster, as slurmrestd tells them, until stopped.

    Without --key a token is taken from SLURM_JWT, as `scontrol token` prints it.

    \b
    npa operator exporter --server http://rest:6820 --key /mnt/rest-jwt-key/rest_jwt.key
    env $(scontrol token lifespan=86400) npa operator exporter --port 9100
    """
    import asyncio

    from npa.cli.operator import needs_extra

    needs_extra()
    from npa.operator.exporter.main import Serving, export
    from npa.operator.exporter.questions import Options
    from npa.tools import slurmrest

    logging.basicConfig(
        stream=sys.stderr, level=log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    token = slurmrest.signed(key, user) if key else slurmrest.given(os.environ.get("SLURM_JWT", ""))
    options = Options(
        interval=_seconds("--interval", interval),
        most=max_inflight,
        accounting=jobs == "accounting",
        lookback=_seconds("--lookback", lookback),
    )

    def told(at: int, own: int) -> None:
        screen.progress(f"figures at port {at}, its own at port {own}")

    asyncio.run(export(server, token, options, Serving(listen, port, own_port), told))


def _seconds(option: str, text: str) -> float:
    """Return a time as a SlurmCluster writes it."""
    parts = re.findall(r"([0-9]+)(ms|[ywdhms])", text)
    found = sum(int(count) * _UNITS[unit] for count, unit in parts)
    if not found or "".join(count + unit for count, unit in parts) != text:
        raise UsageError(f"{option}: {text[:40]!r} is no time", hint="write it as in 30s or 1h30m")
    return found
