"""The components of a cluster: which are wanted now, with how many pods, and which are to go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from npa.errors import Problem
from npa.reconcile import (
    claim_sizes,
    claims,
    database,
    maintenance,
    rotation,
    slurmcluster_gone,
    upgrades,
    workloads,
)
from npa.reconcile.claim_sizes import Sized
from npa.reconcile.decision import Deletion
from npa.reconcile.jail import Jail
from npa.reconcile.slurmcluster_config import Configured
from npa.reconcile.workloads import State
from npa.reconcile.world import World
from npa.render.kube import (
    accounting,
    controller,
    exporter,
    login,
    mariadb,
    monitors,
    names,
    rest,
    volumes,
)
from npa.render.kube.context import Context
from npa.render.kube.exporter import POD_MONITOR
from npa.render.kube.mariadb import GRANT, MARIADB
from npa.render.kube.monitors import SERVICE_MONITOR
from npa.render.objects import (
    CONFIG_MAP,
    DEPLOYMENT,
    DISRUPTION_BUDGET,
    STATEFUL_SET,
    Kind,
    Object,
    dig,
    name_of,
)


@dataclass(frozen=True, slots=True)
class Parts:
    """The components' objects, and how each component is."""

    wanted: tuple[Object, ...] = ()
    delete: tuple[Deletion, ...] = ()
    states: Mapping[str, State] = field(default_factory=dict)  # by component; only those that are wanted
    down: bool = False  # taken down for maintenance
    leaving: str = ""  # why what is to go down still runs
    waits: tuple[str, ...] = ()  # for their turn
    sized: Sized = claim_sizes.NONE  # the claims that are to grow


def decide(
    world: World,
    context: Context,
    configured: Configured,
    filled: Jail,
    problems: list[Problem],
    about_database: str = "",
) -> Parts:
    """Return the components as they are to be now; `about_database` is what is to be said of accounting's."""
    down = maintenance.active(world.cluster or {}) or bool(rotation.leaving(world))
    leaving = _leaving(world) if down else ""
    goes = down and not leaving
    sets = [*_accounting(world, context, configured, goes, problems)]
    sets += _controller(world, context, configured, goes, problems)
    sets += _login(world, context, filled, goes, problems)
    wanted = [*claims.kept(world, sets)]
    if context.spec.slurm_nodes.rest.enabled:
        wanted += rest.render(context, 0 if goes else rest.size(context), problems)
    wanted += _exporter(world, context, goes, problems)
    budgets = DISRUPTION_BUDGET.crd not in world.absent_apis
    if SERVICE_MONITOR.crd not in world.absent_apis:
        wanted += monitors.render(context)
    wanted = [each for each in wanted if each["kind"] != DISRUPTION_BUDGET.kind or budgets]
    wanted = [rotation.stamped(world, each) for each in wanted]
    turn = upgrades.ordered(world, context.name, wanted)
    return Parts(
        wanted=turn.wanted,
        waits=turn.waits,
        sized=claim_sizes.decide(world, [*claim_sizes.of_sets(world, sets), *_shared(context)]),
        delete=(*slurmcluster_gone.decide(world, context), *claims.replaced(world, sets)),
        states=dict(_states(_after(world, turn.wanted), context, about_database)),
        down=down,
        leaving=leaving,
    )


def accounting_ready(world: World, context: Context) -> bool:
    """Say whether slurmctld may be told of slurmdbd: it has none, or one that answers."""
    if not context.spec.slurm_nodes.accounting.enabled:
        return True
    name = names.workload(context.name, "accounting")
    return workloads.look(world, STATEFUL_SET, name, "accounting").status == "True"


def _shared(context: Context) -> Iterator[tuple[str, object]]:
    """Yield the claims that pods share, and how large they are to be."""
    for each in volumes.claims(context):
        yield name_of(each), dig(each, "spec", "resources", "requests", "storage")


