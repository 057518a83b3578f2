"""One pass over one object: gather, decide, act; and what is said where that fails."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from npa.errors import KubeError, SlurmError, SpecError
from npa.operator import kinds
from npa.operator.act import Act, NoLeaderError, Target
from npa.operator.caches import Caches
from npa.operator.gather import Gather
from npa.operator.keys import Controller, Key
from npa.operator.pace import Pace
from npa.operator.runtime.workers import Looked
from npa.operator.settled import Settled
from npa.reconcile.decision import Decision, Notice
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.objects import CLAIM, NODE_SET, POD, SLURM_CLUSTER, Kind, Object

_TELL = 3  # failures in a row before an object is told
_BIG = 2_000  # objects of a cluster from which on a decision has a thread of its own
_REASONS = {SpecError: "InvalidSpec", KubeError: "KubernetesError", SlurmError: "SlurmError"}


class Reconciler:
    """Looks at keys."""

    def __init__(
        self,
        controllers: Iterable[Controller],
        settings: Settings,
        caches: Caches,
        gather: Gather,
        act: Act,
        told: Callable[[str, str], None],  # a cluster (namespace, name) whose Slurm was told something
    ) -> None:
        self._controllers = {each.name: each for each in controllers}
        self._settings, self._caches, self._gather = settings, caches, gather
        self._act, self._told = act, told
        self._pace, self.settled = Pace(), Settled()

    async def look(self, key: Key) -> Looked:
        """Look at an object once, and do what is decided."""
        controller = self._controllers[key.controller]
        found = self._caches.store(controller.kind).get(key.namespace, key.name)
        cluster = self._cluster(controller.kind, key, found)
        if found is None and not cluster:
            return Looked()
        about = (controller.kind, found) if found is not None else None
        world = await self._gather.world(key.namespace, cluster, about)
        decision, took = self.settled.recall(key, world), 0.0
        if decision is None:
            decision, took = await self._decide(controller, world, key.name)
            self.settled.note(key, world, decision)
        if decision.settled and found is None:
            return Looked(again_in=decision.again_in, seconds=took)
        if (wait := self._pace.wait(key, decision)) > 0:
            return Looked(again_in=wait, seconds=took)
        try:
            wrote = await self._act.do(Target(controller.kind, (key.namespace, cluster), found), decision)
        finally:
            if decision.slurm:
                self._told(key.namespace, cluster)
        self._pace.note(key, decision)
        return Looked(wrote, decision.again_in, took)

    async def failed(self, key: Key, error: Exception, failures: int) -> None:
        """Say on an object that looking at it fails, once it is no passing thing."""
        if isinstance(error, NoLeaderError) or (failures < _TELL and not isinstance(error, SpecError)):
            return
        controller = self._controllers[key.controller]
        found = self._caches.store(controller.kind).get(key.namespace, key.name)
        if found is None:
            return
        reason = next((word for kind, word in _REASONS.items() if isinstance(error, kind)), "InternalError")
        message = str(error) or type(error).__name__
        cluster = self._caches.cluster_of(controller.kind, found)
        target = Target(controller.kind, (key.namespace, cluster), found)
        await self._act.failed(target, reason, message, datetime.now(UTC))
        await self._act.tell(found, Notice("Warning", reason, message))

    async def _decide(self, controller: Controller, world: World, name: str) -> tuple[Decision, float]:
        """Return what is decided, and the seconds that it took of the processor."""

        def decide() -> tuple[Decision, float]:
            began = time.thread_time()
            decision = controller.decide(world, name, self._settings)
            return decision, time.thread_time() - began

        return decide() if len(world.objects) < _BIG else await asyncio.to_thread(decide)

    def _cluster(self, kind: Kind, key: Key, found: Object | None) -> str:
        """Return the cluster of what a key names, also where only workers are left of it."""
        if found is not None or kind == SLURM_CLUSTER:
            return self._caches.cluster_of(kind, found) if found is not None else key.name
        entry = kinds.left(key.namespace, key.name) if kind == NODE_SET else None
        left = (each for kind in (POD, CLAIM) for each in self._caches.store(kind).by(entry))
        return next((self._caches.cluster_of(POD, each) for each in left), "")
