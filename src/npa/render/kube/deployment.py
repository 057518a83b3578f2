"""The steps from what is on Kubernetes to what a spec asks for, with what they do to jobs; pure.

The operator drains nodes and waits for their jobs by itself, and ends none: so a step that takes nodes away
names the jobs that it will wait for.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import yaml

from npa.cluster.model import Cluster, Pool
from npa.errors import OwnershipError, RefusedError, UnknownError
from npa.health.answers import SlurmView
from npa.plan import diff
from npa.plan.model import Change, Plan, Step
from npa.render.kube import asked, differs
from npa.render.kube.asked import Place
from npa.render.objects import CLAIM, NODE_SET, SLURM_CLUSTER, Object, dig, name_of
from npa.slurm import hostlist

_ABOUT = {
    CLAIM.kind: "the jail, which every node shares",
    SLURM_CLUSTER.kind: "slurmctld, logins, accounting, REST",
    NODE_SET.kind: "workers",
}
_TAKEN = ("ConfigurationValid", "Accepted")
NOTE = "jobs on nodes that go away are waited for by the operator, which ends none"


@dataclass(frozen=True, slots=True)
class There:
    """What is there; `slurm` is None where slurmctld could not be asked, which never means idle."""

    namespace: bool = False
    operator: tuple[str, ...] = ()  # what an installation of the operator would write; none: it is there
    objects: Mapping[tuple[str, str], Object] = field(default_factory=dict)  # by kind and name
    users: frozenset[str] | None = None  # accounts in the jail
    slurm: SlurmView | None = None
    slurm_problem: str = ""
    others: Mapping[str, str] = field(default_factory=dict)  # NodeSets of other clusters, and whose they are

    def find(self, kind: str, name: str) -> Object | None:
        """Return an object."""
        return self.objects.get((kind, name))


def plan(cluster: Cluster, place: Place, there: There) -> Plan:
    """Return the plan; raises RefusedError, OwnershipError or UnknownError where none would be safe."""
    found = there.find(SLURM_CLUSTER.kind, cluster.name)
    before = asked.said(found)
    if found is not None and before is None:
        raise OwnershipError(
            f"SlurmCluster {place.namespace}/{cluster.name} was not made by npa",
            expected=f"its annotation {asked.SAID}",
            found="none",
            hint="give the spec another name, or go on with kubectl",
        )
    changes = diff.diff(before, cluster)
    _refuse(changes, cluster.name)
    _refuse_smaller(cluster, place)
    _refuse_others(cluster, place, there)
    wanted = [differs.stamp(each) for each in asked.render(cluster, place)]
    written = [each for each in wanted if differs.differs(each, _found(there, each))]
    leaving = _leaving(before, cluster, there)
    if leaving and there.slurm is None:
        raise UnknownError(
            f"cannot tell whether jobs run on {hostlist.compress(leaving)}: {there.slurm_problem}",
            hint="bring slurmctld back first: `npa soperator status` says what is wrong",
        )
    steps = [
        *_foundation(there, place),
        *_drains(leaving, there.slurm),
        *(_write(each, _found(there, each), cluster) for each in written),
        *_removals(before, cluster, there),
    ]
    if steps or not _available(found):
        steps.append(Step("wait", f"cluster {cluster.name}", "until Slurm may schedule", "wait:cluster"))
    steps += _users(cluster, there)
    return Plan(
        cluster=cluster.name,
        target="kubernetes",
        steps=tuple(steps),
        changes=changes,
        unchanged=tuple(f"{each['kind']} {name_of(each)}" for each in wanted if each not in written),
        notes=(NOTE,) if leaving else (),
    )


def plan_removal(cluster: Cluster, place: Place, there: There, *, force: bool) -> Plan:
    """Return the steps that leave nothing of a cluster but, where it is a folder, what is in its jail."""
    if there.slurm is None and not force and _runs(there.find(SLURM_CLUSTER.kind, cluster.name)):
        raise UnknownError(
            f"cannot tell whether jobs run on {cluster.name}: {there.slurm_problem}",
            hint="bring slurmctld back, or end all with `--force`",
        )
    jobs = there.slurm.running if there.slurm else ()
    steps = [
        Step(
            "stop",
            f"SlurmCluster {cluster.name}",
            "its daemons and workers end",
            "stop:cluster",
            cluster.workers,
            jobs,
            kills_jobs=force and bool(jobs),
        )
    ]
    rest = ", ".join(f"{kind} {name}" for kind, name in sorted(there.objects) if kind != SLURM_CLUSTER.kind)
    if rest:
        steps.append(Step("remove", rest, "what the cluster was made of", "remove:rest"))
    notes = (f"{place.jail_path} stays on the nodes",) if place.jail_path else ()
    return Plan(cluster.name, "kubernetes", tuple(steps), notes=notes)


def _refuse(changes: tuple[Change, ...], name: str) -> None:
    refused = diff.refused(changes)
    if refused:
        told = "; ".join(f"{each.kind} {each.subject}: {each.field}: {each.reason}" for each in refused)
        raise RefusedError(told, hint=f"set it back, or `npa soperator destroy {name}` and deploy again")


def _refuse_smaller(cluster: Cluster, place: Place) -> None:
    gpus = [pool.name for pool in cluster.pools if pool.machine.gpus]
    if place.smaller and gpus:
        raise RefusedError(
            f"pool {', '.join(gpus)} has GPUs, which no smaller worker has",
            hint="leave --worker-cpu and --worker-memory away, or the pool out of the spec",
        )


def _refuse_others(cluster: Cluster, place: Place, there: There) -> None:
    """Take no NodeSet from another cluster: a NodeSet has the name of its pool, and a namespace one of it."""
    taken = [
        f"{pool.name} (of {there.others[pool.name]})" for pool in cluster.pools if pool.name in there.others
    ]
    if taken:
        raise OwnershipError(
            f"namespace {place.namespace} has NodeSets of these pools' names: {', '.join(taken)}",
            expected=f"NodeSets of cluster {cluster.name}",
            found="those of another cluster",
            hint="give the pools other names, or the cluster a namespace of its own with `--namespace`",
        )


def _foundation(there: There, place: Place) -> Iterator[Step]:
    if there.operator:
        shown = f"{len(there.operator)} objects"
        yield Step(
            "create", "the operator", f"it is not there, or another version: {shown}", "create:operator"
        )
    if not there.namespace:
        yield Step("create", f"namespace {place.namespace}", "the cluster is in it", "create:namespace")


def _leaving(before: Cluster | None, after: Cluster, there: There) -> tuple[str, ...]:
    """Return the nodes that go away: of pools that shrink or end, and those of another shape."""
    old = {pool.name: pool for pool in (before.pools if before else ())}
    new = {pool.name: pool for pool in after.pools}
    gone = [node for name, pool in old.items() for node in pool.nodes if node not in _nodes(new.get(name))]
    changed = [
        node
        for name, pool in old.items()
        if name in new and new[name].machine != pool.machine
        for node in pool.nodes
        if node not in gone
    ]
    known = {node.name for node in there.slurm.nodes} if there.slurm else {*gone, *changed}
    return tuple(node for node in hostlist.ordered([*gone, *changed]) if node in known)


def _nodes(pool: Pool | None) -> tuple[str, ...]:
    return pool.nodes if pool else ()


def _drains(leaving: tuple[str, ...], slurm: SlurmView | None) -> Iterator[Step]:
    if leaving and slurm:
        names = frozenset(leaving)
        jobs, pending = slurm.running_on(names), slurm.waiting_for(names)
        shown = f"nodes {hostlist.compress(leaving)}"
        yield Step(
            "drain", shown, "they go away, or change their shape", "drain:nodes", leaving, jobs, pending
        )


def _write(wanted: Object, found: Object | None, cluster: Cluster) -> Step:
    kind, name = str(wanted["kind"]), name_of(wanted)
    nodes = next((pool.nodes for pool in cluster.pools if kind == NODE_SET.kind and pool.name == name), ())
    if found is None:
        return Step("create", f"{kind} {name}", _ABOUT[kind], f"write:{kind}:{name}", nodes)
    reason = "the spec changes it" if shown(found, wanted) else "somebody took away what npa wrote"
    return Step("write", f"{kind} {name}", reason, f"write:{kind}:{name}", nodes, diff=shown(found, wanted))


def shown(found: Object, wanted: Object) -> str:
    """Return a unified diff of what npa writes of an object's spec."""
    before, after = _yaml(_within(found.get("spec"), wanted.get("spec"))), _yaml(wanted.get("spec"))
    name = f"{wanted['kind']} {name_of(wanted)}"
    lines = difflib.unified_diff(before, after, f"{name} now", f"{name} then", n=0, lineterm="")
    return "\n".join(lines)


