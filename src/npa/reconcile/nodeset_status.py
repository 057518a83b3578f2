"""What a NodeSet's status says: how its workers are, and what is about to be done to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from npa.crds import ignored
from npa.reconcile import conditions, maintenance, removable
from npa.reconcile.conditions import Condition
from npa.reconcile.nodeset_workers import Worker, moment
from npa.reconcile.rollout import Moves, Planned
from npa.reconcile.settings import Settings
from npa.render.objects import Object, dig
from npa.slurm import hostlist

ACCEPTED = "Accepted"


@dataclass(frozen=True, slots=True)
class Failure:
    """A worker whose pod ended, and how often it did so."""

    node: str
    pod: str
    count: int
    at: float

    def due(self, settings: Settings) -> float:
        """Return when it may be tried again."""
        return self.at + min(settings.retry_most, settings.retry_first * 2.0 ** min(self.count - 1, 30))


def published(nodeset: Object) -> frozenset[tuple[str, str]]:
    """Return the steps and nodes that the status announces; what cannot be read announces nothing."""
    found: set[tuple[str, str]] = set()
    for row in _rows(nodeset, "plan"):
        try:
            found.update((str(row.get("step")), node) for node in hostlist.expand(str(row.get("nodes", ""))))
        except ValueError:
            continue
    return frozenset(found)


def failures(
    nodeset: Object, workers: Iterable[Worker], now: float, settings: Settings
) -> tuple[Failure, ...]:
    """Return the workers whose pods ended, with this pass's news; one that lasts is forgotten.

    An ephemeral worker that does not start is let go of, and asked for again: it is remembered all the same.
    """
    before = {each.node: each for each in remembered(nodeset)}
    elastic = dig(nodeset, "spec", "ephemeralNodes") is True
    by_name = {each.name: each for each in workers}
    found = []
    for name in sorted({*before, *by_name}):
        worker, known = by_name.get(name), before.get(name)
        uid = str(dig(worker.pod, "metadata", "uid") or "") if worker else ""
        ended = worker is not None and worker.pod is not None and removable.ended(worker.pod)
        wanted = worker is not None and worker.wanted
        if ended and (wanted or elastic) and (known is None or known.pod != uid):
            found.append(Failure(name, uid, known.count + 1 if known else 1, float(int(now))))
        elif known is not None and (wanted or elastic):
            lasts = not wanted or (worker is not None and worker.ready)
            found += [] if lasts and now > known.due(settings) + settings.retry_most else [known]
    return tuple(found)


def remembered(nodeset: Object) -> tuple[Failure, ...]:
    """Return the workers whose pods ended, as a set's status says."""
    return tuple(each for each in map(_failure, _rows(nodeset, "failures")) if each is not None)


def render(
    nodeset: Object,
    workers: tuple[Worker, ...],
    moves: Moves,
    failed: tuple[Failure, ...],
    selector: Mapping[str, str],
    now: float,
    trouble: str = "",
    more: Iterable[Condition] = (),
    *,
    gentle: bool = False,
) -> dict[str, Any] | None:
    """Return the whole status, or None where it is there already."""
    ready = sum(each.wanted and _serves(each) for each in workers)
    said = [
        _pods_ready(workers, ready),
        _updated(workers, gentle=gentle),
        _known(workers),
        _progressing(moves, trouble),
    ]
    status: dict[str, Any] = {
        "phase": _phase(workers, ready),
        "replicas": ready,
        "labelSelector": ",".join(f"{key}={value}" for key, value in sorted(selector.items())),
        "observedGeneration": dig(nodeset, "metadata", "generation") or 0,
        "conditions": conditions.rows(nodeset, [*said, *more, ignored_fields(nodeset)], now),
    }
    plan = [*_plan(moves.plan)]
    if plan:
        status["plan"] = plan
    if failed:
        status["failures"] = [
            {"node": each.node, "pod": each.pod, "count": each.count, "at": conditions.moment(each.at)}
            for each in failed
        ]
    return None if conditions.same(dig(nodeset, "status"), status) else status


def refused(nodeset: Object, why: str, now: float) -> dict[str, Any] | None:
    """Return the status of a NodeSet that cannot be read: all stays as it is."""
    kept: Mapping[str, Any] = dig(nodeset, "status") or {}
    others = [conditions.said(nodeset, str(row.get("type"))) for row in _rows(nodeset, "conditions")]
    rows = [each for each in others if each is not None and each.type not in (ACCEPTED, *conditions.APART)]
    rows.append(Condition(ACCEPTED, "False", "InvalidSpec", why))
    status = {"replicas": 0, **kept, "conditions": conditions.rows(nodeset, rows, now)}
    return None if conditions.same(kept, status) else status


def _serves(worker: Worker) -> bool:
    """Say whether a worker counts as ready: its pod is, and Slurm does not say otherwise."""
    return worker.ready and (worker.node is None or worker.up)


