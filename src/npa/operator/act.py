"""Does what was decided, in the order of `Decision`; the first failure ends the pass."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from npa.errors import KubeError, NpaError, UnknownError
from npa.operator import key_changes, secret_data, status
from npa.operator.notices import Notices
from npa.operator.runtime.metrics import Metrics
from npa.operator.slurm_poll import Cluster, Slurm
from npa.reconcile import powerstate, removable
from npa.reconcile.decision import (
    Decision,
    Deletion,
    Drain,
    KeyChange,
    Notice,
    PowerDown,
    PowerUp,
    Reconfigure,
    Reread,
    Resume,
    SlurmAction,
)
from npa.reconcile.settings import Settings
from npa.render.kube import names
from npa.render.objects import POD, SECRET, Kind, Object, name_of
from npa.slurm import drains, lookup
from npa.slurm.lookup import Found, Unknown
from npa.slurm.replies import SlurmNodeReply
from npa.tools.kube import kind_of
from npa.tools.kube_api import KubeApi

_LOG = logging.getLogger(__name__)
AT_ONCE = 16  # writes of one pass that are under way together
RECONFIGURE = "/usr/lib/npa/reconfigure"
RECONFIGURE_WITHIN = 180.0  # seconds: the kubelet may take two minutes to bring the files

_T = TypeVar("_T")


class NoLeaderError(NpaError):
    """Somebody else leads, or may: nothing is written."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a decision is about."""

    kind: Kind
    cluster: Cluster  # namespace, name
    found: Object | None


class Keep(Protocol):
    """Who is told what the API made of a write."""

    def __call__(self, written: Object) -> None:
        """Take it over."""


