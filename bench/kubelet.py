"""What stands for nodes on an API server that has none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.kube.bed import Bed

from npa.operator.runtime.tasks import background
from npa.render.objects import JOB, NAMESPACE, POD, Kind, Object, name_of
from npa.tools.kube_api import KubeApi


class Kubelet:
    """Says of each pod that it runs and of each Job that it is done."""

    def __init__(self, api: KubeApi, namespace: str) -> None:
        self._api, self._namespace = api, namespace

    async def run(self) -> None:
        """Do it for whatever is made."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch(POD, {"phase": "Running", "conditions": [_true("Ready")]}))
            group.create_task(self._watch(JOB, {"succeeded": 1, "conditions": [_true("Complete")]}))

    async def _watch(self, kind: Kind, status: dict[str, Any]) -> None:
        listed = await self._api.list(kind, self._namespace)
        since, limit = listed.resource_version, asyncio.Semaphore(8)

        async def say(found: Object) -> None:
            async with limit:
                body = {"status": {**status, "podIP": "10.0.0.1"} if kind == POD else status}
                await self._api.patch(kind, name_of(found), self._namespace, body, subresource="status")

        async with asyncio.TaskGroup() as group:
            while True:
                async for change, found in self._api.watch(kind, self._namespace, since=since):
                    since = found["metadata"]["resourceVersion"]
                    if change == "ADDED":
                        group.create_task(say(found))


def _true(kind: str) -> dict[str, str]:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"type": kind, "status": "True", "lastTransitionTime": now}


@asynccontextmanager
async def place(bed: Bed, namespace: str) -> AsyncIterator[KubeApi]:
    """Give a client, in a namespace where pods come to run."""
    api = KubeApi(bed.access, manager="bench")
    try:
        await api.apply(NAMESPACE.object(namespace))
        async with background(Kubelet(api, namespace).run()):
            yield api
    finally:
        await api.close()
