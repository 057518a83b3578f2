"""Measures the operator on a real API server and writes docs/reference/performance-operator.md.

`make bench-operator`. The API server keeps objects as a real one does; there are no nodes, so the bench says
of pods that they run, and of the Job that fills the jail that it is done.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp
from bench import machine, report
from bench.failover import percentile
from bench.report import Row
from bench.timing import say
from tests.kube import bed as beds
from tests.kube import operating
from tests.kube.bed import Bed
from tests.kube.clusters import cluster, nodeset

from npa.operator.controllers import controllers
from npa.operator.runtime.tasks import background
from npa.reconcile import nodeset as workers
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.objects import CONFIG_MAP, JOB, NAMESPACE, POD, SLURM_CLUSTER, Kind, Object, name_of
from npa.tools.kube_api import KubeApi

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "performance-operator.md"
TITLE = ("# Performance\n", "# Performance of the operator\n")
ABOUT = (
    "Clusters have accounting and the REST API; memory counts shared pages once.",
    "API server and etcd are real and on the same machine; there are no nodes: pods are said to run.\n"
    "What is `in memory` is simulated, the rest measured. Other work on the machine counts: see the load.",
)
CLUSTERS, CHANGES, IDLE = 40, 100, 60.0
SIZES = (1_000, 10_000)
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
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

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


class Kubelet:
    """Says of each pod that it runs and of each Job that it is done."""

    def __init__(self, api: KubeApi, namespace: str) -> None:
        self._api, self._namespace = api, namespace

    async def run(self) -> None:
        """Do it for whatever is made."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch(POD, {"phase": "Running", "conditions": [_true("Ready")]}))
            group.create_task(self._watch(JOB, {"succeeded": 1, "conditions": [_true("Complete")]}))

    async def _watch(self, kind: Kind, status: dict[str, Any]) -> None:
        listed = await self._api.list(kind, self._namespace)
        since, limit = listed.resource_version, asyncio.Semaphore(8)

        async def say(found: Object) -> None:
            async with limit:
                body = {"status": {**status, "podIP": "10.0.0.1"} if kind == POD else status}
                await self._api.patch(kind, name_of(found), self._namespace, body, subresource="status")

        async with asyncio.TaskGroup() as group:
            while True:
                async for change, found in self._api.watch(kind, self._namespace, since=since):
                    since = found["metadata"]["resourceVersion"]
                    if change == "ADDED":
                        group.create_task(say(found))


def _true(kind: str) -> dict[str, str]:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"type": kind, "status": "True", "lastTransitionTime": now}


@asynccontextmanager
async def place(bed: Bed, namespace: str) -> AsyncIterator[KubeApi]:
    """Give a client, in a namespace where pods come to run."""
    api = KubeApi(bed.access, manager="bench")
    try:
        await api.apply(NAMESPACE.object(namespace))
        async with background(Kubelet(api, namespace).run()):
            yield api
    finally:
        await api.close()


async def convergence(bed: Bed, work: Path) -> list[Row]:
    """Measure clusters that come to be, changes of them, and the silence afterwards."""
    space = "clusters"
    async with place(bed, space) as api:
        with running(bed, work, space) as process:
            await up(process)
            empty, spent = process.memory(), process.cpu()
            began = time.perf_counter()
            for number in range(CLUSTERS):
                await api.create(cluster(f"c{number}", space))
                await api.create(nodeset(f"w{number}", f"c{number}", space))
            rate = CLUSTERS / (await process.settled() - began)
            cpu, writes = (process.cpu() - spent) / CLUSTERS, await process.writes() / CLUSTERS
            late = await changes(api, space)
            await process.settled()
            before = await process.writes()
            await asyncio.sleep(IDLE)
            idle = (await process.writes() - before) / IDLE * 60
        passes, anew = await no_op(bed, space)
    return [
        Row(
            f"clusters that converge, with {CLUSTERS} asked for at once",
            "a second",
            (rate,),
            bound=f"aimed at 20; etcd and the API server share the machine, {writes:.0f} writes for each",
        ),
        Row("the operator's CPU for each of them", "s", (cpu,)),
        Row("passes over what has not changed", "a second", passes, bound="aimed at 500 or more"),
        Row("the same, each decided anew", "a second", anew),
        Row(
            "from a change of a cluster to its files (p50)",
            "ms",
            (median(late) * 1000,),
            bound=f"p99 {percentile(late, 99) * 1000:.0f} ms of {len(late)} changes, aimed at 100",
        ),
        Row("writes when idle", "a minute", (idle,), aim=0),
        Row("memory without clusters", "MiB", (empty,)),
    ]


