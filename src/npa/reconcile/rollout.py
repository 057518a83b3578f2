"""What is done with the workers of a set now: who starts, leaves, is replaced or takes jobs again.

Whoever leaves is drained, its jobs end, its pod goes; nothing is drained or removed that the status did not
announce in an earlier pass. All follows from what is seen, so a pass cut short anywhere goes on in the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from npa.reconcile import removable
from npa.reconcile.decision import Drain, Resume
from npa.reconcile.nodeset_workers import LEAVING, Worker, age
from npa.reconcile.removable import Answer, Verdict
from npa.reconcile.world import World
from npa.render.objects import dig
from npa.slurm import drain_budget

# seconds for which a worker that has not become ready takes the place of another that could start
STARTING = 600.0


@dataclass(frozen=True, slots=True, order=True)
class Planned:
    """What is about to be done to a worker, and why."""

    step: str  # `remove` or `replace`
    node: str
    why: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What the moves of one set depend on."""

    world: World
    workers: tuple[Worker, ...]
    slurm: Answer
    allowed: int  # workers that may be out, or starting, at once
    leaving: str  # why workers that are not wanted leave
    due: Mapping[str, float]  # workers whose pods ended -> when they may be replaced
    published: frozenset[tuple[str, str]] | None  # steps and nodes in the status; None: there is no status
    held: str = ""  # why nothing starts
    end_jobs: bool = False  # the jobs of whoever leaves are not waited for
    end_replaced: bool = False  # nor those of whoever is replaced
    elastic: bool = False  # Slurm itself says who goes


@dataclass(frozen=True, slots=True)
class Moves:
    """What is done now, what will be, and who is waited for."""

    plan: tuple[Planned, ...] = ()
    drain: tuple[Drain, ...] = ()
    resume: tuple[Resume, ...] = ()
    start: tuple[Worker, ...] = ()
    remove: tuple[tuple[Worker, Verdict], ...] = ()
    waits: tuple[tuple[str, str], ...] = ()  # worker, and for what


def moves(seen: Seen) -> Moves:
    """Return the next moves."""
    leaving = tuple(Planned("remove", each.name, seen.leaving) for each in _present(seen) if not each.wanted)
    replaced = tuple(
        Planned("replace", each.name, why)
        for each in _present(seen)
        if each.wanted and (why := _outlived(each))
    )
    plan = leaving + replaced
    announced = [each for each in plan if _announced(seen, each)]
    chosen = {each.node for each in announced if each.step == "remove"} | _handed_off(seen, announced)
    drain: list[Drain] = []
    remove: list[tuple[Worker, Verdict]] = []
    waits: list[tuple[str, str]] = []
    by_name = {each.name: each for each in seen.workers}
    for each in announced:
        worker = by_name[each.node]
        verdict = _verdict(seen, worker, each.step, chosen=each.node in chosen)
        if verdict.yes and _due(seen, worker):
            remove.append((worker, verdict))
        elif verdict.yes:
            waits.append((worker.name, "its pod ended, and it is tried again later"))
        elif each.node in chosen and worker.node is not None and not worker.drain:
            drain.append(Drain(worker.name, LEAVING[each.step]))
        else:
            waits.append((worker.name, verdict.why if each.node in chosen else "others go first"))
    return Moves(plan, tuple(drain), _resumed(seen), _started(seen), tuple(remove), tuple(waits))


def _present(seen: Seen) -> Iterator[Worker]:
    return (each for each in seen.workers if each.pod is not None and not each.going)


def _outlived(worker: Worker) -> str:
    """Return why a worker that is wanted needs another pod, or ""."""
    if worker.pod is not None and removable.ended(worker.pod):
        why = dig(worker.pod, "status", "reason") or dig(worker.pod, "status", "phase")
        return f"its pod ended: {why}"
    if worker.machine == "gone":
        return f"its machine {dig(worker.pod, 'spec', 'nodeName')} is gone"
    if worker.machine == "cordoned":
        return f"its machine {dig(worker.pod, 'spec', 'nodeName')} is cordoned"
    return "" if worker.current else "its pod is not of the template that is wanted"


def _announced(seen: Seen, planned: Planned) -> bool:
    return seen.published is None or (planned.step, planned.node) in seen.published


def _verdict(seen: Seen, worker: Worker, step: str, *, chosen: bool) -> Verdict:
    assert worker.pod is not None
    verdict = removable.removable(seen.world, worker.pod, seen.slurm)
    unasked = seen.end_jobs if step == "remove" else seen.end_replaced and chosen
    if unasked and not verdict.yes:
        return Verdict(True, f"as asked, although {verdict.why}", asked_slurm=False)
    if verdict.yes and verdict.asked_slurm and not seen.elastic and not worker.drain:
        # not yet registered is the same to slurmctld as powered down, and its slurmd may come any moment
        return Verdict(False, "it is not drained")
    return verdict


def _due(seen: Seen, worker: Worker) -> bool:
    """Say whether a pod may be taken away: one that ended stays until it may be tried again."""
    assert worker.pod is not None
    if not worker.wanted or not removable.ended(worker.pod):
        return True
    return seen.due.get(worker.name, float("inf")) <= seen.world.now


def _handed_off(seen: Seen, announced: list[Planned]) -> set[str]:
    """Return the workers to be replaced that are taken out of service, within the budget.

    Who is out anyway needs no free slot, but a person's drain keeps the pod as it is. Idle workers go first.
    """
    replaced = {each.node for each in announced if each.step == "replace"}
    wanted = [each for each in seen.workers if each.wanted]
    budget = [drain_budget.Worker(each.name, each.in_service, known=each.node is not None) for each in wanted]
    free = drain_budget.free_slots(budget, seen.allowed)
    able = [each for each in wanted if each.name in replaced and each.node is not None]
    out = {each.name for each in able if not each.in_service and each.drain != "held"}
    serving = sorted(
        (each for each in able if each.in_service), key=lambda each: (_busy(seen, each), -each.ordinal)
    )
    return out | {each.name for each in serving[:free]}


def _busy(seen: Seen, worker: Worker) -> bool:
    return bool(seen.slurm.jobs.get(worker.name)) or (worker.node is not None and worker.node.state.busy)


def _resumed(seen: Seen) -> tuple[Resume, ...]:
    """Return the drains of ours that nothing needs any more: the worker stays, and its own slurmd answers."""
    return tuple(
        Resume(each.name, each.node.reason)
        for each in seen.workers
        if each.node is not None
        and each.wanted
        and each.drained_by_us
        and each.up
        and not _outlived(each)
        and not seen.slurm.refused
    )


def _started(seen: Seen) -> tuple[Worker, ...]:
    """Return the workers whose pods are made now; one that goes is not followed until it is gone."""
    if seen.held:
        return ()
    starting = sum(
        each.wanted and (each.going or (not each.ready and age(each.pod, seen.world.now) < STARTING))
        for each in seen.workers
        if each.pod is not None and not removable.ended(each.pod)
    )
    missing = [
        each
        for each in seen.workers
        if each.wanted and each.pod is None and seen.due.get(each.name, 0.0) <= seen.world.now
    ]
    return tuple(missing[: max(0, seen.allowed - starting)])
