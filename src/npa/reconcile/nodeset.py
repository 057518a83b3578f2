"""What is done for one NodeSet: its Services, its workers' claims and pods, and what its status says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from npa.crds import nodeset as crd
from npa.crds.nodeset import NodeSet
from npa.errors import SpecError
from npa.reconcile import (
    claim_sizes,
    maintenance,
    nodeset_ordinals,
    nodeset_status,
    nodeset_workers,
    powerstate,
    removable,
    rollout,
    rotation,
)
from npa.reconcile.decision import Decision, Deletion, Notice
from npa.reconcile.nodeset_workers import Worker
from npa.reconcile.removable import Verdict
from npa.reconcile.rollout import Moves, Seen
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.kube import differs, names, worker, worker_services, worker_volumes
from npa.render.kube.worker import Place
from npa.render.objects import CLAIM, DISRUPTION_BUDGET, POD, Kind, Object, dig, name_of
from npa.slurm import drain_budget, hostlist

_READ = frozenset({"Pod", "PersistentVolumeClaim", "NodeSetPowerState"})


def names_of(world: World) -> tuple[str, ...]:
    """Return the NodeSets that are, and those that are not any more but have pods or claims left."""
    kinds = ("Pod", "PersistentVolumeClaim")
    left = {
        dig(found, "metadata", "labels", names.NODE_SET)
        for (kind, _), found in world.objects.items()
        if kind in kinds
    }
    return tuple(sorted({name_of(each) for each in world.nodesets} | {each for each in left if each}))


def decide(world: World, name: str, settings: Settings) -> Decision:
    """Return the next move for a NodeSet, or for what is left of one."""
    if world.cluster is None or _READ & set(world.unread) or rotation.unknown(world):
        return Decision(again_in=settings.poll)
    found = next((each for each in world.nodesets if name_of(each) == name), None)
    if found is None:
        return _leave(world, name, settings)
    try:
        nodeset = crd.parse(found)
    except SpecError as error:
        return Decision(status=nodeset_status.refused(found, str(error), world.now))
    return _Pass(world, found, nodeset, settings).decide()


class _Pass:
    """One look at one NodeSet."""

    def __init__(self, world: World, found: Object, nodeset: NodeSet, settings: Settings) -> None:
        assert world.cluster is not None
        self.world, self.found, self.nodeset, self.settings = world, found, nodeset, settings
        self.cluster = world.cluster
        self.place = place(self.cluster, nodeset.namespace, nodeset.spec.slurmd.image.reference, settings)
        self.template = worker.template(nodeset, self.place)
        self.why_leaving = maintenance.leaving(self.cluster, found) or rotation.leaving(world)

    def decide(self) -> Decision:
        """Return the next move."""
        world, settings = self.world, self.settings
        slurm = removable.answer(world.slurm, world.now, settings)
        workers = nodeset_workers.gather(
            world, self.nodeset.name, self._wanted(), self.template["digest"], slurm, settings
        )
        failed = nodeset_status.failures(self.found, workers, world.now, settings)
        allowed, trouble = self._allowed()
        trouble = trouble or self._held()
        due = {each.node: each.due(settings) for each in failed}
        due = powerstate.together(world, due, settings) if self.nodeset.spec.ephemeral_nodes else due
        announced = nodeset_status.published(self.found)
        asked = maintenance.ends_jobs(self.cluster, self.found)
        seen = Seen(
            world,
            workers,
            slurm,
            allowed,
            self.why_leaving or self._why_fewer(),
            due,
            announced,
            trouble,
            end_jobs=asked or rotation.ends_jobs(world),
            end_replaced=asked and self.nodeset.spec.update_strategy == "rollingUpdate",
            elastic=self.nodeset.spec.ephemeral_nodes,
        )
        moves = rollout.moves(seen)
        claims, pods = self._made(moves.start)
        selector = worker.selector(self.place.cluster, self.nodeset.name)
        sizes = worker_volumes.sizes(self.nodeset)
        sized = claim_sizes.decide(world, claim_sizes.of_workers(world, self.nodeset.name, sizes))
        said = (sized.condition,) if sizes else ()
        waits = not seen.end_replaced and self.nodeset.spec.update_strategy == "rollingUpdate"
        status = nodeset_status.render(
            self.found, workers, moves, failed, selector, world.now, trouble, said, gentle=waits
        )
        return Decision(
            slurm=(*moves.drain, *moves.resume),
            create=(*self._powered(), *claims, *pods),
            apply=(*self._applied(), *sized.apply),
            delete=(*_pods(moves.remove), *self._claims_left(workers), *self._unpowered()),
            status=status,
            notices=tuple(_notices(moves, pods)),
            again_in=self._again(workers, moves, due.values()),
        )

    def _wanted(self) -> frozenset[int]:
        power = self.world.find("NodeSetPowerState", self.nodeset.name)
        pods = self.world.pods(self.nodeset.name)
        return frozenset() if self.why_leaving else nodeset_ordinals.wanted(self.found, power, pods)

    def _why_fewer(self) -> str:
        if self.nodeset.spec.ephemeral_nodes:
            return "Slurm has let go of it"
        return f"{self.nodeset.spec.replicas} workers are asked for"

    def _allowed(self) -> tuple[int, str]:
        """Return how many may be out at once, and what is wrong with that number."""
        asked, replicas = str(self.nodeset.spec.max_unavailable), max(0, self.nodeset.spec.replicas)
        if asked.endswith("%") and asked[:-1].isdecimal() and int(asked[:-1]) > 100:
            return max(1, replicas * int(asked[:-1]) // 100), ""  # the API takes as much as comes to 500
        try:
            return drain_budget.limit(asked, replicas), ""
        except ValueError as error:
            return 0, f"maxUnavailable: {error}"

    def _held(self) -> str:
        """Return why no worker may start now."""
        jail = next(
            (
                row
                for row in dig(self.cluster, "status", "conditions") or ()
                if row.get("type") == "JailPopulated"
            ),
            None,
        )
        if jail is not None and jail.get("status") == "False":
            return "the jail is not populated yet"
        return ""

    def _made(self, start: Iterable[Worker]) -> tuple[list[Object], list[Object]]:
        """Return the claims that are missing and the pods; a pod waits for a claim that is being deleted."""
        claims: list[Object] = []
        pods: list[Object] = []
        for each in start:
            own = worker_volumes.claims(self.nodeset, self.place.cluster, each.name, each.ordinal)
            there = [self.world.find(CLAIM.kind, name_of(claim)) for claim in own]
            if any(dig(claim, "metadata", "deletionTimestamp") for claim in there):
                continue
            claims += [claim for claim, held in zip(own, there, strict=True) if held is None]
            pods.append(worker.pod(self.nodeset, self.place, self.template, each.ordinal))
        return claims, pods

    def _applied(self) -> tuple[Object, ...]:
        """Return what of the set's own objects is not there as it should be."""
        cluster, nodeset = self.place.cluster, self.nodeset
        if self.why_leaving and not self.world.pods(nodeset.name):
            return ()
        limits = worker_volumes.limits(nodeset, cluster)
        wanted = [_owned(worker_services.umbrella(cluster, nodeset.namespace), self.cluster)]
        wanted += [_owned(worker_services.of_set(nodeset, cluster), self.found)]
        wanted += [_owned(limits, self.found)] if limits is not None else []
        if DISRUPTION_BUDGET.crd not in self.world.absent_apis:
            # the cluster's, as the pods are: it holds for as long as they do
            wanted += [_owned(worker_services.budget(nodeset, cluster), self.cluster)]
        return differs.pending(wanted, self.world.find)

    def _powered(self) -> tuple[Object, ...]:
        found = powerstate.first(self.world, self.found)
        return (found,) if found is not None else ()

    def _unpowered(self) -> tuple[Deletion, ...]:
        found = powerstate.last(self.world, self.found)
        return (found,) if found is not None else ()

    def _claims_left(self, workers: tuple[Worker, ...]) -> Iterator[Deletion]:
        """Yield the claims of workers that are no part of the set any more, where they are not to be kept."""
        retention = self.nodeset.spec.slurmd.volumes.retention
        keep = set(nodeset_ordinals.of_spec(self.found))
        if self.nodeset.spec.ephemeral_nodes and not self.why_leaving:
            keep = {each.ordinal for each in workers if each.wanted}
        if retention.when_scaled == "Delete":
            kept = keep | {each.ordinal for each in workers if each.pod is not None}
            yield from _claims(self.world, self.nodeset.name, lambda _, ordinal: ordinal not in kept)

    def _again(self, workers: tuple[Worker, ...], moves: Moves, due: Iterable[float]) -> float | None:
        """Return when time alone may have changed the decision."""
        if moves.plan:
            return self.settings.drain_poll
        # when the next try is due, and when a worker has lasted so long that its failures are forgotten
        moments = [at + more for at in due for more in (0.0, self.settings.retry_most)]
        waits = [at - self.world.now for at in moments if at >= self.world.now]
        if sum(each.wanted and each.pod is None for each in workers) > len(moves.start):
            waits.append(self.settings.orphan_grace)  # somebody starts for too long to be waited for
        return max(1.0, min(waits)) if waits else None


