"""All informers of the operator: one store per kind, whichever namespaces are watched."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from npa.operator import kinds
from npa.operator.runtime.informer import Heard, Informer, Watch
from npa.operator.runtime.store import Store, name
from npa.render.objects import NODE_SET, POWER_STATE, SLURM_CLUSTER, Kind, Object, dig, name_of
from npa.slurm.lookup import Absent, Found
from npa.tools.kube import kind_of
from npa.tools.kube_api import KubeApi

_LOG = logging.getLogger(__name__)
GRACE = 60.0  # seconds without a watch after which what is kept counts as unread
_DISCOVER = 60.0  # seconds between two looks for what somebody may have installed


@dataclass(frozen=True, slots=True)
class Kept:
    """One kind: what is kept of it, by whom."""

    store: Store
    informers: list[Informer] = field(default_factory=list)


class Caches:
    """What is known of every kind that is watched."""

    def __init__(
        self,
        api: KubeApi,
        namespaces: Iterable[str],
        heard: Heard,
        kinds_changed: Callable[[], None] = lambda: None,  # an optional kind is served now, or no more
    ) -> None:
        self._api, self._namespaces, self._heard = api, tuple(namespaces), heard
        self._kinds_changed, self._looked = kinds_changed, asyncio.Event()
        self._kept: dict[Kind, Kept] = {}
        self._by_name: dict[str, Kind] = {}
        self._started: set[Informer] = set()
        self.absent = frozenset(kind.crd for kind in kinds.OPTIONAL)
        self._unasked = set(kinds.OPTIONAL)  # of which nobody has said yet whether they are served
        for watch in kinds.watches(self._namespaces, (*kinds.RESOURCES, *kinds.CHILDREN, *kinds.OF_ALL)):
            self._add(watch)

    async def run(self) -> None:
        """Keep all of it up until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._start(group)
            while True:
                before = self.absent
                await self._discover()
                self._start(group)
                self._looked.set()
                if self.absent != before:
                    self._kinds_changed()
                await asyncio.sleep(_DISCOVER)

    async def synced(self) -> None:
        """Return once every kind was listed, those among them that only some clusters serve."""
        await self._looked.wait()
        for kept in list(self._kept.values()):
            for informer in kept.informers:
                await informer.synced.wait()

    def store(self, kind: Kind) -> Store:
        """Return what is kept of a kind."""
        return self._kept[kind].store

    def kinds(self) -> tuple[Kind, ...]:
        """Return the kinds that are watched."""
        return tuple(self._kept)

    def cluster_of(self, kind: Kind, found: Object) -> str:
        """Return the cluster that an object belongs to: the one it names, or the only one; "" for none."""
        said = kinds.cluster_of(kind, found)
        if kind == POWER_STATE and not said:
            nodeset = self.store(NODE_SET).get(name(found)[0], str(dig(found, "spec", "nodeSetRef")))
            return self.cluster_of(NODE_SET, nodeset) if nodeset is not None else ""
        if said != kinds.UNNAMED:
            return said
        there = self._clusters(name(found)[0])
        return name_of(there[0]) if len(there) == 1 else ""

    def of_cluster(self, kind: Kind, namespace: str, cluster: str) -> tuple[Object, ...]:
        """Return the objects of a kind that belong to a cluster."""
        found = self.store(kind).by((namespace, cluster))
        if kind == NODE_SET and len(self._clusters(namespace)) == 1:
            found += self.store(kind).by((namespace, kinds.UNNAMED))
        if kind == POWER_STATE:
            every = self.store(kind).by((namespace, kinds.EVERY))
            return tuple(each for each in every if self.cluster_of(kind, each) == cluster)
        return found

    def _clusters(self, namespace: str) -> tuple[Object, ...]:
        return self.store(SLURM_CLUSTER).by((namespace, kinds.EVERY))

    def unread(self) -> dict[str, str]:
        """Return the kinds that cannot be relied on, and why."""
        found = {kind.kind: "it is not known whether it is served" for kind in self._unasked}
        for kind, kept in self._kept.items():
            for informer in kept.informers:
                if why := informer.unread(GRACE):
                    found[kind.kind] = why
        return found

    def keep(self, written: Object) -> None:
        """Take over what a write of ours returned, where its kind is watched."""
        kind = self._by_name.get(str(written.get("kind")))
        if kind is None or kind_of(written).group != kind.group:
            return
        if (cluster := kinds.cluster_of(kind, written)) or kind in kinds.RESOURCES:
            _LOG.debug("wrote %s %s of %s", kind.kind, name_of(written), cluster)
            self._kept[kind].informers[0].keep(written)

    def _add(self, watch: Watch) -> None:
        kept = self._kept.setdefault(watch.kind, Kept(Store(watch.index)))
        kept.informers.append(Informer(self._api, watch, self._heard, store=kept.store))
        self._by_name[watch.kind.kind] = watch.kind

    def _start(self, group: asyncio.TaskGroup) -> None:
        for kept in self._kept.values():
            for informer in kept.informers:
                if informer not in self._started:
                    self._started.add(informer)
                    group.create_task(informer.run())

    async def _discover(self) -> None:
        """Look which optional kinds are served; what could not be asked stays as it was."""
        absent = set(self.absent)
        for kind in kinds.OPTIONAL:
            served = await self._api.served(kind)
            if isinstance(served, Found | Absent):
                self._unasked.discard(kind)
            if isinstance(served, Found):
                absent.discard(kind.crd)
                if kind not in self._kept:
                    for watch in kinds.watches(self._namespaces, (kind,)):
                        self._add(watch)
            elif isinstance(served, Absent):
                absent.add(kind.crd)
        self.absent = frozenset(absent)
