"""The components of a cluster: which are wanted now, with how many pods, and which are to go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from npa.errors import Problem
from npa.reconcile import claims, maintenance, rotation, upgrades, workloads
from npa.reconcile.decision import Deletion
from npa.reconcile.jail import Jail
from npa.reconcile.slurmcluster_config import Configured
from npa.reconcile.workloads import State
from npa.reconcile.world import World
from npa.render.kube import accounting, controller, login, monitors, names, rest, volumes
from npa.render.kube.context import Context
from npa.render.kube.monitors import SERVICE_MONITOR
from npa.render.objects import (
    CONFIG_MAP,
    DEPLOYMENT,
    DISRUPTION_BUDGET,
    SECRET,
    SERVICE,
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


def decide(
    world: World, context: Context, configured: Configured, filled: Jail, problems: list[Problem]
) -> Parts:
    """Return the components as they are to be now."""
    down = maintenance.active(world.cluster or {}) or bool(rotation.leaving(world))
    leaving = _leaving(world) if down else ""
    goes = down and not leaving
    wanted = [*_accounting(world, context, configured, goes, problems)]
    wanted += _controller(world, context, configured, goes, problems)
    wanted += _login(world, context, filled, goes, problems)
    if context.spec.slurm_nodes.rest.enabled:
        wanted += rest.render(context, 0 if goes else rest.size(context), problems)
    budgets = DISRUPTION_BUDGET.crd not in world.absent_apis
    if SERVICE_MONITOR.crd not in world.absent_apis:
        wanted += monitors.render(context)
    wanted = [each for each in wanted if each["kind"] != DISRUPTION_BUDGET.kind or budgets]
    wanted = [rotation.stamped(world, each) for each in wanted]
    turn = upgrades.ordered(world, context.name, wanted)
    return Parts(
        wanted=turn.wanted,
        waits=turn.waits,
        delete=tuple(_gone(world, context)),
        states=dict(_states(_after(world, turn.wanted), context)),
        down=down,
        leaving=leaving,
    )


def accounting_ready(world: World, context: Context) -> bool:
    """Say whether slurmctld may be told of slurmdbd: it has none, or one that answers."""
    if not context.spec.slurm_nodes.accounting.enabled:
        return True
    name = names.workload(context.name, "accounting")
    return workloads.look(world, STATEFUL_SET, name, "accounting").status == "True"


def _leaving(world: World) -> str:
    """Return why the control plane cannot go down yet: what runs is ended by nobody but its owner."""
    if "Pod" in world.unread:
        return "pods could not be read"
    workers = workloads.pods(world, "worker")
    return f"{len(workers)} workers are not gone yet" if workers else ""


def _accounting(
    world: World, context: Context, configured: Configured, goes: bool, problems: list[Problem]
) -> Iterator[Object]:
    if not context.spec.slurm_nodes.accounting.enabled or not configured.slurmdbd:
        return
    # slurmctld writes down what it still has to say of jobs
    last = workloads.pods(world, "controller")
    replicas = 0 if goes and not last and "Pod" not in world.unread else 1
    yield from claims.kept(world, accounting.render(context, replicas, configured.slurmdbd, problems))


def _controller(
    world: World, context: Context, configured: Configured, goes: bool, problems: list[Problem]
) -> Iterator[Object]:
    rendered = controller.render(context, 0 if goes else 1, problems)
    # without files its pod could not start
    there = world.find(CONFIG_MAP.kind, names.config(context.name)) is not None
    if there or configured.config_map is not None:
        yield from claims.kept(world, rendered)


def _login(
    world: World, context: Context, filled: Jail, goes: bool, problems: list[Problem]
) -> Iterator[Object]:
    name = context.spec.slurm_nodes.login.sshd_config_map_ref_name
    own = world.find(CONFIG_MAP.kind, name) if name else None
    rendered = login.render(context, 0 if goes else login.size(context), own, problems)
    begun = world.find(STATEFUL_SET.kind, names.workload(context.name, "login")) is not None
    for each in claims.kept(world, rendered):
        # sessions open in the jail, and sshd starts with the file that it is to have
        starts = (filled.populated.holds or begun) and (own is not None or not name)
        if each["kind"] != STATEFUL_SET.kind or starts:
            yield each


def _after(world: World, wanted: Iterable[Object]) -> World:
    """Return the world as it is once all of it is written, before anybody looks at it: when this is said."""
    written = {(str(each["kind"]), name_of(each)): each for each in wanted}
    return replace(world, objects={**written, **world.objects})


def _states(world: World, context: Context) -> Iterator[tuple[str, State]]:
    nodes = context.spec.slurm_nodes
    yield "controller", _look(world, context, "controller", STATEFUL_SET)
    yield "login", _look(world, context, "login", STATEFUL_SET)
    if nodes.accounting.enabled:
        yield "accounting", _look(world, context, "accounting", STATEFUL_SET)
    if nodes.rest.enabled:
        yield "rest", _look(world, context, "rest", DEPLOYMENT)


def _look(world: World, context: Context, component: names.Component, kind: Kind) -> State:
    return workloads.look(world, kind, names.workload(context.name, component), component)


def _gone(world: World, context: Context) -> Iterator[Deletion]:
    """Yield what belongs to components that are switched off; data and their Secrets stay."""
    nodes = context.spec.slurm_nodes
    off: list[tuple[Kind, str]] = []
    if not nodes.accounting.enabled:
        off += _of(context, "accounting", STATEFUL_SET)
        off.append((SECRET, names.dbd_config(context.name)))
    if not nodes.rest.enabled:
        off += _of(context, "rest", DEPLOYMENT)
    if not nodes.controller.open_metrics.enabled:
        off.append((SERVICE_MONITOR, monitors.name(context)))
    if login.size(context) < 2:
        off.append((DISRUPTION_BUDGET, names.workload(context.name, "login")))
    for component, text in _limits(context):
        if not text.strip():
            off.append((CONFIG_MAP, volumes.limits_name(context, component)))
    for kind, name in off:
        found = world.find(kind.kind, name) if kind.kind not in world.unread else None
        if found is not None and _ours(found, context) and not dig(found, "metadata", "deletionTimestamp"):
            yield Deletion(kind, context.namespace, name, str(dig(found, "metadata", "uid") or ""))


def _of(context: Context, component: names.Component, kind: Kind) -> list[tuple[Kind, str]]:
    return [
        (kind, names.workload(context.name, component)),
        (SERVICE, names.service(context.name, component)),
        (CONFIG_MAP, volumes.limits_name(context, component)),
    ]


def _limits(context: Context) -> Iterator[tuple[names.Component, str]]:
    nodes = context.spec.slurm_nodes
    yield "controller", nodes.controller.slurmctld.security_limits_config
    yield "login", nodes.login.sshd.security_limits_config
    if nodes.accounting.enabled:
        yield (
            "accounting",
            nodes.accounting.slurmdbd.security_limits_config if nodes.accounting.slurmdbd else "",
        )
    if nodes.rest.enabled:
        yield "rest", nodes.rest.rest.security_limits_config if nodes.rest.rest else ""


def _ours(found: Object, context: Context) -> bool:
    """Say whether an object is the cluster's own: somebody else's of the same name is left alone."""
    owners = dig(found, "metadata", "ownerReferences") or ()
    return any(each.get("uid") == context.cluster.metadata.uid for each in owners)