def place(cluster: Object, namespace: str, image: str, settings: Settings) -> Place:
    """Return what of its cluster a worker's pod depends on."""
    uid = str(dig(cluster, "metadata", "uid") or "")
    return Place(name_of(cluster), uid, namespace, settings.cluster_domain, settings.image(image))


def _leave(world: World, name: str, settings: Settings) -> Decision:
    """Return the next move for the workers of a NodeSet that is no more: drained, waited for, removed."""
    assert world.cluster is not None
    slurm = removable.answer(world.slurm, world.now, settings)
    workers = nodeset_workers.gather(world, name, (), "", slurm, settings)
    why = maintenance.leaving(world.cluster, None)
    end_jobs = maintenance.ends_jobs(world.cluster) or rotation.ends_jobs(world)
    moves = rollout.moves(Seen(world, workers, slurm, 0, why, {}, None, end_jobs=end_jobs))
    kept = {each.ordinal for each in workers}
    claims = _claims(
        world,
        name,
        lambda claim, ordinal: (
            ordinal not in kept
            and dig(claim, "metadata", "annotations", worker_volumes.WHEN_DELETED) == "Delete"
        ),
    )
    budget = world.find(DISRUPTION_BUDGET.kind, worker_services.budget_name(name_of(world.cluster), name))
    last = () if workers or budget is None else (_deletion(DISRUPTION_BUDGET, budget),)
    return Decision(
        slurm=moves.drain,
        delete=(*_pods(moves.remove), *claims, *last),
        again_in=settings.drain_poll if workers else None,
    )


