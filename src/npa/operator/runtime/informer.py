"""Keeps a Store like the API server's objects of one kind: lists, watches, and begins again when it must."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from npa.errors import KubeError
from npa.operator.runtime import backoff
from npa.operator.runtime.store import Index, Store, name, version
from npa.render.objects import Kind, Object
from npa.tools.kube_api import KubeApi, gone

_LOG = logging.getLogger(__name__)

_PAUSE = 0.25  # seconds, so that nothing is asked in a tight loop

Trim = Callable[[Object], Object]


class Heard(Protocol):
    """Who is told of changes: what was kept before, and what is kept now; None where there is none."""

    def __call__(self, kind: Kind, old: Object | None, new: Object | None) -> None:
        """Take note; it may not block."""


def without_managers(found: Object) -> Object:
    """Return an object without `managedFields`, most of its size, which no decision reads."""
    metadata: dict[str, Any] = dict(found.get("metadata") or {})
    metadata.pop("managedFields", None)
    return {**found, "metadata": metadata}


@dataclass(frozen=True, slots=True)
class Watch:
    """Which objects of a kind are kept, and how much of each."""

    kind: Kind
    namespace: str = ""  # "": of all namespaces
    selector: str = ""
    trim: Trim = without_managers
    index: Callable[[Object], Iterable[Hashable]] = lambda _: ()


class Informer:
    """One Watch, kept up until the task that runs it is cancelled."""

    def __init__(self, api: KubeApi, watch: Watch, heard: Heard, *, store: Store | None = None) -> None:
        self._api, self.watch, self._heard = api, watch, heard
        self.store = store if store is not None else Store(watch.index)
        self.synced = asyncio.Event()
        self.why = "not listed yet"  # "": it is being watched
        self.failing_since = time.monotonic()
        self.relists = 0
        self._since = ""

    def unread(self, grace: float) -> str:
        """Say why what is kept cannot be relied on; "" where it can. A short break is nothing."""
        broken = bool(self.why) and time.monotonic() - self.failing_since > grace
        return self.why if broken or not self.synced.is_set() else ""

    async def run(self) -> None:
        """List and watch for ever."""
        failures = 0
        while True:
            try:
                if not self._since:
                    await self._list()
                await self._watch()
                failures = 0
            except KubeError as error:
                if gone(error):
                    self._since = ""
                    await asyncio.sleep(_PAUSE)
                    continue
                failures = 1 if not self.why else failures + 1
                self._broken(error, failures)
                # A server that lost its history may not say 410: after a while everything is read anew.
                self._since = "" if failures > 3 else self._since
                await asyncio.sleep(min(backoff.delay(failures, random.random()), 15.0))

    def keep(self, found: Object) -> None:
        """Take over what a write of our own returned, so that it need not come by the watch first."""
        self._put(found)

    def drop(self, found: Object) -> None:
        """Forget what the API says is gone."""
        if (old := self.store.remove(found)) is not None:
            self._heard(self.watch.kind, old, None)

    async def _list(self) -> None:
        listed = await self._api.list(self.watch.kind, self.watch.namespace, self.watch.selector)
        there = {name(each) for each in listed.items}
        for old in self.store:
            ours = self.watch.namespace in (
                "",
                name(old)[0],
            )  # others keep their namespaces in the same store
            if ours and name(old) not in there:
                self.drop(old)
        for each in listed.items:
            self._put(each)
        self._since = listed.resource_version
        self.relists += 1
        self._well()
        self.synced.set()

    async def _watch(self) -> None:
        watch = self.watch
        events = self._api.watch(watch.kind, watch.namespace, watch.selector, since=self._since)
        began = time.monotonic()
        async for change, found in events:
            self._well()
            if change == "DELETED":
                self.drop(found)
            elif change != "BOOKMARK":
                self._put(found)
            self._since = str(found["metadata"]["resourceVersion"])
        if time.monotonic() - began < _PAUSE:  # a server that is going away ends each watch at once
            await asyncio.sleep(_PAUSE)

    def _put(self, found: Object) -> None:
        kept = self.watch.trim(found)
        old = self.store.put(kept, version(found))
        if old is not kept and not _same(old, kept):
            self._heard(self.watch.kind, old, kept)

    def _well(self) -> None:
        if self.why:
            self.why = ""

    def _broken(self, error: KubeError, failures: int) -> None:
        if not self.why or failures == 1:
            self.failing_since = time.monotonic()
            _LOG.warning("%s: %s", self.watch.kind.plural, error.reason)
        self.why = error.reason


def _same(old: Object | None, new: Object) -> bool:
    """Say whether nothing changed but the version, as when a trimmed part of an object did."""
    if old is None:
        return False
    return _unversioned(old) == _unversioned(new)


def _unversioned(found: Object) -> dict[str, Any]:
    metadata = {key: value for key, value in found["metadata"].items() if key != "resourceVersion"}
    return {**found, "metadata": metadata}


__all__ = ["Heard", "Index", "Informer", "Trim", "Watch", "without_managers"]
