"""The operator as a process: what is watched, who looks at what, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import uuid
from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from npa.errors import KubeError, SlurmError, SpecError
from npa.operator import keys, kinds
from npa.operator.act import Act, NoLeaderError, Target
from npa.operator.caches import Caches
from npa.operator.gather import Gather
from npa.operator.keys import Controller, Key
from npa.operator.notices import Notices
from npa.operator.runtime.leader import Leader
from npa.operator.runtime.lease import Terms
from npa.operator.runtime.metrics import Metrics
from npa.operator.runtime.queue import Queue
from npa.operator.runtime.workers import Looked, Workers
from npa.operator.slurm_poll import Cluster, Poll, Slurm
from npa.reconcile.decision import Decision, Notice
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.objects import POD, SLURM_CLUSTER, Kind, Object, dig, name_of
from npa.tools.kube_access import Access
from npa.tools.kube_api import KubeApi

_LOG = logging.getLogger(__name__)

LEASE = "npa-operator"
_SYNC = 30.0  # seconds for every kind to be listed; then it goes on with what is known, and says so
_GRACE = 10.0  # seconds for what is under way when it is told to end
_RESYNC = 600.0  # seconds after which everything is looked at although nothing changed
_TELL = 3  # failures in a row before an object is told
_BIG = 2_000  # objects of a cluster from which on a decision has a thread of its own
_REASONS = {SpecError: "InvalidSpec", KubeError: "KubernetesError", SlurmError: "SlurmError"}


@dataclass(frozen=True, slots=True)
class Options:
    """How the process is run; what decisions look at is in Settings."""

    namespaces: tuple[str, ...] = ()  # watched; empty: all
    leader_elect: bool = False
    lease_namespace: str = "default"
    workers: int = 16
    slurm_every: float = 5.0  # seconds between two polls of a slurmctld
    identity: str = field(default_factory=lambda: f"{socket.gethostname()}_{uuid.uuid4().hex[:8]}")


class Operator:
    """One process's worth of operator."""

    def __init__(
        self, api: KubeApi, options: Options, settings: Settings, controllers: Sequence[Controller]
    ) -> None:
        self._api, self._options, self._settings = api, options, settings
        self._controllers = {each.name: each for each in controllers}
        self.metrics = Metrics()
        self.queue: Queue[Key] = Queue()
        self.caches = Caches(api, options.namespaces, self._heard)
        space = options.lease_namespace
        self.leader = Leader(api, Terms(LEASE, space, options.identity)) if options.leader_elect else None
        self._slurm = Slurm(api, self._pod, self.metrics)
        self.poll = Poll(self._slurm, self._clusters, self._polled, options.slurm_every)
        self._gather = Gather(api, self.caches, self.poll)
        self._notices = Notices(api)
        self._act = Act(
            api,
            self._slurm,
            settings,
            self.metrics,
            leads=self.leads,
            keep=self.caches.keep,
            notices=self._notices,
        )
        self._workers = Workers(
            self.queue, self.look, self._failed, self.metrics, label=lambda key: key.controller
        )
        self.metrics.gauge(
            "npa_operator_queue_depth", "Objects to be looked at.", lambda: float(self.queue.depth)
        )
        self.metrics.gauge("npa_operator_leads", "1: this process writes.", lambda: float(self.leads()))
        self._working = False

    def leads(self) -> bool:
        """Say whether this process may write now."""
        return self.leader is None or self.leader.leads()

    def ready(self) -> str:
        """Say why this process does not serve its purpose yet; "" where it does."""
        unread = self.caches.unread()
        return "; ".join(f"{kind}: {why}" for kind, why in sorted(unread.items()))

    async def run(self, stop: asyncio.Event) -> bool:
        """Operate until told to stop; False where it ended because somebody else leads."""
        async with _background(self.caches.run(), *([self.leader.run()] if self.leader else ())) as watched:
            await self._begin(stop, watched)
            if not stop.is_set():
                async with _background(
                    self._workers.run(self._options.workers), self.poll.run(), self._resync()
                ) as working:
                    self._working = True
                    await self._until(stop, (*watched, *working))
                    await self._finish()
            lost = self.leader is not None and self.leader.lost.is_set()
            if self.leader is not None:
                await self.leader.release()
        return not lost

    async def look(self, key: Key) -> Looked:
        """Gather, decide, act: one pass over one object."""
        controller = self._controllers[key.controller]
        found = self.caches.store(controller.kind).get(key.namespace, key.name)
        if found is None and controller.kind != SLURM_CLUSTER:
            return Looked()
        cluster = kinds.cluster_of(controller.kind, found) if found is not None else key.name
        about = (controller.kind, found) if found is not None else None
        world = await self._gather.world(key.namespace, cluster, about)
        decision = await self._decide(controller, world, key.name)
        target = Target(controller.kind, (key.namespace, cluster), found)
        wrote = await self._act.do(target, decision)
        if decision.slurm:
            self.poll.soon((key.namespace, cluster))
        return Looked(wrote, decision.again_in)

    async def _decide(self, controller: Controller, world: World, name: str) -> Decision:
        if len(world.objects) < _BIG:
            return controller.decide(world, name, self._settings)
        return await asyncio.to_thread(controller.decide, world, name, self._settings)

    async def _begin(self, stop: asyncio.Event, tasks: Iterable[asyncio.Task[None]]) -> None:
        """Wait until everything is known and this process leads."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SYNC):
                await self._first(stop, asyncio.create_task(self.caches.synced()), *tasks)
        for kind, why in self.caches.unread().items():
            _LOG.warning("%s cannot be read: %s", kind, why)
        if self.leader is not None and not stop.is_set():
            await self._first(stop, asyncio.create_task(_wait(self.leader.elected)), *tasks)
        for key in self._all():
            self.queue.add(key)

    async def _until(self, stop: asyncio.Event, tasks: Iterable[asyncio.Task[None]]) -> None:
        await self._first(stop, *tasks)

    async def _first(self, stop: asyncio.Event, *tasks: asyncio.Task[None]) -> None:
        """Return once told to stop, or one of the tasks has ended; raise what it failed of."""
        told = asyncio.create_task(_wait(stop))
        try:
            done, _ = await asyncio.wait({told, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            told.cancel()
        for task in done - {told}:
            task.result()

    async def _finish(self) -> None:
        """Let what is under way end, for a while; the rest is done by whoever comes next."""
        self.queue.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                while self.queue.running:
                    await asyncio.sleep(0.02)

    async def _resync(self) -> None:
        while True:
            await asyncio.sleep(_RESYNC)
            for key in self._all():
                self.queue.add(key)

    async def _failed(self, key: Key, error: Exception, failures: int) -> None:
        if isinstance(error, NoLeaderError) or (failures < _TELL and not isinstance(error, SpecError)):
            return
        controller = self._controllers[key.controller]
        found = self.caches.store(controller.kind).get(key.namespace, key.name)
        if found is None:
            return
        reason = next((word for kind, word in _REASONS.items() if isinstance(error, kind)), "InternalError")
        message = str(error) or type(error).__name__
        target = Target(controller.kind, (key.namespace, kinds.cluster_of(controller.kind, found)), found)
        await self._act.failed(target, reason, message, datetime.now(UTC))
        if self.leads():
            await self._notices.tell(found, Notice("Warning", reason, message))

    def _heard(self, kind: Kind, old: Object | None, new: Object | None) -> None:
        if not keys.matters(old, new, kind):
            return
        found = new if new is not None else old
        if found is None:
            return
        if not dig(found, "metadata", "namespace"):
            for key in self._all():  # a Kubernetes node may concern every cluster
                self.queue.add(key)
            return
        asked = old is not None and dig(old, "metadata", "generation") != dig(found, "metadata", "generation")
        for key in keys.changed(self._controllers.values(), kind, found, self._of_cluster):
            self.queue.add(key, now=asked and self._controllers[key.controller].kind == kind)

    def _polled(self, cluster: Cluster) -> None:
        for controller in self._controllers.values():
            for name in self._of_cluster(controller.kind, *cluster):
                self.queue.add(Key(controller.name, cluster[0], name))

    def _of_cluster(self, kind: Kind, namespace: str, cluster: str) -> tuple[str, ...]:
        return tuple(name_of(each) for each in self.caches.store(kind).by((namespace, cluster)))

    def _all(self) -> list[Key]:
        return [
            Key(controller.name, str(dig(each, "metadata", "namespace")), name_of(each))
            for controller in self._controllers.values()
            for each in self.caches.store(controller.kind)
        ]

    def _clusters(self) -> list[Cluster]:
        found = self.caches.store(SLURM_CLUSTER)
        return [(str(dig(each, "metadata", "namespace")), name_of(each)) for each in found]

    def _pod(self, namespace: str, name: str) -> Object | None:
        return self.caches.store(POD).get(namespace, name)


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


@contextlib.asynccontextmanager
async def _background(*work: Coroutine[Any, Any, None]) -> AsyncIterator[tuple[asyncio.Task[None], ...]]:
    """Run coroutines beside a block; they are cancelled, and waited for, when it ends."""
    tasks = tuple(asyncio.create_task(each) for each in work)
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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
