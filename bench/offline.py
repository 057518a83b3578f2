"""What takes time without a cluster: rendering, reading, planning and checking at the size of the largest."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from bench.report import Row
from bench.timing import say, timed

from npa.cluster.facts import Facts
from npa.cluster.model import Cluster
from npa.cluster.resolve import resolve
from npa.plan.model import Options
from npa.render.local import addresses, desired, nodes, steps
from npa.render.local.layout import Layout
from npa.render.local.world import Record, Running, World
from npa.slurm import files, lint
from npa.slurm.runtime import Runtime
from npa.spec import load
from npa.targets.local import gather
from npa.tools.slurm import Slurm

LAYOUT = Layout("/var/lib/npa/local/large")
TWIN = Runtime("v1", twin=True)
JOBS, NODES = 5_000, 500
RUNS = 5
READING = "Slurm's answer is read field by field, 7 kB a job"


def rows(spec: str, answers: Mapping[str, dict[str, Any]]) -> Iterator[Row]:
    """Time all of it; `spec` takes a name and a size, `answers` are those of a cluster with a job."""

    def cluster(size: int) -> Cluster:
        return resolve(load.parse(spec.format(name="large", size=size)), Facts(), "local")

    def render() -> None:
        large = cluster(10_000)
        desired.render(large, LAYOUT, TWIN, "0" * 16, addresses.assign({}, nodes.names(large)))

    yield _row("resolve and render of 10,000 nodes", render)
    yield _row(f"plan that shrinks {NODES} nodes with {JOBS:,} running jobs", _planning(cluster, answers))
    texts = {file.name: file.text for file in files.render(cluster(10_000), TWIN)}
    yield _row("lint of a configuration of 10,000 nodes", lambda: lint.check(texts, version="26.05"))


def _row(what: str, act: Callable[[], object]) -> Row:
    return say(Row(what, "s", tuple(timed(act) for _ in range(RUNS)), 1.0, READING))


def _planning(cluster: Callable[[int], Cluster], answers: Mapping[str, dict[str, Any]]) -> Callable[[], None]:
    """Return what reads and plans: ten jobs a node, the recorded one many times over."""
    before, after = cluster(NODES), cluster(NODES - 50)
    told = {
        "squeue": json.dumps(_many(answers["squeue"], "jobs", JOBS, _job)),
        "scontrol": json.dumps(_many(answers["scontrol"], "nodes", NODES, _node)),
    }
    known = addresses.assign({}, nodes.names(before))
    there = desired.render(before, LAYOUT, TWIN, "image", known)
    record = Record("large", "", "image", "/image", "26.05", {}, known, before)
    running = {
        node.name: Running(1, there.fingerprint(node), {process.name: 1 for process in node.processes})
        for node in there.nodes
    }
    texts = {each.path: each.text for each in there.files}
    world = World(record, image_cached=True, lab=1, nodes=running, files=texts)

    def plan() -> None:
        wanted = desired.render(after, LAYOUT, TWIN, "image", known)
        seen = gather.view(Slurm(lambda argv: told[argv[0]]))
        made = steps.plan(wanted, replace(world, slurm=seen), Options())
        assert sum(len(step.jobs) for step in made.steps if step.verb == "stop") == JOBS // 10

    return plan


def _job(job: dict[str, Any], index: int) -> dict[str, Any]:
    node = f"cpu-{index % NODES}"
    taken = job["job_resources"]
    taken = {**taken, "nodes": {**taken["nodes"], "list": node}}
    return {**job, "job_id": index + 1, "nodes": node, "job_resources": taken}


def _node(node: dict[str, Any], index: int) -> dict[str, Any]:
    return {**node, "name": f"cpu-{index}"}


def _many(
    answer: dict[str, Any], key: str, count: int, change: Callable[[dict[str, Any], int], dict[str, Any]]
) -> dict[str, Any]:
    """Return an answer with its first row many times over."""
    return {**answer, key: [change(answer[key][0], index) for index in range(count)]}
