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
from pathlib import Path
from statistics import median
from typing import Any

from bench import machine, node, report
from bench.failover import percentile
from bench.kubelet import place
from bench.operator_process import Process, running, up
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
from npa.render.objects import CONFIG_MAP, SLURM_CLUSTER, name_of
from npa.tools.kube_api import KubeApi

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "performance-operator.md"
TITLE = ("# Performance\n", "# Performance of the operator\n")
ABOUT = (
    "Clusters have accounting and the REST API; memory counts shared pages once.",
    "API server and etcd are real and on the same machine; there are no nodes: pods are said to run. What\n"
    "is `in memory` is simulated, the rest measured. Seconds depend on whatever else the machine does, see\n"
    "the load; seconds of CPU, of the process itself and in the kernel, do so much less.",
)
CLUSTERS, CHANGES, IDLE = 40, 100, 30.0
SIZES = (1_000, 10_000)
GARBAGE = (
    "400"  # API server and etcd are young here: at 100 they would collect garbage for a third of their time
)


async def convergence(bed: Bed, work: Path) -> list[Row]:
    """Measure clusters that come to be, changes of them, and the silence afterwards."""
    space = "clusters"
    async with place(bed, space) as api:
        with running(bed, work, space) as process:
            await up(process)
            empty = process.memory()
            rows = await asked_at_once(bed, api, process, space)
            taken, late = await changes(api, space)
            await process.settled()
            before = await process.writes()
            await asyncio.sleep(IDLE)
            idle = (await process.writes() - before) / IDLE * 60
        rows += await no_op(bed, space)
    p99 = f"p99 {percentile(late, 99) * 1000:.0f} ms of {len(late)} changes, aimed at 100"
    own = f"until the API server has taken it p99 {percentile(taken, 99) * 1000:.0f} ms"
    what = "from a change of a cluster to its files (p50)"
    return [
        *rows,
        Row(what, "ms", (median(late) * 1000,), bound=f"{p99}; {own}"),
        Row("writes when idle", "a minute", (idle,), aim=0),
        Row("memory without clusters", "MiB", (empty,)),
    ]


async def asked_at_once(bed: Bed, api: KubeApi, process: Process, space: str) -> list[Row]:
    """Measure clusters that are asked for at once, until the last of them has settled."""
    began, spent, below = time.perf_counter(), process.cpu(), _below(bed)
    for number in range(CLUSTERS):
        await api.create(cluster(f"c{number}", space))
        await api.create(nodeset(f"w{number}", f"c{number}", space))
    rate = CLUSTERS / (await process.settled() - began)
    own, theirs = (process.cpu() - spent) / CLUSTERS, (_below(bed) - below) / CLUSTERS
    writes = await process.writes() / CLUSTERS
    cores = os.cpu_count() or 1
    most = f"aimed at 20; {writes:.0f} writes each. {cores} idle cores could do {cores / (own + theirs):.0f}"
    return [
        Row(f"clusters that converge, of {CLUSTERS} asked for at once", "a second", (rate,), bound=most),
        Row(
            "the operator's CPU for each of them",
            "ms",
            (own * 1000,),
            aim=50.0,
            bound="other work on the machine makes it dearer: see the load",
        ),
        Row("the API server's and etcd's CPU for each", "ms", (theirs * 1000,), bound="at GOGC=400"),
    ]


def _below(bed: Bed) -> float:
    """Return the CPU seconds that Kubernetes itself has taken."""
    return machine.cpu_of("kube-mini", "etcd", state=bed.state)


