"""An operator in this process or in its own, against a test bed; and a toy for it to look after."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from tests.kube.bed import Bed, until

from npa.crds import definitions
from npa.operator import pace
from npa.operator.keys import Controller
from npa.operator.main import Operator, Options
from npa.operator.runtime.tasks import background
from npa.reconcile.decision import Decision
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.kube import differs, names
from npa.render.objects import CONFIG_MAP, SLURM_CLUSTER, dig
from npa.tools.kube_access import Access
from npa.tools.kube_api import KubeApi

WITHIN = 30.0  # seconds for what should come at once


def toy(world: World, name: str, settings: Settings) -> Decision:
    """Decide that a cluster's ConfigMap says what the cluster says, and its status too."""
    del settings
    if world.cluster is None or "ConfigMap" in world.unread:
        return Decision()
    said = str(dig(world.cluster, "spec", "customSlurmConfig") or "")
    wanted = CONFIG_MAP.object(name, world.cluster["metadata"]["namespace"], data={"said": said})
    wanted["metadata"]["labels"] = names.labels(name, "common")
    status = {"phase": said}
    there = dig(world.cluster, "status")
    return Decision(apply=differs.pending([wanted], world.find), status=None if there == status else status)


TOY = (Controller("toy", SLURM_CLUSTER, lambda world, name, settings: toy(world, name, settings)),)


def define(bed: Bed) -> None:
    """Have a bed serve our kinds."""
    done = bed.apply(*definitions.render())
    assert done.code == 0, str(done)

    def served() -> bool:
        listed = (bed.kubectl("get", f"{api.plural}.slurm.nebius.ai", "-A") for api in definitions.APIS)
        return all(each.code == 0 for each in listed)

    assert until(served, "our kinds are served")


@asynccontextmanager
async def operating(
    access: Access,
    controllers: Sequence[Controller] = TOY,
    settings: Settings | None = None,
    options: Options | None = None,
) -> AsyncIterator[Operator]:
    """Run an operator beside a block."""
    api = KubeApi(access)
    stop = asyncio.Event()
    operator = Operator(api, options or Options(), settings or Settings(), controllers)

    async def run() -> None:
        await operator.run(stop)

    try:
        async with background(run()) as tasks:
            yield operator
            stop.set()
            await asyncio.wait(tasks, timeout=WITHIN)
    finally:
        await api.close()


async def eventually(look: Callable[[], Any], what: str, seconds: float = WITHIN) -> Any:
    """Return the first true value that `look` gives; fail, saying what did not come."""
    deadline = time.monotonic() + seconds
    while not (found := await asyncio.to_thread(look)):
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}; last seen: {found!r}"
        await asyncio.sleep(0.05)
    return found


async def settled(operator: Operator) -> None:
    """Return once nothing is looked at any more, and no status is put off; other timers may run."""
    since = time.monotonic()
    while time.monotonic() - since < pace.LEAST + 0.5:
        since = since if operator.queue.idle else time.monotonic()
        await asyncio.sleep(0.05)


async def look_again(operator: Operator) -> None:
    """Have every object looked at once more, and wait for that."""
    for key in operator.every_key():
        operator.queue.add(key, now=True)
    await settled(operator)


def writes(operator: Operator) -> dict[tuple[str, str], float]:
    """Return how often what was written."""
    samples = (each for metric in operator.metrics.writes.collect() for each in metric.samples)
    return {
        (each.labels["kind"], each.labels["verb"]): each.value
        for each in samples
        if each.name.endswith("_total")
    }


def run(body: Coroutine[Any, Any, None], seconds: float = 180.0) -> None:
    """Run a test's body in an event loop of its own."""

    async def bounded() -> None:
        async with asyncio.timeout(seconds):
            await body

    asyncio.run(bounded())


@contextmanager
def process(
    kubeconfig: Path, log: Path, *options: str, program: str = "npa.cli.main"
) -> Iterator[subprocess.Popen[bytes]]:
    """Run `npa operator run` as a process; it is stopped at the end unless it has ended."""
    argv = [sys.executable, "-c", f"import sys; from {program} import main; sys.exit(main())"]
    argv += ["operator", "run", "--kubeconfig", str(kubeconfig), *options]
    with log.open("wb") as out:
        running = subprocess.Popen(argv, stdout=out, stderr=out, env={**os.environ, "NO_COLOR": "1"})
        try:
            yield running
        finally:
            if running.poll() is None:
                running.send_signal(signal.SIGTERM)
                try:
                    running.wait(WITHIN)
                except subprocess.TimeoutExpired:
                    running.kill()
                    running.wait()