def _leaving(world: World) -> str:
    """Return why the control plane cannot go down yet: what runs is ended by nobody but its owner."""
    if "Pod" in world.unread:
        return "pods could not be read"
    workers = workloads.pods(world, "worker")
    return f"{len(workers)} workers are not gone yet" if workers else ""


def _accounting(
    world: World, context: Context, configured: Configured, goes: bool, problems: list[Problem]
) -> Iterator[Object]:
    if not context.spec.slurm_nodes.accounting.enabled:
        return
    if context.database == "operated" and not _absent_database(world, context):
        found = world.find(MARIADB.kind, mariadb.name(context.name))
        yield from mariadb.render(context, found, problems)
    if not configured.slurmdbd:
        return
    # slurmctld writes down what it still has to say of jobs
    last = workloads.pods(world, "controller")
    replicas = 0 if goes and not last and "Pod" not in world.unread else 1
    yield from accounting.render(context, replicas, configured.slurmdbd, problems)


def _absent_database(world: World, context: Context) -> bool:
    """Say whether a database cannot be asked for now: nobody knows where the data are, or nobody answers."""
    absent = {MARIADB.crd, GRANT.crd} & world.absent_apis
    return bool(absent or database.unread(world, context))


def _controller(
    world: World, context: Context, configured: Configured, goes: bool, problems: list[Problem]
) -> Iterator[Object]:
    rendered = controller.render(context, 0 if goes else 1, problems)
    # without files its pod could not start
    there = world.find(CONFIG_MAP.kind, names.config(context.name)) is not None
    if there or configured.config_map is not None:
        yield from rendered


def _login(
    world: World, context: Context, filled: Jail, goes: bool, problems: list[Problem]
) -> Iterator[Object]:
    name = context.spec.slurm_nodes.login.sshd_config_map_ref_name
    own = world.find(CONFIG_MAP.kind, name) if name else None
    rendered = login.render(context, 0 if goes else login.size(context), own, problems)
    begun = world.find(STATEFUL_SET.kind, names.workload(context.name, "login")) is not None
    for each in rendered:
        # sessions open in the jail, and sshd starts with the file that it is to have
        starts = (filled.populated.holds or begun) and (own is not None or not name)
        if each["kind"] != STATEFUL_SET.kind or starts:
            yield each


def _after(world: World, wanted: Iterable[Object]) -> World:
    """Return the world as it is once all of it is written, before anybody looks at it: when this is said."""
    written = {(str(each["kind"]), name_of(each)): each for each in wanted}
    return replace(world, objects={**written, **world.objects})


def _exporter(world: World, context: Context, goes: bool, problems: list[Problem]) -> Iterator[Object]:
    if not context.spec.slurm_nodes.exporter.enabled or exporter.lacks(context)[0]:
        return
    yield from exporter.render(context, 0 if goes else 1, problems)
    if POD_MONITOR.crd not in world.absent_apis:
        yield exporter.pod_monitor(context)


def _states(world: World, context: Context, about_database: str) -> Iterator[tuple[str, State]]:
    nodes = context.spec.slurm_nodes
    yield "controller", _look(world, context, "controller", STATEFUL_SET)
    yield "login", _look(world, context, "login", STATEFUL_SET)
    if nodes.accounting.enabled:
        state = _look(world, context, "accounting", STATEFUL_SET)
        found = world.find(MARIADB.kind, mariadb.name(context.name))
        why = about_database or (mariadb.trouble(found) if state.status != "True" else "")
        yield "accounting", replace(state, message=f"{state.message}; {why}") if why else state
    if nodes.rest.enabled:
        yield "rest", _look(world, context, "rest", DEPLOYMENT)
    if nodes.exporter.enabled and not exporter.lacks(context)[0]:
        name = exporter.workload(context.name)
        yield "exporter", workloads.look(world, DEPLOYMENT, name, "exporter")


def _look(world: World, context: Context, component: names.Component, kind: Kind) -> State:
    return workloads.look(world, kind, names.workload(context.name, component), component)
