"""The operator as a process that is measured."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
from bench import machine
from tests.kube import operating
from tests.kube.bed import Bed

QUIET = 2.0  # seconds without a write after which all is settled
LOOK = 0.25  # seconds between two looks at its figures, each of which costs it 3 ms
PATIENCE = 900.0


class Process:
    """`npa operator run`, and what it says of itself."""

    def __init__(self, pid: int, port: int) -> None:
        self.pid, self._url = pid, f"http://127.0.0.1:{port}/metrics"

    async def figures(self) -> dict[str, float]:
        """Return its metrics, summed over what is in braces."""
        async with aiohttp.ClientSession() as session, session.get(self._url) as answer:
            text = await answer.text()
        found: dict[str, float] = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                found[name.partition("{")[0]] = found.get(name.partition("{")[0], 0) + float(value)
        return found

    async def writes(self) -> float:
        """Return how often it has written."""
        return (await self.figures()).get("npa_operator_writes_total", 0)

    def memory(self) -> float:
        """Return its resident memory in MiB."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

    def cpu(self) -> float:
        """Return the CPU seconds that it has taken."""
        return machine.cpu(Path(f"/proc/{self.pid}"))

    async def settled(self) -> float:
        """Return when the last write was, once there has been none for a while."""
        last, since = -1.0, time.perf_counter()
        deadline = since + PATIENCE
        while time.perf_counter() - since < QUIET:
            if time.perf_counter() > deadline:
                raise SystemExit(f"error: the operator still writes after {PATIENCE:g} s")
            found = await self.figures()
            now = found.get("npa_operator_writes_total", 0) + found["npa_operator_queue_depth"] / 1000
            if now != last:
                last, since = now, time.perf_counter()
            await asyncio.sleep(LOOK)
        return since


@contextmanager
def running(bed: Bed, work: Path, namespace: str) -> Iterator[Process]:
    """Run the operator for one namespace as a process."""
    port = _free_port()
    options = ("--health-port", str(port), "--namespace", namespace, "--log-level", "warning")
    with operating.process(bed.kubeconfig, work / f"{namespace}.log", *options) as found:
        yield Process(found.pid, port)


async def up(process: Process) -> None:
    """Return once it answers and has looked at what is there."""
    deadline = time.perf_counter() + 60
    while True:
        try:
            await process.figures()
            break
        except aiohttp.ClientError:
            if time.perf_counter() > deadline:
                raise
            await asyncio.sleep(0.1)
    await process.settled()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
