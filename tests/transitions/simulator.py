"""A local cluster that obeys its steps: what `targets.local` does to a machine, done to a World."""

from __future__ import annotations

from dataclasses import dataclass, replace

from npa.cluster.model import Cluster, Machine, Partition, Pool
from npa.health.answers import SlurmView
from npa.health.observation import SlurmNode
from npa.plan.model import JobRef, Options, Plan, Step
from npa.render.local import addresses, desired, nodes, steps
from npa.render.local.desired import Desired
from npa.render.local.layout import Layout
from npa.render.local.world import Record, Running, World
from npa.slurm import reasons
from npa.slurm.runtime import Runtime
from npa.slurm.states import NodeState

LAYOUT = Layout("/state/quick")
RUNTIME = Runtime(cgroup="v1", twin=True)
ASKING = Options()
IDLE = NodeState.parse("IDLE")
DRAINED = NodeState.parse("IDLE+DRAIN")


def pool(name: str, size: int, *, cpus: int = 16, gpus: int = 0) -> Pool:
    machine = Machine(cpus, 65536, gpus, "b200" if gpus else "")
    return Pool(name, name, size, machine, "cpu-d3", "16vcpu-64gb")


def cluster(*pools: Pool, accounting: bool = True, settings: tuple[tuple[str, str], ...] = ()) -> Cluster:
    return Cluster(
        name="quick",
        target="local",
        pools=pools,
        partitions=(Partition("main", (), default=True),),
        accounting=accounting,
        rest=accounting,
        slurm_settings=settings,
    )


def want(asked: Cluster, world: World) -> Desired:
    known = world.record.addresses if world.record else {}
    given = addresses.assign(known, nodes.names(asked))
    return desired.render(asked, LAYOUT, RUNTIME, "image", given)


def plan(asked: Cluster, world: World, options: Options = ASKING) -> Plan:
    return steps.plan(want(asked, world), world, options)


def fresh(asked: Cluster) -> World:
    """Return the world after a first deploy."""
    nothing = World(record=None, image_cached=True)
    return apply(want(asked, nothing), nothing, plan(asked, nothing).steps)


def with_jobs(world: World, *jobs: JobRef) -> World:
    assert world.slurm is not None
    return replace(world, slurm=replace(world.slurm, jobs=jobs))


def apply(wanted: Desired, world: World, todo: tuple[Step, ...]) -> World:
    """Do the steps, and what Slurm then says."""
    for step in todo:
        world = _do(wanted, world, step)
    return world


def _do(wanted: Desired, world: World, step: Step) -> World:
    if step.key == "create:cluster":
        return replace(world, record=_record(wanted, {}))
    if world.record is not None:
        world = replace(world, record=_record(wanted, world.record.loaded))
    if step.key == "start:lab":
        return replace(world, lab=1, nodes={})
    if step.verb in ("start", "restart"):
        return _start(wanted, world, step)
    if step.verb == "stop":
        left = {name: node for name, node in world.nodes.items() if name not in step.nodes}
        return _without_jobs(replace(world, nodes=left), step)
    if step.key == "write:files":
        return replace(world, files={file.path: file.text for file in wanted.files})
    if step.verb == "drain":
        return _mark(world, step.nodes, DRAINED, reasons.leaving(step.reason))
    if step.verb == "resume":
        return _mark(world, step.nodes, IDLE, "")
    if step.key == "reconfigure":
        return _read(wanted, world, ["slurmctld"])
    return world


def _record(wanted: Desired, loaded: object) -> Record:
    return Record(
        name="quick",
        created="2026-01-01T00:00:00+00:00",
        image="image",
        rootfs="/image",
        slurm_version="26.05.5",
        cgroups={},
        addresses=wanted.addresses,
        cluster=wanted.cluster,
        loaded=dict(loaded),  # type: ignore[call-overload]
    )


def _start(wanted: Desired, world: World, step: Step) -> World:
    started = [node for node in wanted.nodes if node.name in step.nodes]
    running = dict(world.nodes)
    for node in started:
        daemons = {process.name: 1 for process in node.processes}
        running[node.name] = Running(1, wanted.fingerprint(node), daemons)
    read = [process.name for node in started for process in node.processes]
    return _read(wanted, replace(world, nodes=running), read)


def _read(wanted: Desired, world: World, daemons: list[str]) -> World:
    """A daemon reads the files that are there at this moment."""
    assert world.record is not None
    there = all(world.files.get(file.path) == file.text for file in wanted.files)
    read = {
        name: wanted.reads(name) if there else "stale"
        for name in daemons
        if name in ("slurmctld", "slurmdbd")
    }
    world = replace(world, record=replace(world.record, loaded={**world.record.loaded, **read}))
    if "slurmctld" in read:
        known = {node.name: node for node in world.slurm.nodes} if world.slurm else {}
        nodes_now = tuple(
            known.get(name, SlurmNode(name, IDLE, partitions=("main",))) for name in wanted.cluster.workers
        )
        jobs = world.slurm.jobs if world.slurm else ()
        world = replace(world, slurm=SlurmView(nodes_now, jobs))
    return world


def _mark(world: World, names: tuple[str, ...], state: NodeState, reason: str) -> World:
    assert world.slurm is not None
    marked = tuple(
        replace(node, state=state, reason=reason) if node.name in names else node
        for node in world.slurm.nodes
    )
    return replace(world, slurm=replace(world.slurm, nodes=marked))


def _without_jobs(world: World, step: Step) -> World:
    if world.slurm is None:
        return world
    left = tuple(job for job in world.slurm.jobs if not set(job.nodes) & set(step.nodes))
    return replace(world, slurm=replace(world.slurm, jobs=left))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a world looks like when nothing is left to do: comparable between ways to get there."""

    nodes: frozenset[tuple[str, frozenset[str]]]
    files: frozenset[str]
    drained: frozenset[str]


def outcome(world: World) -> Outcome:
    assert world.slurm is not None
    return Outcome(
        frozenset((name, frozenset(node.daemons)) for name, node in world.nodes.items()),
        frozenset(path for path in world.files if not path.endswith("/hosts")),
        frozenset(node.name for node in world.slurm.nodes if "DRAIN" in node.state.flags),
    )