async def changes(api: KubeApi, namespace: str) -> tuple[float, ...]:
    """Change clusters one after the other; return the seconds until the first write for each."""
    listed = await api.list(CONFIG_MAP, namespace)
    written = asyncio.Queue[None]()

    async def watch() -> None:
        async for change, _ in api.watch(CONFIG_MAP, namespace, since=listed.resource_version):
            if change == "MODIFIED":
                written.put_nowait(None)

    took = []
    async with background(watch()):
        for number in range(CHANGES):
            body = {"spec": {"customSlurmConfig": f"SchedulerParameters=bf_max_job_test={100 + number}"}}
            began = time.perf_counter()
            await api.patch(SLURM_CLUSTER, f"c{number % CLUSTERS}", namespace, body)
            async with asyncio.timeout(30):
                await written.get()
            took.append(time.perf_counter() - began)
    return tuple(took)


async def no_op(bed: Bed, namespace: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the passes per second over objects that are settled: recognised as such, and decided anew."""
    async with operating.operating(bed.access, controllers(), Settings(namespaces=(namespace,))) as operator:
        await operating.eventually(lambda: not operator.ready(), "it knows everything")
        await operating.settled(operator)
        keys = operator.every_key()

        async def round_of_passes() -> float:
            began = time.perf_counter()
            for key in keys:
                operator.queue.add(key, now=True)
            while not operator.queue.idle:
                await asyncio.sleep(0.002)
            return len(keys) / (time.perf_counter() - began)

        await round_of_passes()
        known = [await round_of_passes() for _ in range(5)]
        anew = []
        for _ in range(3):
            operator.reconciler.settled.forget()
            anew.append(await round_of_passes())
    return tuple(known), tuple(anew)


async def scale(bed: Bed, work: Path, size: int) -> list[Row]:
    """Measure a NodeSet of many workers."""
    space = f"workers{size}"
    async with place(bed, space) as api:
        with running(bed, work, space) as process:
            await api.create(cluster("c", space))
            await up(process)
            before = await process.writes()
            began = time.perf_counter()
            await api.create(nodeset("w", "c", space, replicas=size, maxUnavailable=500))
            while await made(api, space) < size:
                await asyncio.sleep(0.5)
            took = await process.settled() - began
            beyond = (await process.writes() - before - size) / size
            memory = process.memory()
    label = f"{size:,} workers"
    return [
        Row(f"{label} planned, in memory", "s", planned(size), aim=2.0),
        Row(f"{label} made and settled", "s", (took,)),
        Row(f"{label}: writes for each besides its creation", "", (beyond,), aim=1.0),
        Row(f"memory with {label}", "MiB", (memory,), aim=150.0 if size == SIZES[0] else None),
    ]


async def made(api: KubeApi, namespace: str) -> int:
    """Return how many workers are there."""
    found = await api.call(
        "GET",
        f"/api/v1/namespaces/{namespace}/pods",
        query={"limit": "1", "labelSelector": "slurm.nebius.ai/nodeset=w"},
    )
    left = found["metadata"].get("remainingItemCount")
    return int(left) + 1 if left is not None else len((await api.list(POD, namespace)).items)


def planned(size: int) -> tuple[float, ...]:
    """Return the seconds that deciding about many workers takes, with none of them there yet."""
    found = nodeset("w", "c", "ns", replicas=size, maxUnavailable=500)
    found["metadata"]["uid"] = "u"
    world = World(cluster("c", "ns"), (found,), now=time.time())
    return tuple(_timed(lambda: workers.decide(world, name_of(found), Settings())) for _ in range(3))


def _timed(act: Any) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    """Measure, and write the page."""
    rows: list[Row] = []
    sizes = tuple(map(int, sys.argv[1:])) or SIZES
    with beds.started("mini") as bed, tempfile.TemporaryDirectory() as folder:
        operating.define(bed)
        work = Path(folder)
        rows += map(say, asyncio.run(convergence(bed, work)))
        for size in sizes:
            rows += map(say, asyncio.run(scale(bed, work, size)))
            if not sys.argv[1:]:
                PAGE.write_text(page(rows))  # the larger ones take long: what is known is kept


def page(rows: list[Row]) -> str:
    """Return the page."""
    text = report.render(rows, machine.facts("none"))
    return text.replace(*TITLE).replace(*ABOUT).replace("`make bench`", "`make bench-operator`")


if __name__ == "__main__":
    main()
