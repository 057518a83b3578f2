"""Why a node takes no jobs, or that it does: Slurm's record of it, our daemons and its logs, joined. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from npa.health import drained_why, explain
from npa.health.explain import DEPLOY, Cause, Explanation, Place, Verdict
from npa.health.observation import Daemon
from npa.plan.model import JobRef
from npa.slurm import drains, reasons
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.slurm.replies import SlurmNodeReply

_MANY_JOBS = 5


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """Everything that may tell why a node is as it is."""

    place: Place
    name: str
    now: datetime
    worker: bool
    cluster_runs: bool
    alive: bool  # the node's first process
    slurm: Lookup[SlurmNodeReply]
    daemons: tuple[Daemon, ...] = ()  # that should run on it
    controller_up: bool = True
    jobs: tuple[JobRef, ...] | None = None  # on it; None: not known
    log: tuple[str, ...] = ()  # lines about it of slurmctld's
    own_log: tuple[str, ...] = ()  # the end of its daemons'


def explain_node(facts: NodeFacts) -> Explanation:
    """Return why the node is as it is."""
    causes = tuple(_causes(facts))
    verdict = _verdict(facts, causes)
    return Explanation(
        subject=f"node {facts.name}",
        cluster=facts.place.cluster,
        verdict=verdict,
        state=_state(facts),
        summary=_summary(facts, verdict, causes),
        causes=causes,
        facts=tuple(_facts(facts)),
        log=_log(facts) if verdict in ("action", "unknown") else (),
        unread=tuple(_unread(facts)),
        next_command=_next(facts, causes),
    )


def _causes(facts: NodeFacts) -> Iterator[Cause]:
    """Yield what is wrong, that which explains the rest first."""
    if not facts.cluster_runs:
        what = f"cluster {facts.place.cluster} is stopped"
        yield Cause(what, (), "start it: deploy the same spec again", DEPLOY)
        return
    here = tuple(_here(facts))
    yield from here
    if not facts.worker:
        return
    if not facts.controller_up:
        yield Cause(
            "slurmctld is down, so no node gets a job; what runs goes on",
            (),
            "deploy the same spec again to start it",
            facts.place.logs(),
        )
    match facts.slurm:
        case Found(node) if here and _is_silent(node):
            pass  # it follows from what was found here, which has it as its evidence
        case Found(node):
            yield from drained_why.causes(node, facts.now, facts.place)
        case Absent():
            yield Cause(
                "slurmctld does not know the node", (), "deploy the same spec again to add it", DEPLOY
            )


def _here(facts: NodeFacts) -> Iterator[Cause]:
    """Yield what is wrong with the node's own processes."""
    if _powered_down(facts.slurm):
        return  # Slurm sent it away itself
    evidence: tuple[str, ...] = ()
    if isinstance(facts.slurm, Found) and _is_silent(facts.slurm.value):
        evidence = drained_why.said(facts.slurm.value, facts.now)
    if not facts.alive:
        what = "the node itself has ended: its first process is gone"
        remedy = "deploy the same spec again: it starts what is missing, and the jail is kept"
        yield Cause(what, evidence, remedy, DEPLOY)
        return
    logged = facts.place.logs(facts.name)
    for daemon in facts.daemons:
        if daemon.state != "up":
            what = "is not running" if daemon.state == "down" else "may be down: its state could not be read"
            remedy = f"deploy the same spec again to start it; what it logged: {logged}"
            yield Cause(f"{daemon.name} {what}", evidence, remedy, DEPLOY)


def _is_silent(node: SlurmNodeReply) -> bool:
    """Say whether all that Slurm says of a node is that it does not answer."""
    flags = node.state.flags
    return reasons.parse(node.reason, node.reason_user).kind == "not_responding" and "DRAIN" not in flags


def _powered_down(slurm: Lookup[SlurmNodeReply]) -> bool:
    return isinstance(slurm, Found) and bool(slurm.value.state.flags & drained_why.POWER)