def _phase(workers: tuple[Worker, ...], ready: int) -> str:
    wanted = sum(each.wanted for each in workers)
    if not wanted:
        return "Terminating" if workers else "Ready"
    if ready < wanted:
        return "Provisioning" if any(each.pod is not None for each in workers) else "Pending"
    return "Ready"


def _pods_ready(workers: tuple[Worker, ...], ready: int) -> Condition:
    wanted = [each for each in workers if each.wanted]
    if ready == len(wanted):
        return Condition("PodsReady", "True", "AllReady", f"{ready} of {len(wanted)} workers are ready")
    why = [f"{each.name}: {_unready(each)}" for each in wanted if not _serves(each)]
    message = f"{ready} of {len(wanted)} workers are ready; {conditions.some(why)}"
    return Condition("PodsReady", "False", "NotReady", message)


def _unready(worker: Worker) -> str:
    if worker.pod is None:
        return "has no pod yet"
    if worker.going:
        return "its pod is being deleted"
    if removable.ended(worker.pod):
        return f"its pod ended: {dig(worker.pod, 'status', 'reason') or dig(worker.pod, 'status', 'phase')}"
    if worker.machine == "gone":
        return f"its machine {dig(worker.pod, 'spec', 'nodeName')} is gone"
    for row in dig(worker.pod, "status", "containerStatuses") or ():
        waiting = dig(row, "state", "waiting", "reason")
        if waiting:
            return f"container {row.get('name')}: {waiting}"
    if not dig(worker.pod, "spec", "nodeName"):
        return _unscheduled(worker.pod)
    if not worker.ready:
        return "its slurmd does not answer yet"
    return f"Slurm says {worker.node.state}" if worker.node else "Slurm does not list it yet"


def _unscheduled(pod: Object) -> str:
    for row in dig(pod, "status", "conditions") or ():
        if row.get("type") == "PodScheduled" and row.get("status") == "False":
            return str(row.get("message") or row.get("reason") or "not scheduled")[:200]
    return "not scheduled yet"


def _updated(workers: tuple[Worker, ...], *, gentle: bool) -> Condition:
    """Say whether pods are of an old template; `gentle`: their jobs end first, unlike elsewhere."""
    old = [each.name for each in workers if each.wanted and each.pod is not None and not each.current]
    if not old:
        return Condition("PodsUpdated", "True", "AllUpdated", "every pod is of the template that is wanted")
    text = f"of another template: {hostlist.compress(old)}"
    if gentle:
        text += f"; each goes when its jobs have ended, unless {maintenance.END_JOBS}=true is annotated"
    return Condition("PodsUpdated", "False", "OldPods", text)


def _known(workers: tuple[Worker, ...]) -> Condition:
    """Say whether slurmctld's configuration names every worker that is wanted."""
    unknown = [each for each in workers if each.wanted and each.node is None]
    if not unknown:
        return Condition("ConfigUpdated", "True", "AllListed", "Slurm lists every worker")
    whys = {each.slurm.why for each in unknown if hasattr(each.slurm, "why")}
    if whys:
        return Condition("ConfigUpdated", "Unknown", "SlurmUnknown", min(whys))
    names = hostlist.compress(each.name for each in unknown)
    return Condition("ConfigUpdated", "False", "NotListed", f"Slurm does not list {names}")


def _progressing(moves: Moves, trouble: str) -> Condition:
    if trouble:
        return Condition("Progressing", "False", "Held", trouble)
    waits = conditions.some([f"{name}: {why}" for name, why in moves.waits])
    if moves.plan:
        return Condition("Progressing", "True", "Replacing", waits or "workers leave or are replaced")
    if moves.start:
        return Condition("Progressing", "True", "Starting", "workers start")
    return Condition("Progressing", "False", "Settled", "nothing is to be done")


def ignored_fields(found: Object) -> Condition:
    """Say which fields of an object have values and are not acted on."""
    paths = ignored.ignored_in(found)
    if not paths:
        return Condition("IgnoredFields", "False", "NoneIgnored")
    return Condition("IgnoredFields", "True", "FieldsIgnored", f"Ignored fields: {', '.join(paths)}")


def _plan(planned: Iterable[Planned]) -> Iterable[dict[str, str]]:
    groups: dict[tuple[str, str], list[str]] = {}
    for each in planned:
        groups.setdefault((each.step, each.why), []).append(each.node)
    for (step, why), nodes in sorted(groups.items()):
        yield {"step": step, "nodes": hostlist.compress(nodes), "reason": why}


def _rows(nodeset: Object, key: str) -> list[Mapping[str, Any]]:
    listed = dig(nodeset, "status", key)
    return [row for row in listed if isinstance(row, Mapping)] if isinstance(listed, list) else []


def _failure(row: Mapping[str, Any]) -> Failure | None:
    at, count = moment(row, "at"), row.get("count")
    if at is None or not isinstance(count, int) or count < 1:
        return None
    return Failure(str(row.get("node")), str(row.get("pod")), count, at.timestamp())
