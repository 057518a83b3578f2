"""The operator as a process: how it begins, what runs beside what, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from npa.operator import admission, keys, serving
from npa.operator.act import Act
from npa.operator.caches import Caches
from npa.operator.gather import Gather
from npa.operator.keys import Controller, Key
from npa.operator.notices import Notices
from npa.operator.reconciler import Reconciler
from npa.operator.runtime.leader import Leader
from npa.operator.runtime.lease import Terms
from npa.operator.runtime.metrics import Metrics
from npa.operator.runtime.queue import Queue
from npa.operator.runtime.tasks import background, first, wait
from npa.operator.runtime.workers import Workers
from npa.operator.serving import Serving
from npa.operator.slurm_poll import Cluster, Poll, Slurm
from npa.reconcile.settings import Settings
from npa.render.objects import CLAIM, NODE_SET, POD, SLURM_CLUSTER, Kind, Object, dig, name_of
from npa.tools.kube_access import Access
from npa.tools.kube_api import KubeApi

_LOG = logging.getLogger(__name__)

LEASE = "npa-operator"
_SYNC = 30.0  # seconds for every kind to be listed; then it goes on with what is known, and says so
_GRACE = 10.0  # seconds for what is under way when it is told to end
_SPACING = 0.25  # seconds between two looks at an object, unless somebody changed what is asked of it
_RESYNC = 600.0  # seconds after which everything is looked at although nothing changed


@dataclass(frozen=True, slots=True)
class Options:
    """How the process is run; what decisions look at is in Settings."""

    leader_elect: bool = False
    namespace: str = "default"  # of its own Lease and certificate
    workers: int = 16
    slurm_every: float = 5.0  # seconds between two polls of a slurmctld
    serving: Serving = field(default_factory=Serving)
    identity: str = field(default_factory=lambda: f"{socket.gethostname()}_{uuid.uuid4().hex[:8]}")


class Operator:
    """One process's worth of operator."""

    def __init__(
        self, api: KubeApi, options: Options, settings: Settings, controllers: Sequence[Controller]
    ) -> None:
        self._api, self._options, self._settings = api, options, settings
        self._controllers = tuple(controllers)
        self._kinds = {each.name: each.kind for each in controllers}
        self.metrics, self.queue = Metrics(), Queue[Key](spacing=_SPACING)
        self.caches = Caches(api, settings.namespaces, self._heard, self._every)
        terms = Terms(LEASE, options.namespace, options.identity)
        self.leader = Leader(api, terms) if options.leader_elect else None
        slurm = Slurm(api, lambda *pod: self.caches.store(POD).get(*pod), self.metrics)
        self.poll = Poll(slurm, self._clusters, self._polled, options.slurm_every)
        act = Act(
            api,
            slurm,
            settings,
            self.metrics,
            leads=self.leads,
            keep=self.caches.keep,
            notices=Notices(api),
        )
        gather = Gather(api, self.caches, self.poll)
        self.reconciler = Reconciler(
            controllers, settings, self.caches, gather, act, lambda *cluster: self.poll.soon(cluster)
        )
        self._show()

    def leads(self) -> bool:
        """Say whether this process may write now."""
        return self.leader is None or self.leader.leads()

    def ready(self) -> str:
        """Say why this process does not know enough yet; "" where it does."""
        return "; ".join(f"{kind}: {why}" for kind, why in sorted(self.caches.unread().items()))

    async def run(self, stop: asyncio.Event) -> bool:
        """Operate until told to stop; False where it ended because it lost the Lease."""
        others = (self.caches.run(), *([self.leader.run()] if self.leader else ()))
        asked, review = self._options.serving, admission.reviewer(self.caches, self._settings)
        async with (
            background(*others) as watched,
            serving.serve(self._api, asked, self.metrics, review, self.ready) as self.ports,
        ):
            await self._begin(stop, watched)
            if not stop.is_set():
                await self._work(stop, watched)
            lost = self.leader is not None and self.leader.lost.is_set()
            if self.leader is not None:
                await self.leader.release()
        return not lost

    async def _begin(self, stop: asyncio.Event, tasks: Iterable[asyncio.Task[None]]) -> None:
        """Wait until everything is known and this process leads."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SYNC), background(self.caches.synced()) as synced:
                await first(stop, *synced, *tasks)
        for kind, why in self.caches.unread().items():
            _LOG.warning("%s cannot be read: %s", kind, why)
        if self.leader is not None and not stop.is_set():
            async with background(wait(self.leader.elected)) as elected:
                await first(stop, *elected, *tasks)
        self._every()

    async def _work(self, stop: asyncio.Event, watched: Iterable[asyncio.Task[None]]) -> None:
        """Look at keys until told to stop; what is under way then may end, the rest is for whoever comes."""
        workers = Workers(
            self.queue,
            self.reconciler.look,
            self.reconciler.failed,
            self.metrics,
            label=lambda key: key.controller,
        )
        async with background(workers.run(self._options.workers), self.poll.run(), self._resync()) as working:
            _LOG.info("working on %d objects", self.queue.depth)
            await first(stop, *watched, *working)
            self.queue.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GRACE):
                    while self.queue.running:
                        await asyncio.sleep(0.02)

    async def _resync(self) -> None:
        while True:
            await asyncio.sleep(_RESYNC)
            self._every()

    def _every(self) -> None:
        for key in self.every_key():
            self.queue.add(key)

    def _heard(self, kind: Kind, old: Object | None, new: Object | None) -> None:
        found = new if new is not None else old
        if found is None or not keys.matters(old, new, kind):
            return
        if not kind.namespaced:
            self._every()  # a Kubernetes node may concern every cluster
            return
        asked = old is not None and dig(old, "metadata", "generation") != dig(found, "metadata", "generation")
        cluster = self.caches.cluster_of(kind, found)
        for key in keys.changed(self._controllers, kind, found, cluster, self._of_cluster):
            self.queue.add(key, now=asked and self._kinds[key.controller] == kind)

    def _polled(self, cluster: Cluster) -> None:
        for controller in self._controllers:
            names = self._of_cluster(controller.kind, *cluster) if controller.reads is None else ()
            for name in names:
                self.queue.add(Key(controller.name, cluster[0], name))

    def _of_cluster(self, kind: Kind, namespace: str, cluster: str) -> tuple[str, ...]:
        return tuple(name_of(each) for each in self.caches.of_cluster(kind, namespace, cluster))

    def every_key(self) -> set[Key]:
        """Return every key that there is something to look at for."""
        found = {
            Key(controller.name, str(dig(each, "metadata", "namespace")), name_of(each))
            for controller in self._controllers
            for each in self.caches.store(controller.kind)
        }
        sets = [each for each in self._controllers if each.kind == NODE_SET]
        left = (each for kind in (POD, CLAIM) for each in self.caches.store(kind))
        return found | {
            key
            for each in left
            for key in keys.changed(sets, POD, each, self.caches.cluster_of(POD, each), lambda *_: ())
        }

    def _clusters(self) -> list[Cluster]:
        found = self.caches.store(SLURM_CLUSTER)
        return [(str(dig(each, "metadata", "namespace")), name_of(each)) for each in found]

    def _show(self) -> None:
        gauge = self.metrics.gauge
        gauge("npa_operator_queue_depth", "Objects to be looked at.", lambda: float(self.queue.depth))
        gauge("npa_operator_leads", "1: this process writes.", lambda: float(self.leads()))


async def operate(
    access: Access, options: Options, settings: Settings, controllers: Sequence[Controller]
) -> bool:
    """Run the operator in this process until SIGTERM or Ctrl-C; False where it lost the Lease."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, stop.set)
    api = KubeApi(access)
    try:
        return await Operator(api, options, settings, controllers).run(stop)
    finally:
        await api.close()