async def changes(api: KubeApi, namespace: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Change clusters one after the other; return the seconds until each was taken, and its first write."""
    listed = await api.list(CONFIG_MAP, namespace)
    written = asyncio.Queue[None]()

    async def watch() -> None:
        async for change, _ in api.watch(CONFIG_MAP, namespace, since=listed.resource_version):
            if change == "MODIFIED":
                written.put_nowait(None)

    taken, took = [], []
    async with background(watch()):
        for number in range(CHANGES):
            body = {"spec": {"customSlurmConfig": f"SchedulerParameters=bf_max_job_test={100 + number}"}}
            began = time.perf_counter()
            await api.patch(SLURM_CLUSTER, f"c{number % CLUSTERS}", namespace, body)
            taken.append(time.perf_counter() - began)
            async with asyncio.timeout(30):
                await written.get()
            took.append(time.perf_counter() - began)
    return tuple(taken), tuple(took)


async def no_op(bed: Bed, namespace: str) -> list[Row]:
    """Measure passes over objects that are settled: recognised as such, and decided anew."""
    async with operating.operating(bed.access, controllers(), Settings(namespaces=(namespace,))) as operator:
        await operating.eventually(lambda: not operator.ready(), "it knows everything")
        await operating.settled(operator)
        keys = operator.every_key()

        async def round_of_passes() -> tuple[float, float]:
            began, spent = time.perf_counter(), time.process_time()
            for key in keys:
                operator.queue.add(key, now=True)
            while not operator.queue.idle:
                await asyncio.sleep(0.002)
            return len(keys) / (time.perf_counter() - began), (time.process_time() - spent) / len(keys)

        await round_of_passes()
        known = [await round_of_passes() for _ in range(5)]
        anew = []
        for _ in range(5):
            operator.reconciler.settled.forget()
            anew.append(await round_of_passes())
    return [
        row
        for what, found in (
            ("passes over what has not changed", known),
            ("the same, each decided anew", anew),
        )
        for row in (
            Row(what, "a second", tuple(rate for rate, _ in found), bound="aimed at 500 or more"),
            Row("the CPU of each", "ms", tuple(cpu * 1000 for _, cpu in found), aim=2.0),
        )
    ]


async def scale(bed: Bed, work: Path, size: int) -> list[Row]:
    """Measure a NodeSet of many workers."""
    space = f"workers{size}"
    async with place(bed, space) as api:
        with running(bed, work, space) as process:
            await api.create(cluster("c", space))
            await up(process)
            before, spent = await process.writes(), process.cpu()
            began = time.perf_counter()
            await api.create(nodeset("w", "c", space, replicas=size, maxUnavailable=500))
            while await made(api, space) < size:
                await asyncio.sleep(0.5)
            took = await process.settled() - began
            own = (process.cpu() - spent) / size
            beyond = (await process.writes() - before - size) / size
            memory = process.memory()
    label = f"{size:,} workers"
    return [
        Row(f"{label} planned, in memory", "s", planned(size), aim=2.0),
        Row(f"{label} made and settled", "s", (took,)),
        Row(f"{label}: the operator's CPU for each", "ms", (own * 1000,)),
        Row(f"{label}: writes for each besides its creation", "", (beyond,), aim=1.0),
        Row(f"memory with {label}", "MiB", (memory,), aim=150.0 if size == SIZES[0] else None),
    ]


async def made(api: KubeApi, namespace: str) -> int:
    """Return how many pods are there; with a selector the API would not count those that it does not show."""
    found = await api.call("GET", f"/api/v1/namespaces/{namespace}/pods", query={"limit": "1"})
    return int(found["metadata"].get("remainingItemCount") or 0) + len(found["items"])


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


def main() -> None:
    """Measure, and write the page."""
    rows: list[Row] = []
    sizes = tuple(map(int, sys.argv[1:])) or SIZES
    with beds.started("mini", GOGC=GARBAGE) as bed, tempfile.TemporaryDirectory() as folder:
        operating.define(bed)
        work = Path(folder)
        rows += map(say, asyncio.run(convergence(bed, work)))
        for size in sizes:
            rows += map(say, asyncio.run(scale(bed, work, size)))
            if not sys.argv[1:]:
                PAGE.write_text(page(rows))  # the larger ones take long: what is known is kept
    if not sys.argv[1:]:
        rows += map(say, node.rows())
        PAGE.write_text(page(rows))


def page(rows: list[Row]) -> str:
    """Return the page."""
    text = report.render(rows, machine.facts("none"))
    return text.replace(*TITLE).replace(*ABOUT).replace("`make bench`", "`make bench-operator`")


if __name__ == "__main__":
    main()