def _pods(remove: Iterable[tuple[Worker, Verdict]]) -> Iterator[Deletion]:
    """Yield the deletions of workers, each of exactly the pod that was seen."""
    for each, verdict in remove:
        metadata = dig(each.pod, "metadata") or {}
        yield Deletion(
            POD,
            str(metadata.get("namespace") or ""),
            each.name,
            str(metadata.get("uid") or ""),
            str(metadata.get("resourceVersion") or "") if verdict.as_seen else "",
            worker=each.name if verdict.asked_slurm else "",
        )


def _claims(world: World, nodeset: str, gone: Any) -> Iterator[Deletion]:
    for claim in world.of_kind(CLAIM.kind):
        metadata = dig(claim, "metadata") or {}
        if dig(metadata, "labels", names.NODE_SET) != nodeset:
            continue
        ordinal = dig(metadata, "labels", names.ORDINAL)
        if metadata.get("deletionTimestamp") or not str(ordinal or "").isdecimal():
            continue
        if gone(claim, int(str(ordinal))):
            yield _deletion(CLAIM, claim)


def _deletion(kind: Kind, found: Object) -> Deletion:
    metadata = found["metadata"]
    return Deletion(
        kind, str(metadata.get("namespace") or ""), name_of(found), str(metadata.get("uid") or "")
    )


def _owned(rendered: dict[str, Any], owner: Object) -> Object:
    """Return an object that goes with its owner."""
    reference = {
        "apiVersion": dig(owner, "apiVersion"),
        "kind": dig(owner, "kind"),
        "name": name_of(owner),
        "uid": dig(owner, "metadata", "uid"),
    }
    return {**rendered, "metadata": {**rendered["metadata"], "ownerReferences": [reference]}}


def _notices(moves: Moves, pods: list[Object]) -> Iterator[Notice]:
    """Yield what is told of this pass: one Event for each kind of move."""
    if moves.drain:
        nodes = hostlist.compress(each.node for each in moves.drain)
        yield Notice("Normal", "DrainsWorkers", f"drains {nodes}, which go when no job runs there")
    if moves.remove:
        for why in sorted({verdict.why for _, verdict in moves.remove})[:3]:
            nodes = hostlist.compress(each.name for each, verdict in moves.remove if verdict.why == why)
            yield Notice("Normal", "RemovesPods", f"deletes the pods of {nodes}: {why}")
    if moves.resume:
        nodes = hostlist.compress(each.node for each in moves.resume)
        yield Notice("Normal", "ResumesWorkers", f"{nodes} take jobs again")
    if pods:
        yield Notice("Normal", "StartsWorkers", f"starts {hostlist.compress(map(name_of, pods))}")
