"""The steps from the local cluster that is there to the one that should be; pure.

The order is the safe one: what ends work is first asked of Slurm (drain), files are replaced before anything
reads them, and every daemon starts after those it depends on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import cast

from npa.cluster.model import ROLES
from npa.errors import RefusedError, UnknownError
from npa.plan import diff
from npa.plan.model import Change, Options, Plan, Step, Verb
from npa.render.local import changes, control, power
from npa.render.local.changes import Changes
from npa.render.local.desired import Desired
from npa.render.local.model import Node
from npa.render.local.world import World
from npa.slurm import hostlist, reasons

POWER = "power-"  # keys of the steps that Slurm asks for, and not the spec


def plan(desired: Desired, world: World, options: Options, notes: tuple[str, ...] = ()) -> Plan:
    """Return the plan; raise RefusedError or UnknownError where none would be safe."""
    asked = diff.diff(world.record.cluster if world.record else None, desired.cluster)
    refuse_impossible(asked, desired)
    found = changes.compare(desired, world)
    refuse_blind_removal(found, world, options)
    steps = [
        *_foundation(desired, world),
        *_endings(found, world, options),
        *_files(desired, found, world),
        *_links(found),
        *control.steps(desired, found, world),
        *_pools(desired, found, world),
        *_power(desired, found, world),
        *_users(desired, world),
        *_resumptions(desired, found, world),
    ]
    elastic = desired.cluster.elastic
    workers = tuple(name for name in desired.cluster.workers if name not in elastic)
    if workers and any(not step.key.startswith(POWER) for step in steps):
        steps.append(Step("wait", "workers", "until Slurm may schedule on them", "wait:workers", workers))
    return Plan(
        cluster=desired.cluster.name,
        target="local",
        steps=tuple(steps),
        changes=asked,
        unchanged=tuple(_unchanged(desired, found)),
        notes=notes,
    )


def refuse_impossible(asked: tuple[Change, ...], desired: Desired) -> None:
    """Refuse what the policy table knows no safe way for, all of it at once."""
    refused = diff.refused(asked)
    if refused:
        name = desired.cluster.name
        raise RefusedError(
            "; ".join(map(_impossible, refused)),
            hint=f"set it back, or `npa soperator destroy {name}` and deploy again",
        )


def _impossible(change: Change) -> str:
    what = (
        f"{change.kind} {change.subject}: {change.field} cannot change from {change.old!r} to {change.new!r}"
    )
    return f"{what}: {change.reason}"


def refuse_blind_removal(found: Changes, world: World, options: Options) -> None:
    """Without Slurm's answer nobody knows whether a node is idle, so it is not taken away."""
    leaving = sorted(filter(_is_worker, found.leaving))
    if leaving and world.slurm is None and not options.force:
        raise UnknownError(
            f"cannot tell whether jobs run on {hostlist.compress(leaving)}: {world.slurm_problem}",
            hint="bring slurmctld back with `npa soperator deploy` of the spec as it was, or use `--force`",
        )


def _foundation(desired: Desired, world: World) -> Iterator[Step]:
    name = desired.cluster.name
    if not world.image_cached:
        why = f"no image with Slurm {desired.cluster.slurm_version} is cached"
        yield Step("build", f"image {desired.image}", why, "build:image")
    if world.record is None:
        yield Step("create", f"cluster {name}", "keys, an empty jail and database", "create:cluster")
    if not world.lab:
        why = "nothing of it runs" if world.record is None else "it is stopped"
        yield Step("start", f"lab {name}", f"{why}: namespaces, network, the jail", "start:lab")


def _endings(found: Changes, world: World, options: Options) -> Iterator[Step]:
    groups = (
        (found.remove, "no longer in the spec"),
        (tuple(node.name for node in found.replace), "put together otherwise"),
    )
    for names, why in groups:
        workers = [name for name in names if _is_worker(name)]
        for pool, members in _by_pool(workers):
            yield from _worker_endings(pool, members, why, world, options)
        others = tuple(name for name in names if not _is_worker(name))
        if others:
            yield Step("stop", _called(others), why, f"stop:control plane, {why}", others)


def _worker_endings(
    pool: str, names: tuple[str, ...], why: str, world: World, options: Options
) -> Iterator[Step]:
    """Ask Slurm to let go of the nodes, then end them; jobs that are waited for do not end with them."""
    leaving, key = frozenset(names), f"stop:{pool}"
    jobs = world.slurm.running_on(leaving) if world.slurm else ()
    pending = world.slurm.waiting_for(leaving) if world.slurm else ()
    if world.slurm:
        yield Step("drain", _called(names), why, f"drain:{pool}", names, jobs, pending)
    force = options.ends_jobs(key)
    dying = () if options.wait_for_jobs and not force else jobs
    yield Step("stop", _called(names), why, key, names, dying, kills_jobs=force and bool(dying))


def _is_worker(name: str) -> bool:
    """Say by its name whether a running node may have jobs.

    Not by the record: that says what was last asked for, and whoever asked may have been refused since.
    """
    return name.rpartition("-")[0] not in ROLES


def _known_workers(world: World) -> frozenset[str]:
    """Return the workers of the last deploy."""
    return frozenset(world.record.cluster.workers) if world.record else frozenset()


