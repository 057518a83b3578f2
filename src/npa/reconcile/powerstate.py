"""Which ephemeral workers run: what slurmctld wants of each, read from its state.

slurmctld's programs carry no orders. Whoever missed a ring, or ended after one, looks again and does the
same; and no pod of a cluster needs rights in Kubernetes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from npa.cluster import names as node_names
from npa.reconcile import (
    conditions,
    maintenance,
    nodeset_ordinals,
    nodeset_status,
    nodeset_workers,
    removable,
    rotation,
)
from npa.reconcile.conditions import Condition
from npa.reconcile.decision import Decision, Deletion, Notice, PowerDown, PowerUp, SlurmAction
from npa.reconcile.removable import Answer
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.kube import names, worker
from npa.render.objects import POWER_STATE, Object, dig, name_of
from npa.slurm import hostlist, reasons
from npa.slurm.lookup import Found
from npa.slurm.replies import SlurmJobReply, SlurmNodeReply

_ON = frozenset({"POWERING_UP", "POWER_UP"})
_OFF = frozenset({"POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN"})
_LATE = "ResumeTimeout reached"  # slurmctld's own words (power_save.c)


def first(world: World, nodeset: Object) -> Object | None:
    """Return the power state of an ephemeral set that has none yet, or None.

    A set that was not ephemeral before keeps all the workers that it has.
    """
    name = name_of(nodeset)
    if world.find(POWER_STATE.kind, name) is not None or not dig(nodeset, "spec", "ephemeralNodes"):
        return None
    every = nodeset_ordinals.of_spec(nodeset)
    there = [each for pod in world.pods(name) if (each := nodeset_ordinals.of_pod(pod, name)) is not None]
    initial = dig(nodeset, "spec", "initialNumberEphemeralNodes")
    count = 1 if initial is None else int(initial)
    active = sorted(set(there) & set(every)) or list(every[:count])
    return _rendered(world, nodeset, active)


def last(world: World, nodeset: Object) -> Deletion | None:
    """Return that the power state of a set goes which is not ephemeral any more."""
    found = world.find(POWER_STATE.kind, name_of(nodeset))
    if found is None or dig(nodeset, "spec", "ephemeralNodes"):
        return None
    metadata = found["metadata"]
    return Deletion(POWER_STATE, str(metadata.get("namespace") or ""), name_of(found), str(metadata["uid"]))


def returns(observed: SlurmNodeReply, action: PowerDown) -> Literal["", "power_down", "power_down_force"]:
    """Say how a worker goes back to its pool, as it is right before: not at all where somebody drained it."""
    state = observed.state
    if "DRAIN" in state.flags:
        return ""
    if state.base == "DOWN" or state.flags & _ON:
        return "power_down_force"
    # its jobs end first, whichever it has by now
    return "power_down" if action.with_others and not state.unknown and not state.flags & _OFF else ""


def together(world: World, due: Mapping[str, float], settings: Settings) -> dict[str, float]:
    """Return from when on workers may start: those of one job not before all of them may."""
    every = {
        each.node: each.due(settings) for found in world.nodesets for each in nodeset_status.remembered(found)
    }
    every |= due
    held = dict(due)
    for job in world.slurm.jobs.value if every and isinstance(world.slurm.jobs, Found) else ():
        last = max((every[each] for each in job.nodes if each in every), default=0.0)
        for name in job.nodes if last > world.now and "CONFIGURING" in job.state.flags else ():
            held[name] = max(held.get(name, 0.0), last)
    return held


def decide(world: World, name: str, settings: Settings) -> Decision:
    """Return the next move for the power state of a NodeSet."""
    found = world.find(POWER_STATE.kind, name)
    nodeset = next((each for each in world.nodesets if name_of(each) == name), None)
    if found is None or nodeset is None or not dig(nodeset, "spec", "ephemeralNodes"):
        return Decision()
    if world.cluster is None or maintenance.leaving(world.cluster, nodeset) or rotation.leaving(world):
        return Decision()  # none of its workers starts, whatever Slurm waits for
    if "Pod" in world.unread or rotation.unknown(world):
        return Decision(again_in=settings.poll)
    slurm = removable.answer(world.slurm, world.now, settings)
    before = frozenset(dig(found, "spec", "activeNodes") or ())
    failed = _failed(world, name, slurm, nodeset)
    beside = _beside(world, slurm, failed)
    active = {
        each
        for each in nodeset_ordinals.of_spec(nodeset)
        if worker.name_of(name, each) not in {*failed, *beside}
        and _runs(world, name, each, slurm, found, settings, before)
    }
    actions = tuple(_actions(name, found, before, slurm, failed, beside))
    changed = active != before
    known = all(worker.name_of(name, each) in slurm.nodes for each in before)
    asked = bool(dig(found, "status", "observedGeneration")) or known
    gone = {**beside, **failed}
    status = _status(found, sorted(active), gone, world.now, asked=asked)
    return Decision(
        slurm=actions,
        # no server-side apply: it would keep the workers of a list that somebody else wrote, too
        merge=(_changed(found, _rendered(world, nodeset, sorted(active))),) if changed else (),
        status=status,
        notices=tuple(_notices(name, before, active, gone)),
        again_in=settings.orphan_grace / 4 if _may_change(active, name, slurm) else None,
    )


def _runs(
    world: World,
    nodeset: str,
    ordinal: int,
    slurm: Answer,
    state: Object,
    settings: Settings,
    before: frozenset[int],
) -> bool:
    """Say whether a worker should run; where Slurm does not tell, what was so before stays so."""
    name = worker.name_of(nodeset, ordinal)
    found = slurm.node(name)
    if not isinstance(found, Found) or found.value.state.unknown:
        return ordinal in before
    flags = found.value.state.flags
    if flags & _ON:
        return True
    if not flags & _OFF:
        return True
    # a pod that is on its way has not registered yet: that is no orphan
    pod = world.find("Pod", name)
    youth = nodeset_workers.age(pod if pod is not None else state, world.now)
    return ordinal in before and "POWERED_DOWN" in flags and youth < settings.orphan_grace


def _failed(world: World, nodeset: str, slurm: Answer, found: Object) -> dict[str, str]:
    """Return the workers that go back to their pool as they did not start, and why."""
    failed: dict[str, str] = {}
    for ordinal in nodeset_ordinals.of_spec(found):
        name = worker.name_of(nodeset, ordinal)
        node = slurm.nodes.get(name)
        why = _failure(node, world.find("Pod", name)) if node is not None else ""
        if why:
            failed[name] = why
    return failed


def _beside(world: World, slurm: Answer, failed: Mapping[str, str]) -> dict[str, str]:
    """Return the workers that start for a job which does not get all of its own, and why they go.

    Those that were there before the job stay.
    """
    found: dict[str, str] = {}
    for job, node, why in _lost(world, slurm, failed):
        started, since = node.slurmd_start_time, job.started_at
        booted = started is not None and since is not None and started >= since
        starts = bool(node.state.flags & _ON) or booted
        if starts and node.name not in failed and not node.state.flags & (_OFF | {"DRAIN"}):
            found[node.name] = why
    return found


def _lost(
    world: World, slurm: Answer, failed: Mapping[str, str]
) -> Iterator[tuple[SlurmJobReply, SlurmNodeReply, str]]:
    """Yield the ephemeral workers of jobs that have one which did not start; static ones stay as they are."""
    elastic = {name_of(each) for each in world.nodesets if dig(each, "spec", "ephemeralNodes")}
    for job in world.slurm.jobs.value if failed and isinstance(world.slurm.jobs, Found) else ():
        lost = next((each for each in job.nodes if each in failed), "")
        for name in job.nodes if lost and "CONFIGURING" in job.state.flags else ():
            node = slurm.nodes.get(name)
            if node is not None and node_names.owner(name, elastic) is not None:
                yield job, node, f"{lost} did not start for the same job"


def _failure(node: SlurmNodeReply, pod: Object | None) -> str:
    """Return why a worker that Slurm asked for does not come, or ""; one that somebody drained is theirs."""
    if "DRAIN" in node.state.flags:
        return ""
    if node.state.base == "DOWN" and _LATE in node.reason:
        return "it did not register in time"
    if node.state.flags & _ON and pod is not None and removable.ended(pod):
        return f"its pod ended: {dig(pod, 'status', 'reason') or dig(pod, 'status', 'phase')}"
    return ""


def _actions(
    nodeset: str,
    state: Object,
    before: frozenset[int],
    slurm: Answer,
    failed: dict[str, str],
    beside: dict[str, str],
) -> Iterator[SlurmAction]:
    # first those beside: with the first of the others their job is in the queue again, and has nobody
    for name, why in sorted(beside.items()):
        yield PowerDown(name, reasons.leaving(f"could not be started: {why}"), with_others=True)
    for name, why in sorted(failed.items()):
        yield PowerDown(name, reasons.leaving(f"could not be started: {why}"))
    if dig(state, "status", "observedGeneration") or slurm.refused:
        return
    for ordinal in sorted(before):  # the first workers of a set are asked for by nobody else
        node = slurm.nodes.get(worker.name_of(nodeset, ordinal))
        if node is not None and "POWERED_DOWN" in node.state.flags and "DRAIN" not in node.state.flags:
            yield PowerUp(node.name)


def _may_change(active: set[int], nodeset: str, slurm: Answer) -> bool:
    """Say whether time alone may change the decision: somebody young is off by what Slurm says."""
    nodes = (slurm.nodes.get(worker.name_of(nodeset, each)) for each in active)
    return any(node is not None and node.state.flags & _OFF for node in nodes)


def _rendered(world: World, nodeset: Object, active: list[int]) -> Object:
    cluster = name_of(world.cluster or {})
    name = name_of(nodeset)
    found = POWER_STATE.object(
        name,
        str(dig(nodeset, "metadata", "namespace") or ""),
        spec={"nodeSetRef": name, "activeNodes": active},
    )
    found["metadata"] |= {
        "labels": names.labels(cluster, "worker", **{names.NODE_SET: name}),
        "ownerReferences": [
            {
                "apiVersion": dig(nodeset, "apiVersion"),
                "kind": dig(nodeset, "kind"),
                "name": name,
                "uid": dig(nodeset, "metadata", "uid"),
            }
        ],
    }
    return found


def _changed(found: Object, wanted: Object) -> Object:
    """Return what is wanted, of the version that was seen and of no other."""
    seen = {"resourceVersion": dig(found, "metadata", "resourceVersion")}
    return {**wanted, "metadata": {**wanted["metadata"], **seen}}


def _status(
    found: Object, active: list[int], failed: dict[str, str], now: float, *, asked: bool
) -> dict[str, Any] | None:
    if failed:
        text = "; ".join(f"{name}: {why}" for name, why in sorted(failed.items())[:10])
        ready = Condition("Ready", "False", "NotStarted", text)
    else:
        ready = Condition("Ready", "True", "ActiveNodesReconciled", f"{len(active)} workers are to run")
    status = {
        **({"observedGeneration": dig(found, "metadata", "generation") or 0} if asked else {}),
        "activeCount": len(active),
        "conditions": conditions.rows(found, [ready], now),
    }
    return None if conditions.same(dig(found, "status") or {}, status) else status


def _notices(
    nodeset: str, before: frozenset[int], active: set[int], failed: dict[str, str]
) -> Iterator[Notice]:
    for ordinals, reason in ((active - before, "PowersUp"), (before - active, "PowersDown")):
        if ordinals:
            nodes = hostlist.compress(worker.name_of(nodeset, each) for each in sorted(ordinals))
            yield Notice("Normal", reason, f"{nodes}, as Slurm asks")
    for name, why in sorted(failed.items())[:5]:
        yield Notice("Warning", "NotStarted", f"{name} goes back to its pool: {why}")