def _yaml(value: object) -> list[str]:
    return yaml.safe_dump(value, sort_keys=True, width=110).splitlines()


def _within(found: object, wanted: object) -> object:
    """Return what is there of the fields that are wanted: the rest are the API's defaults."""
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        return {key: _within(found[key], wanted[key]) for key in wanted if key in found}
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        return [_within(one, other) for one, other in zip(found, wanted, strict=True)]
    return found


def _removals(before: Cluster | None, after: Cluster, there: There) -> Iterator[Step]:
    kept = {pool.name for pool in after.pools}
    for pool in before.pools if before else ():
        if pool.name not in kept and there.find(NODE_SET.kind, pool.name) is not None:
            why = "no longer in the spec; its nodes go once their jobs have ended"
            yield Step("remove", f"{NODE_SET.kind} {pool.name}", why, f"remove:{pool.name}", pool.nodes)


def _users(cluster: Cluster, there: There) -> Iterator[Step]:
    """Accounts are only ever added: what a user has in the jail is theirs."""
    missing = [user for user in cluster.users if user.name not in (there.users or frozenset())]
    if missing:
        called = ", ".join(f"{user.name} ({user.uid})" for user in missing)
        why = "not in the jail" if there.users is not None else "unless the jail has them"
        yield Step("create", f"users {called}", why, "create:users")