def _files(desired: Desired, found: Changes, world: World) -> Iterator[Step]:
    if found.write or found.delete:
        names = dict.fromkeys(_short(path, desired) for path in (*found.write, *found.delete))
        why = "first written" if world.record is None else "the spec changes them"
        yield Step("write", ", ".join(names), why, "write:files", diff=_diff(desired, found, world))


def _links(found: Changes) -> Iterator[Step]:
    if found.unlinked:
        names = hostlist.compress(hostlist.ordered(found.unlinked))
        yield Step("restart", f"links of {names}", "cut off the network", "restart:links", found.unlinked)


def _short(path: str, desired: Desired) -> str:
    return path.removeprefix(f"{desired.layout.state}/etc/").partition("/")[2]


def _diff(desired: Desired, found: Changes, world: World) -> str:
    """Show what changes in files that were there; a file in two places is shown once, slurmdbd's never."""
    texts = {file.path: file.text for file in desired.files if file.mode != 0o600}
    shown = dict.fromkeys(
        changes.diff(_short(path, desired), world.files[path], texts[path])
        for path in found.write
        if path in world.files and path in texts
    )
    return "\n".join(shown)


def _pools(desired: Desired, found: Changes, world: World) -> Iterator[Step]:
    starting = {node.name for node in found.start} | {node.name for node in found.replace}
    known = _known_workers(world)
    for pool in desired.cluster.pools:
        fresh = tuple(name for name in pool.nodes if name in starting and name not in known)
        again = tuple(name for name in pool.nodes if name in starting and name in known)
        for names, why in ((fresh, "new"), (again, "not running")):
            if names:
                told = f"{len(names)} of {pool.size} nodes {why}"
                yield Step("start", f"pool {pool.name}", told, f"start:{pool.name}:{why}", names)
    workers = set(desired.cluster.workers)
    dead = tuple(name for name, _ in found.daemons if name in workers)
    if dead:
        yield Step("restart", f"slurmd on {hostlist.compress(dead)}", "not running", "restart:slurmd", dead)


def _power(desired: Desired, found: Changes, world: World) -> Iterator[Step]:
    """Do as Slurm wishes with elastic nodes, and keep the agent that does so from now on."""
    elastic = desired.cluster.elastic
    if bool(elastic) is not bool(world.agent):
        verb, why = ("start", "elastic pools need it") if elastic else ("stop", "no pool is elastic")
        yield Step(cast(Verb, verb), "power agent", why, f"{verb}:agent")
    for pool, names in _by_pool(found.power_down):
        yield Step("stop", _called(names), "let go of by Slurm", f"{POWER}down:{pool}", names)
    for pool, names in _by_pool(node.name for node in found.power_up):
        yield Step("start", _called(names), "wanted by Slurm", f"{POWER}up:{pool}", names)
    lost = power.failed(desired.cluster, world.slurm)
    if lost:
        yield Step(
            "resume", _called(lost), "did not come up, and go back to their pool", f"{POWER}return", lost
        )


def _by_pool(names: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for pool, members in groupby(names, key=lambda name: name.rpartition("-")[0]):
        yield pool, tuple(members)


def _users(desired: Desired, world: World) -> Iterator[Step]:
    """Accounts are only ever added: what a user has in the jail is theirs."""
    there = world.users or frozenset()
    missing = tuple(user for user in desired.cluster.users if user.name not in there)
    if missing:
        called = ", ".join(f"{user.name} ({user.uid})" for user in missing)
        # the jail of a cluster that is stopped cannot be looked into
        unseen = world.record is not None and world.users is None
        why = "unless the jail has them" if unseen else "not in the jail"
        yield Step("create", f"users {called}", why, "create:users")


def _resumptions(desired: Desired, found: Changes, world: World) -> Iterator[Step]:
    """Give back nodes that npa drained and that stay; a drain by anybody else stays too."""
    replaced = {node.name for node in found.replace}
    seen = world.slurm.nodes if world.slurm else ()
    drained = {node.name for node in seen if "DRAIN" in node.state.flags and reasons.ours(node.reason)}
    names = tuple(name for name in desired.cluster.workers if name in replaced or name in drained)
    if names and world.slurm is not None:
        yield Step("resume", _called(names), "npa drained it, and it stays", "resume:nodes", names)


def _unchanged(desired: Desired, found: Changes) -> Iterator[str]:
    kept = {node.name for node in found.keep}
    kept_control = kept - set(desired.cluster.workers)
    control = [node.name for node in desired.nodes if node.name in kept_control]
    if control:
        yield f"control plane {', '.join(control)}"
    elastic = desired.cluster.elastic
    shrinking = {name.rpartition("-")[0] for name in found.remove}
    for pool in desired.cluster.pools:
        if pool.size and kept.union(elastic).issuperset(pool.nodes) and pool.name not in shrinking:
            yield f"pool {pool.name}"


def _called(names: Iterable[str]) -> str:
    return f"nodes {hostlist.compress(names)}"


def started_nodes(desired: Desired, step: Step) -> tuple[Node, ...]:
    """Return the nodes that a `start` step starts."""
    wanted = set(step.nodes)
    return tuple(node for node in desired.nodes if node.name in wanted)