class Act:
    """The hands of the operator."""

    def __init__(
        self,
        api: KubeApi,
        slurm: Slurm,
        settings: Settings,
        metrics: Metrics,
        *,
        leads: Callable[[], bool],
        keep: Keep,
        notices: Notices,
    ) -> None:
        self._api, self._slurm, self._settings, self._metrics = api, slurm, settings, metrics
        self._leads, self._keep = leads, keep
        self._notices = notices

    async def do(self, target: Target, decision: Decision) -> bool:
        """Do it all; True where anything was written."""
        await _together(self._create(secret_data.fill(new)) for new in decision.secrets)
        for change in decision.keys:
            await self._key(change)
        for action in decision.slurm:
            self._fence()
            await self._tell(target.cluster, action)
        await _together(self._create(wanted) for wanted in decision.create)
        for wanted in decision.apply:
            await self._apply(wanted)
        for wanted in decision.merge:
            await self._merge(wanted)
        await _together(self._delete(target.cluster, each) for each in decision.delete)
        wrote = await self._status(target, decision)
        wrote |= target.found is not None and await self.tell(target.found, *decision.notices)
        counted = (
            decision.secrets,
            decision.keys,
            decision.slurm,
            decision.create,
            decision.apply,
            decision.merge,
        )
        return wrote or any((*counted, decision.delete))

    async def failed(self, target: Target, reason: str, message: str, now: Any) -> None:
        """Say on an object that looking at it fails."""
        if target.found is None or not self._leads():
            return
        wanted = status.failed(target.found, reason, message, now)
        if wanted is not None:
            await self._write_status(target, target.found, wanted)

    async def _key(self, change: KeyChange) -> None:
        body = await key_changes.patch(self._api, change)
        self._fence()
        self._metrics.writes.labels(SECRET.kind, "patch").inc()
        self._keep(await self._api.patch(SECRET, change.secret, change.namespace, body))

    async def _create(self, wanted: Object) -> None:
        self._fence()
        self._count(wanted, "create")
        written = await self._api.create(wanted)
        if written is not None:
            self._keep(written)

    async def _apply(self, wanted: Object) -> None:
        self._fence()
        self._count(wanted, "apply")
        self._keep(await self._api.apply(wanted))

    async def _merge(self, wanted: Object) -> None:
        self._fence()
        self._count(wanted, "patch")
        namespace = str(wanted["metadata"].get("namespace") or "")
        self._keep(await self._api.patch(kind_of(wanted), name_of(wanted), namespace, wanted))

    async def _delete(self, cluster: Cluster, deletion: Deletion) -> None:
        self._fence()
        if deletion.worker:
            view = await self._slurm.node(cluster, deletion.worker)
            verdict = removable.slurm_says(view, deletion.worker, time.time(), self._settings)
            if not verdict.yes:  # what slurmctld says then is looked at as soon as it is polled
                _LOG.info("%s/%s is kept: %s", deletion.namespace, deletion.name, verdict.why)
                return
            self._fence()
        self._metrics.writes.labels(deletion.kind.kind, "delete").inc()
        await self._api.delete(
            deletion.kind,
            deletion.name,
            deletion.namespace,
            uid=deletion.uid,
            resource_version=deletion.resource_version,
            orphan=deletion.orphan,
        )

    async def _tell(self, cluster: Cluster, action: SlurmAction) -> None:
        """Have slurmctld do something. What another's drain says is looked at right before."""
        match action:
            case Reconfigure():
                await self._hurry(cluster, action.digest)
                argv = [RECONFIGURE, action.digest, *(["restart"] if action.restart else [])]
                await self._slurm.tell(cluster, argv, timeout=RECONFIGURE_WITHIN)
            case Reread():
                await self._slurm.tell(cluster, ["scontrol", "reconfigure"], timeout=RECONFIGURE_WITHIN)
            case Drain():
                if not await self._drained(cluster, action.node):
                    await self._update(cluster, action.node, "DRAIN", action.reason)
            case Resume():
                view = await self._slurm.node(cluster, action.node)
                if drains.may_resume(_one(view.nodes, action.node), action.reason):
                    await self._update(cluster, action.node, "RESUME")
            case PowerUp():
                await self._update(cluster, action.node, "POWER_UP")
            case PowerDown():
                seen = await self._seen(cluster, action.node, "is not powered down")
                if state := powerstate.returns(seen, action):
                    await self._update(cluster, action.node, state.upper(), action.reason)

    async def _hurry(self, cluster: Cluster, digest: str) -> None:
        """Have the kubelet bring a ConfigMap's files now: it looks when a pod changes, else once a minute."""
        self._fence()
        namespace, name = cluster
        body = {"metadata": {"annotations": {names.DELIVERED: digest}}}
        try:
            await self._api.patch(POD, names.controller_pod(name), namespace, body)
        except KubeError as error:  # the files come all the same
            _LOG.info("%s/%s: files come when the kubelet looks: %s", namespace, name, error)

    async def _drained(self, cluster: Cluster, node: str) -> bool:
        """Say whether somebody drained a node already: their reason stays."""
        seen = await self._seen(cluster, node, "is not drained, as somebody may have drained it")
        return "DRAIN" in seen.state.flags

    async def _seen(self, cluster: Cluster, node: str, otherwise: str) -> SlurmNodeReply:
        """Return a node as slurmctld has it right now; raises UnknownError where it does not say."""
        view = await self._slurm.node(cluster, node)
        seen = _one(view.nodes, node)
        if isinstance(seen, Found):
            found: SlurmNodeReply = seen.value
            return found
        why = seen.why if isinstance(seen, Unknown) else "slurmctld does not list it"
        raise UnknownError(f"{node} {otherwise}: {why}")

    async def _update(self, cluster: Cluster, node: str, state: str, reason: str = "") -> None:
        self._fence()
        why = [f"Reason={reason}"] if reason else []
        await self._slurm.tell(cluster, ["scontrol", "update", f"NodeName={node}", f"State={state}", *why])

    async def _status(self, target: Target, decision: Decision) -> bool:
        found = target.found
        wanted = status.wanted(found, decision.status) if found is not None else None
        if found is None or wanted is None:
            return False
        return await self._write_status(target, found, wanted)

    async def _write_status(self, target: Target, found: Object, wanted: Any) -> bool:
        changes = status.patch(found.get("status"), wanted)
        if not changes:
            return False
        self._fence()
        self._metrics.writes.labels(target.kind.kind, "status").inc()
        namespace = str(found["metadata"].get("namespace") or "")
        written = await self._api.patch(
            target.kind, name_of(found), namespace, {"status": changes}, subresource="status"
        )
        self._keep(written)
        return True

    async def tell(self, about: Object, *notices: Notice) -> bool:
        """Say something of an object in Events; True where anything was written."""
        wrote = False
        for notice in notices:
            self._fence()
            wrote |= await self._notices.tell(about, notice)
        return wrote

    def _count(self, wanted: Object, verb: str) -> None:
        self._metrics.writes.labels(str(wanted.get("kind")), verb).inc()

    def _fence(self) -> None:
        if not self._leads():
            raise NoLeaderError("this process does not lead (any more)")


async def _together(writes: Iterable[Awaitable[None]]) -> None:
    """Do writes that do not depend on one another, some at a time; the first failure ends it."""
    limit = asyncio.Semaphore(AT_ONCE)

    async def one(write: Awaitable[None]) -> None:
        async with limit:
            await write

    pending = list(writes)
    if len(pending) <= 1:
        for write in pending:
            await write
        return
    try:
        async with asyncio.TaskGroup() as group:
            for write in pending:
                group.create_task(one(write))
    except* NpaError as failures:
        raise _first(failures) from failures
    finally:
        for write in pending:
            with contextlib.suppress(AttributeError):
                write.close()  # type: ignore[attr-defined]  # one that was never begun


def _first(failures: BaseExceptionGroup[Any]) -> BaseException:
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


def _one(nodes: lookup.Lookup[Any], name: str) -> lookup.Lookup[Any]:
    if not isinstance(nodes, Found):
        return nodes if isinstance(nodes, Unknown) else Unknown("there is no slurmctld")
    return lookup.node(nodes.value, name)
