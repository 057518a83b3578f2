"""Reads the world of one cluster: from the caches, from the last poll, and what its resources name."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from typing import Any

from npa.operator import kinds
from npa.operator.caches import Caches
from npa.operator.slurm_poll import Poll
from npa.reconcile.world import Key, World
from npa.render.objects import (
    CONFIG_MAP,
    JAILED_CONFIG,
    NODE,
    NODE_SET,
    POWER_STATE,
    SECRET,
    SLURM_CLUSTER,
    STORAGE_CLASS,
    Kind,
    Object,
    dig,
    name_of,
)
from npa.slurm.lookup import Found, Lookup, Unknown
from npa.tools.kube_api import KubeApi

_REMEMBERED = 10_000  # entries of what is kept to be faster
FRESH = 15.0  # seconds for which an object that is named, and not ours to watch, is not read again


class Gather:
    """Makes a World of what is known, for whoever is about to decide."""

    def __init__(self, api: KubeApi, caches: Caches, poll: Poll) -> None:
        self._api, self._caches, self._poll = api, caches, poll
        self._named: dict[tuple[Kind, str, str], tuple[float, Lookup[Object]]] = {}
        self._wanted: dict[
            tuple[str, int], frozenset[tuple[Kind, str]]
        ] = {}  # uid, generation -> what it names

    async def world(self, namespace: str, cluster: str, about: tuple[Kind, Object] | None = None) -> World:
        """Return the world of a cluster; of one object and what it owns where it belongs to none."""
        store = self._caches.store
        found = store(SLURM_CLUSTER).get(namespace, cluster)
        held = self._caches.of_cluster(NODE_SET, namespace, cluster) if cluster else ()
        nodesets = tuple(sorted(held, key=name_of))
        objects: dict[Key, Object] = {}
        entry = (namespace, cluster)
        if not cluster and about is not None:
            entry = (kinds.OWNER, str(dig(about[1], "metadata", "uid")))
            objects[about[0].kind, name_of(about[1])] = about[1]
        for kind in self._caches.kinds():
            word = kind.kind
            objects.update(((word, called), each) for (_, called), each in store(kind).named(entry))
        for state in self._caches.of_cluster(POWER_STATE, namespace, cluster) if cluster else ():
            objects[POWER_STATE.kind, name_of(state)] = state
        for each in store(STORAGE_CLASS):
            objects[STORAGE_CLASS.kind, name_of(each)] = each
        unread = dict(self._caches.unread())
        for why in await self._names(namespace, found, nodesets, objects):
            unread.setdefault(*why)
        return World(
            cluster=found,
            nodesets=nodesets,
            objects=objects,
            nodes={called: node for (_, called), node in store(NODE).items()},
            unread=tuple(sorted(unread)),
            absent_apis=self._caches.absent,
            slurm=self._poll.view((namespace, cluster)),
            now=time.time(),
        )

    async def _names(
        self,
        namespace: str,
        cluster: Object | None,
        nodesets: tuple[Object, ...],
        objects: dict[Key, Object],
    ) -> list[tuple[str, str]]:
        """Add the objects that resources name and that are not labelled as the cluster's.

        Returns the kinds of which one could not be read, and why.
        """
        jailed = (each for (kind, _), each in objects.items() if kind == JAILED_CONFIG.kind)
        sources = [each for each in (cluster, *nodesets, *jailed) if each is not None]
        wanted: frozenset[tuple[Kind, str]] = frozenset().union(*map(self._references, sources))
        missing = sorted((kind.kind, name, kind) for kind, name in wanted if (kind.kind, name) not in objects)
        answers = await asyncio.gather(*(self._read(kind, namespace, name) for _, name, kind in missing))
        unread = []
        for (called, name, _), answer in zip(missing, answers, strict=True):
            if isinstance(answer, Found):
                objects[called, name] = answer.value
            elif isinstance(answer, Unknown):
                unread.append((called, f"{name}: {answer.why}"))
        return unread

    def _references(self, found: Object) -> frozenset[tuple[Kind, str]]:
        """Return what an object names; looked for once in each generation of its spec."""
        uid, generation = dig(found, "metadata", "uid"), dig(found, "metadata", "generation")
        if not uid or not generation:
            return frozenset(references(found.get("spec")))
        key = (str(uid), int(generation))
        if key not in self._wanted:
            if len(self._wanted) > _REMEMBERED:
                self._wanted.clear()
            self._wanted[key] = frozenset(references(found.get("spec")))
        return self._wanted[key]

    async def _read(self, kind: Kind, namespace: str, name: str) -> Lookup[Object]:
        key, now = (kind, namespace, name), time.monotonic()
        kept = self._named.get(key)
        if kept is not None and now - kept[0] < FRESH:
            return kept[1]
        answer = await self._api.get(kind, name, namespace)
        self._named[key] = (now, answer)
        if len(self._named) > _REMEMBERED:
            self._named = {each: value for each, value in self._named.items() if now - value[0] < FRESH}
        return answer


_REFERENCES: Mapping[str, Kind] = {
    "sshdConfigMapRefName": CONFIG_MAP,
    "sssdLdapCAConfigMapRefName": CONFIG_MAP,
    "sssdConfSecretRefName": SECRET,
    "sshdKeysName": SECRET,
    "mungeKeyName": SECRET,
    "secretName": SECRET,
}
_OBJECTS: Mapping[str, Kind] = {
    "passwordSecretKeyRef": SECRET,
    "configMap": CONFIG_MAP,
    "configMapKeyRef": CONFIG_MAP,
    "secretKeyRef": SECRET,
}


def references(spec: Any) -> Iterator[tuple[Kind, str]]:
    """Yield the Secrets and ConfigMaps that a resource names, by the fields that name them."""
    if isinstance(spec, list):
        for each in spec:
            yield from references(each)
    if not isinstance(spec, Mapping):
        return
    for key, value in spec.items():
        if key in _REFERENCES and isinstance(value, str) and value:
            yield _REFERENCES[key], value
        elif key in _OBJECTS and isinstance(name := dig(value, "name"), str) and name:
            yield _OBJECTS[key], name
        else:
            yield from references(value)
