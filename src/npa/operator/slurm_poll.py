"""Asks each cluster's slurmctld what it has, by commands in its pod, again and again."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from npa.errors import KubeError, NpaError, SlurmError, UnknownError
from npa.operator.runtime.metrics import Metrics
from npa.reconcile.world import SlurmView
from npa.render.kube import names
from npa.render.objects import POD, Object, dig
from npa.slurm import replies
from npa.slurm.lookup import Found, Lookup, Unknown
from npa.tools import kube_exec
from npa.tools.kube_api import KubeApi

_LOG = logging.getLogger(__name__)
DEADLINE = 20.0  # seconds for one command
DIGEST = "/run/npa/config-digest"  # what slurmctld runs with, as the image writes it

Cluster = tuple[str, str]  # namespace, name
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Controller:
    """The pod of a slurmctld, and the container in it."""

    namespace: str
    pod: str
    container: str


class Slurm:
    """Slurm's commands in the controller pods of clusters."""

    def __init__(
        self,
        api: KubeApi,
        pod: Callable[[str, str], Object | None],  # what the cache holds of it
        metrics: Metrics,
        *,
        deadline: float = DEADLINE,
    ) -> None:
        self._api, self._pod, self._metrics, self._deadline = api, pod, metrics, deadline

    async def view(self, cluster: Cluster) -> SlurmView:
        """Return what slurmctld says now; Unknown wherever it says nothing readable."""
        began = time.time()  # what is read is at least as new
        controller = await self._controller(cluster)
        if not isinstance(controller, Found):
            return SlurmView(controller, controller, controller, began)
        at = controller.value
        nodes, jobs, digest = await asyncio.gather(
            self._read(at, ["scontrol", "show", "nodes", "--json"], lambda t: replies.nodes(replies.load(t))),
            self._read(at, ["squeue", "--json"], lambda t: replies.jobs(replies.load(t))),
            self._read(at, ["cat", DIGEST], _digest),
        )
        return SlurmView(nodes, jobs, digest, began)

    async def node(self, cluster: Cluster, name: str) -> SlurmView:
        """Return what slurmctld says of one node now, and of the jobs on it."""
        began = time.time()
        controller = await self._controller(cluster)
        if not isinstance(controller, Found):
            return SlurmView(controller, controller, controller, began)
        at = controller.value
        shown = ["scontrol", "show", "node", name, "--json"]
        queued = ["squeue", "--json", "--nodelist", name]
        nodes, jobs = await asyncio.gather(
            self._read(at, shown, lambda text: replies.nodes(replies.load(text))),
            self._read(at, queued, lambda text: replies.jobs(replies.load(text))),
        )
        return SlurmView(nodes, jobs, read_at=began)

    async def tell(self, cluster: Cluster, argv: Sequence[str], *, timeout: float = DEADLINE) -> None:
        """Run a command that changes something; SlurmError unless it exits 0."""
        controller = await self._controller(cluster)
        if not isinstance(controller, Found):
            why = controller.why if isinstance(controller, Unknown) else "it has no pod"
            raise UnknownError(f"slurmctld cannot be told: {why}")
        done = await self._run(controller.value, argv, timeout)
        self._metrics.slurm.labels(argv[0].rpartition("/")[2], "failed" if done[0] else "ok").inc()
        if done[0]:
            said = (done[2].strip() or done[1].strip() or "no output").splitlines()[-1]
            raise SlurmError(f"`{' '.join(argv[:2])}`: {said}", status=done[0])

    async def _controller(self, cluster: Cluster) -> Lookup[Controller]:
        """Return where slurmctld runs; Absent only where the API itself says that there is no pod."""
        namespace, name = cluster[0], names.controller_pod(cluster[1])
        pod = self._pod(namespace, name)
        if pod is None:
            found = await self._api.get(POD, name, namespace)
            if not isinstance(found, Found):
                return found
            pod = found.value
        if dig(pod, "status", "phase") != "Running":
            return Unknown(f"the pod {name} is {dig(pod, 'status', 'phase') or 'not started'}")
        listed = [str(each.get("name")) for each in dig(pod, "spec", "containers") or ()]
        container = "slurmctld" if "slurmctld" in listed else next(iter(listed), "")
        return Found(Controller(namespace, name, container))

    async def _read(
        self, at: Controller, argv: Sequence[str], parse: Callable[[str], _T]
    ) -> Found[_T] | Unknown:
        try:
            code, stdout, stderr = await self._run(at, argv, self._deadline)
            if code:
                said = (stderr.strip() or "no output").splitlines()[-1]
                raise UnknownError(f"`{argv[0]}` exited {code}: {said}")
            answer = Found(parse(stdout))
        except NpaError as error:
            self._metrics.slurm.labels(argv[0], "unknown").inc()
            return Unknown(str(error))
        self._metrics.slurm.labels(argv[0], "ok").inc()
        return answer

    async def _run(self, at: Controller, argv: Sequence[str], timeout: float) -> tuple[int, str, str]:
        try:
            done = await kube_exec.execute(
                self._api, at.pod, at.namespace, argv, container=at.container, timeout=timeout
            )
        except KubeError as error:
            raise UnknownError(error.reason) from error
        return done.code, done.stdout, done.stderr


class Poll:
    """Keeps a SlurmView of each cluster, and says which of them changed."""

    def __init__(
        self,
        slurm: Slurm,
        clusters: Callable[[], Sequence[Cluster]],
        heard: Callable[[Cluster], None],
        every: float = 5.0,
    ) -> None:
        self._slurm, self._clusters, self._heard, self._every = slurm, clusters, heard, every
        self._views: dict[Cluster, SlurmView] = {}
        self._asking: dict[Cluster, asyncio.Task[None]] = {}

    def view(self, cluster: Cluster) -> SlurmView:
        """Return what was read last; one that nobody asked yet is asked now."""
        if cluster not in self._views and cluster in self._clusters():
            self.soon(cluster)
        return self._views.get(cluster, SlurmView())

    async def run(self) -> None:
        """Ask for ever, one after the other; one that does not answer holds up none of the others."""
        while True:
            wanted = set(self._clusters())
            for gone in set(self._views) - wanted:
                del self._views[gone]
            for cluster in wanted:
                self.soon(cluster)
                await asyncio.sleep(self._every / len(wanted))
            if not wanted:
                await asyncio.sleep(self._every)

    def soon(self, cluster: Cluster) -> None:
        """Have a cluster asked now, unless it is being asked."""
        if cluster not in self._asking:
            self._asking[cluster] = asyncio.create_task(self.ask(cluster))

    async def ask(self, cluster: Cluster) -> None:
        """Ask one cluster now."""
        try:
            new = await self._slurm.view(cluster)
        except Exception:
            _LOG.exception("asking slurmctld of %s/%s", *cluster)
            new = SlurmView(read_at=time.time())
        finally:
            self._asking.pop(cluster, None)
        old = self._views.get(cluster)
        if old is not None and replace(old, read_at=new.read_at) == new:
            self._views[cluster] = replace(old, read_at=new.read_at)  # the same objects: nothing to decide
            return
        self._views[cluster] = new
        self._heard(cluster)


def _digest(text: str) -> str:
    found = text.strip()
    if not found:
        raise UnknownError(f"{DIGEST} is empty")
    return found