def _found(there: There, wanted: Object) -> Object | None:
    return there.find(str(wanted["kind"]), name_of(wanted))


def _available(found: Object | None) -> bool:
    return bool(dig(found, "status", "phase") == "Available")


def _runs(found: Object | None) -> bool:
    """Say whether slurmctld may have taken jobs: it has once the cluster was available."""
    return found is not None and dig(found, "status", "phase") not in (None, "", "Pending")


def waits_for(objects: Iterable[Object]) -> tuple[str, ...]:
    """Return what is not yet as it should be, in words; nothing where the cluster is ready."""
    return tuple(told for each in objects if (told := _unready(each)))


def refused(objects: Iterable[Object]) -> str:
    """Return why the operator does not take what is there, as it says itself; "" where it does."""
    for each in objects:
        for row in dig(each, "status", "conditions") or ():
            current = row.get("observedGeneration") == dig(each, "metadata", "generation")
            if row.get("type") in _TAKEN and row.get("status") == "False" and current:
                return f"{each['kind']} {name_of(each)}: {row.get('message') or row.get('reason')}"
    return ""


def _unready(found: Object) -> str:
    kind, name = str(found.get("kind")), name_of(found)
    good = "Available" if kind == SLURM_CLUSTER.kind else "Ready"
    phase = dig(found, "status", "phase")
    if dig(found, "metadata", "deletionTimestamp"):
        return f"{kind} {name} is going"
    if phase == good:
        return ""
    rows = dig(found, "status", "conditions") or []
    bad = [f"{row.get('type')}: {row.get('message') or row.get('reason')}" for row in rows if _failing(row)]
    return f"{kind} {name} is {phase or 'new'}" + (f" ({'; '.join(bad)})" if bad else "")


def _failing(row: Object) -> bool:
    # of these two, False is how it should be
    told = row.get("type") not in ("IgnoredFields", "JobsRunning")
    return told and row.get("status") == "False" and row.get("reason") not in ("Disabled", "NotEnabled")