def _verdict(facts: NodeFacts, causes: tuple[Cause, ...]) -> Verdict:
    if isinstance(facts.slurm, Unknown) and facts.worker and not causes:
        return "unknown"
    if not isinstance(facts.slurm, Found):
        return "action" if causes else "fine"
    state = facts.slurm.value.state
    if not causes:
        return "fine"
    if state.unknown and "INVAL" not in state.flags and len(causes) == 1:
        return "unknown"
    by_itself = bool(state.flags & drained_why.BY_THEMSELVES) and not tuple(_here(facts))
    waits = drains.reboot(state, facts.slurm.value.reason_changed_at, facts.now) in ("asked", "under way")
    down = state.base in ("DOWN", "ERROR") or "DRAIN" in state.flags
    return "waits" if len(causes) == 1 and (waits or (by_itself and not down)) else "action"


def _state(facts: NodeFacts) -> str:
    if isinstance(facts.slurm, Found):
        return str(facts.slurm.value.state).lower()
    if not facts.worker:
        return "up" if facts.alive and all(each.state == "up" for each in facts.daemons) else "down"
    return "unknown" if isinstance(facts.slurm, Unknown) else "absent"


def _summary(facts: NodeFacts, verdict: Verdict, causes: tuple[Cause, ...]) -> str:
    state = _state(facts)
    if verdict == "unknown":
        return f"{state}: {causes[0].what if causes else 'nothing can be concluded'}"
    if causes:
        how = "takes no jobs" if facts.worker and not _takes_jobs(facts) else "not well"
        return f"{state}, {how}: {causes[0].what}"
    if isinstance(facts.slurm, Found) and facts.slurm.value.cpus:
        node = facts.slurm.value
        full = ", so it takes no more jobs until one ends" if node.alloc_cpus >= node.cpus else ""
        return f"fine: {state}, {node.alloc_cpus} of {node.cpus} CPUs in use{full}"
    return f"fine: {state}"


def _takes_jobs(facts: NodeFacts) -> bool:
    return isinstance(facts.slurm, Found) and facts.slurm.value.state.schedulable and facts.controller_up


def _facts(facts: NodeFacts) -> Iterator[tuple[str, str]]:
    if facts.cluster_runs:
        up = [f"{each.name} {each.state}" for each in facts.daemons]
        yield "daemons", ", ".join(up) or "none known"
    if isinstance(facts.slurm, Found):
        node = facts.slurm.value
        yield (
            "size",
            f"{node.cpus} CPUs, {explain.memory(node.real_memory)} memory"
            + (f", {node.gres}" if node.gres else ""),
        )
        used = f"{node.alloc_cpus} CPUs, {explain.memory(node.alloc_memory)} memory"
        yield "in use", used if node.alloc_cpus or node.alloc_memory else "nothing"
        yield "partitions", ", ".join(node.partitions) or "none"
        if node.boot_time:
            yield "booted", explain.moment(node.boot_time, facts.now)
        if node.slurmd_start_time:
            yield "slurmd since", explain.moment(node.slurmd_start_time, facts.now)
    if facts.jobs:
        told = [f"{job.id} ({job.user}, {job.name}, {job.state.lower()})" for job in facts.jobs]
        more = f" and {len(told) - _MANY_JOBS} more" if len(told) > _MANY_JOBS else ""
        yield "jobs", ", ".join(told[:_MANY_JOBS]) + more


def _log(facts: NodeFacts) -> tuple[str, ...]:
    """Return the lines that may tell more; a healthy slurmd's say nothing about a drain by somebody."""
    up = all(each.state == "up" for each in facts.daemons)
    if up and isinstance(facts.slurm, Found):
        owner = reasons.parse(facts.slurm.value.reason, facts.slurm.value.reason_user).owner
        if owner in ("npa", "person"):
            return facts.log
    return (*facts.own_log, *facts.log)


def _unread(facts: NodeFacts) -> Iterator[str]:
    if facts.worker and facts.cluster_runs:
        if isinstance(facts.slurm, Unknown):
            yield f"the state of the node in Slurm: {facts.slurm.why}"
        if facts.jobs is None:
            yield "the jobs on it"


def _next(facts: NodeFacts, causes: tuple[Cause, ...]) -> str:
    commands = (cause.command for cause in causes if cause.command)
    return next(commands, f"npa soperator status {facts.place.cluster}")
