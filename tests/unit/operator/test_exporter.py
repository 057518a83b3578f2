"""The exporter's process: what fails is counted and leaves what was known; a look asks nobody."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
import jwt
import pytest
from aiohttp import web
from prometheus_client.parser import text_string_to_metric_families as parsed

from npa.errors import RefusedError, UnknownError
from npa.metrics.snapshot import SOURCES, Source
from npa.operator.exporter.main import Serving, serve
from npa.operator.exporter.process import Exporter
from npa.operator.exporter.questions import Options, question
from npa.tools import slurmrest
from npa.tools.slurmrest import Slurmrest

SIZES = {"cpus": 8, "alloc_cpus": 0, "real_memory": 1024, "alloc_memory": 0}
NODES = {"nodes": [{"name": "gpu-0", "state": ["IDLE"], **SIZES}]}
ANSWERS: dict[str, Any] = {"nodes": NODES, "jobs": {"jobs": []}, "diag": {"statistics": {}}}


class Rest:
    """Answers as it is told; a text that is no document stands for what went wrong."""

    def __init__(self, **answers: Any) -> None:
        self.answers = {**ANSWERS, **answers}
        self.asked: list[str] = []
        self.held: asyncio.Event | None = None

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> bytes:
        self.asked.append(path + "".join(sorted(query or ())))
        if self.held is not None:
            await self.held.wait()
        answer = self.answers[path.rpartition("/")[2]]
        if isinstance(answer, Exception):
            raise answer
        return json.dumps(answer).encode()


def figures(text: bytes) -> dict[str, float]:
    """Return the samples whose labels are one at most, as `name` or `name/label`."""
    return {
        "/".join((sample.name, *sample.labels.values())): sample.value
        for each in parsed(text.decode())
        for sample in each.samples
        if len(sample.labels) < 2
    }


async def asked(exporter: Exporter, *sources: Source) -> None:
    for source in sources or SOURCES:
        await exporter.ask(source)


def test_a_failure_is_counted_and_leaves_what_was_known() -> None:
    async def main() -> dict[str, float]:
        rest = Rest()
        exporter = Exporter(rest, Options())
        await asked(exporter)
        rest.answers["nodes"] = UnknownError("slurmctld does not answer")
        await asked(exporter, "nodes", "nodes")
        return figures(await exporter.text())

    found = asyncio.run(main())

    assert found["slurm_node_cpus_total/gpu-0"] == 8
    assert found["slurm_exporter_collector_errors_total/nodes"] == 2
    assert found["slurm_exporter_collection_attempts_total"] == 5
    assert (
        found["slurm_exporter_snapshot_age_seconds/nodes"]
        >= found["slurm_exporter_snapshot_age_seconds/diag"]
    )


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(UnknownError("no"), id="unknown"),
        pytest.param(
            {"nodes": [], "errors": [{"error": "Protocol authentication error"}]}, id="error-within"
        ),
        pytest.param({"jobs": []}, id="another-document"),
        pytest.param("text", id="no-object"),
        pytest.param(ZeroDivisionError("a fault of ours"), id="fault"),
    ],
)
def test_without_an_answer_there_is_no_figure(answer: Any) -> None:
    async def main() -> tuple[dict[str, float], str]:
        exporter = Exporter(Rest(nodes=answer), Options())
        await asked(exporter)
        return figures(await exporter.text()), exporter.wrong()

    found, wrong = asyncio.run(main())

    assert not [name for name in found if name.startswith("slurm_node_")]
    assert "slurm_exporter_snapshot_age_seconds/nodes" not in found
    assert found["slurm_exporter_collector_errors_total/nodes"] == 1
    assert wrong == "nodes: no answer yet"


def test_a_row_that_cannot_be_read_leaves_the_others() -> None:
    async def main() -> dict[str, float]:
        rows = [*NODES["nodes"], {"name": "gpu-1", "state": ["IDLE"], **SIZES, "cpus": "many"}]
        exporter = Exporter(Rest(nodes={"nodes": rows}), Options())
        await asked(exporter)
        return figures(await exporter.text())

    found = asyncio.run(main())

    assert found["slurm_node_cpus_total/gpu-0"] == 8
    assert "slurm_node_cpus_total/gpu-1" not in found
    assert found["slurm_exporter_collector_unread_rows/nodes"] == 1


def test_a_question_is_not_asked_while_as_many_as_may_be_are_open() -> None:
    async def main() -> tuple[list[str], dict[str, float]]:
        rest = Rest()
        rest.held = asyncio.Event()
        exporter = Exporter(rest, Options(most=2))
        for _ in range(3):
            exporter.begin("nodes")
        await asyncio.sleep(0)
        opened = list(rest.asked)
        rest.held.set()
        while exporter.wrong().startswith("nodes"):
            await asyncio.sleep(0.001)
        return opened, figures(await exporter.text())

    opened, found = asyncio.run(main())

    assert opened == ["slurm/v0.0.42/nodes"] * 2
    assert found["slurm_exporter_collector_skipped_total/nodes"] == 1


def test_a_look_asks_nobody() -> None:
    async def main() -> int:
        rest = Rest()
        exporter = Exporter(rest, Options())
        await asked(exporter)
        async with (
            serve(exporter, Serving("127.0.0.1", 0, 0)) as (port, own),
            aiohttp.ClientSession() as web_,
        ):
            for _ in range(3):
                async with web_.get(f"http://127.0.0.1:{port}/metrics") as response:
                    text = await response.read()
            async with web_.get(f"http://127.0.0.1:{own}/metrics") as response:
                assert b"process_cpu_seconds" in await response.read()
        assert figures(text)["slurm_node_cpus_total/gpu-0"] == 8
        return len(rest.asked)

    assert asyncio.run(main()) == 3


def test_it_is_ready_once_every_source_answered() -> None:
    async def main() -> list[tuple[int, str]]:
        exporter = Exporter(Rest(), Options())
        seen = []
        async with serve(exporter, Serving("127.0.0.1", 0, 0)) as (_, own), aiohttp.ClientSession() as web_:
            for sources in (("nodes",), ("jobs", "diag")):
                await asked(exporter, *sources)
                async with web_.get(f"http://127.0.0.1:{own}/ready") as response:
                    seen.append((response.status, await response.text()))
        return seen

    assert asyncio.run(main()) == [(503, "jobs: no answer yet; diag: no answer yet\n"), (200, "ok\n")]


def test_accounting_is_asked_for_what_ended_lately() -> None:
    asked_for = question("jobs", Options(accounting=True, lookback=600), 1_800_000_000.0)

    assert (asked_for.path, asked_for.query) == ("slurmdb/v0.0.42/jobs", {"start_time": "1799999400"})


KEY = b"k" * 32


async def answered(token: slurmrest.Token, deadline: float = 5.0) -> bytes:
    """Ask a server that lets in whoever has a token by the key."""

    async def nodes(request: web.Request) -> web.Response:
        try:
            said = jwt.decode(request.headers["X-SLURM-USER-TOKEN"], KEY, algorithms=["HS256"])
        except jwt.PyJWTError:
            return web.json_response({"errors": [{"error": "Authentication failure"}]}, status=401)
        if said["sun"] == "slow":
            await asyncio.sleep(60)
        return web.json_response({"user": said["sun"]})

    app = web.Application()
    app.add_routes([web.get("/slurm/v0.0.42/nodes", nodes)])
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    rest = Slurmrest(f"http://127.0.0.1:{runner.addresses[0][1]}/", token, deadline=deadline)
    try:
        return await rest.get("slurm/v0.0.42/nodes")
    finally:
        await rest.close()
        await runner.cleanup()


def test_a_token_is_made_by_the_key_that_is_there_now(tmp_path: Path) -> None:
    """C44: none is kept, so none has to be renewed in time."""
    key = tmp_path / "rest_jwt.key"
    token = slurmrest.signed(key, "root")
    key.write_bytes(b"another key that was there before")
    key.write_bytes(KEY)

    assert json.loads(asyncio.run(answered(token))) == {"user": "root"}


def test_a_refusal_says_why() -> None:
    """C44: it is told, and asked again at the next look and no sooner."""
    with pytest.raises(UnknownError, match="status 401: Authentication failure"):
        asyncio.run(answered(slurmrest.given("SLURM_JWT=a.b.c\n")))


def test_an_answer_has_a_deadline(tmp_path: Path) -> None:
    key = tmp_path / "rest_jwt.key"
    key.write_bytes(KEY)

    with pytest.raises(UnknownError, match=r"no answer within 0\.05 s"):
        asyncio.run(answered(slurmrest.signed(key, "slow"), deadline=0.05))


def test_nobody_listening_is_unknown() -> None:
    async def main() -> None:
        rest = Slurmrest("http://127.0.0.1:9", slurmrest.given("token"))
        try:
            await rest.get("slurm/v0.0.42/nodes")
        finally:
            await rest.close()

    with pytest.raises(UnknownError, match="Cannot connect"):
        asyncio.run(main())


@pytest.mark.parametrize("text", ["", "SLURM_JWT=", "two\nlines"])
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(RefusedError, match="no token"):
        slurmrest.given(text)
