"""Why a job waits, where it runs or how it ended: Slurm's record of it, its nodes and logs, joined. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from npa.health import ended_why, explain, fits
from npa.health.explain import Cause, Explanation, Place, Verdict
from npa.slurm import pending, quantity
from npa.slurm.job_detail import JobDetail
from npa.slurm.lookup import Found, Lookup, Unknown
from npa.slurm.quantity import UNLIMITED
from npa.slurm.replies import SlurmNodeReply

MANY = 20  # explanations of one array
_UNIT = 60  # Slurm's time limits are minutes


@dataclass(frozen=True, slots=True)
class JobFacts:
    """Everything that may tell why a job is as it is."""

    place: Place
    now: datetime
    jobs: tuple[JobDetail, ...]  # all that the id means: one, or tasks of an array
    source: Literal["slurmctld", "accounting"]
    nodes: Lookup[tuple[SlurmNodeReply, ...]]
    accounting: bool = False  # it is kept, so sacct can be asked
    log: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def explain_job(facts: JobFacts) -> tuple[Explanation, ...]:
    """Return one explanation for all tasks that look alike, those that need somebody first."""
    order: tuple[Verdict, ...] = ("action", "unknown", "waits", "fine")
    found = [_explain(facts, group) for group in _groups(facts.jobs)]
    return tuple(sorted(found, key=lambda each: order.index(each.verdict))[:MANY])


def _groups(jobs: Sequence[JobDetail]) -> list[tuple[JobDetail, ...]]:
    groups: dict[tuple[object, ...], list[JobDetail]] = {}
    for job in jobs:
        looks = (str(job.job.state), job.job.reason, job.description, job.job.exit_code)
        alike = (job.array, *looks) if job.array else (job.job.id, *looks)
        groups.setdefault(alike, []).append(job)
    return [tuple(members) for members in groups.values()]


def _explain(facts: JobFacts, group: tuple[JobDetail, ...]) -> Explanation:
    job = group[0]
    state = job.job.state
    if state.pending:
        made = _pending(facts, job)
    elif state.running or "COMPLETING" in state.flags:
        made = _running(facts, job)
    elif state.terminal:
        made = ended_why.explain(job, facts.place, facts.nodes, accounting=facts.accounting)
    else:
        made = (
            "unknown",
            "Slurm does not tell its state",
            (),
            facts.place.slurm(f"scontrol show job {job.job.id}"),
        )
    verdict, summary, causes, command = made
    return Explanation(
        subject=_subject(group),
        cluster=facts.place.cluster,
        verdict=verdict,
        state=str(state).lower(),
        summary=summary,
        causes=causes,
        facts=(*_facts(facts, job), ("known from", facts.source)),
        log=facts.log if verdict != "fine" and not state.pending else (),
        unread=(*facts.unread, *_unread(facts, job)),
        next_command=command,
    )


def _subject(group: tuple[JobDetail, ...]) -> str:
    ids = [each.job.id for each in group]
    shown = ", ".join(ids[:5]) + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")
    return f"job{'s' * (len(ids) > 1)} {shown}"


def _facts(facts: JobFacts, job: JobDetail) -> Iterator[tuple[str, str]]:
    reply = job.job
    yield (
        "job",
        f"{reply.name} of {reply.user}, partition {reply.partition or 'not known'}"
        + (f", QOS {job.qos}" if job.qos else ""),
    )
    asked = reply.tres or job.request.tres
    if asked:
        yield "has" if reply.tres else "asks for", asked
    if reply.submitted_at:
        yield "submitted", explain.moment(reply.submitted_at, facts.now)
    if reply.started_at and reply.nodes:
        yield "started", explain.moment(reply.started_at, facts.now)
    if reply.ended_at and reply.state.terminal:
        yield "ended", explain.moment(reply.ended_at, facts.now)
    if reply.nodes:
        yield "nodes", explain.names(reply.nodes)
    if job.restarts:
        yield "restarts", str(job.restarts)
    if job.output and not reply.state.pending:
        yield "output", job.output


def _unread(facts: JobFacts, job: JobDetail) -> Iterator[str]:
    if job.job.state.pending and isinstance(facts.nodes, Unknown):
        yield f"the nodes: {facts.nodes.why}"


def _pending(facts: JobFacts, job: JobDetail) -> ended_why.Told:
    """Say what its reason means, what no node could ever give it, and what stands in its way now."""
    waiting = pending.explain(job.job.reason)
    evidence = tuple(_pending_evidence(facts, job))
    nodes = facts.nodes.value if isinstance(facts.nodes, Found) else ()
    impossible = fits.never(job, nodes) if isinstance(facts.nodes, Found) else ()
    remedy = waiting.remedy.replace("ID", str(job.array or job.job.number))
    first = Cause(waiting.meaning, evidence, remedy, _pending_command(facts.place, job))
    causes: tuple[Cause, ...] = (first,)
    if impossible:
        change = f"ask for less, or cancel it: `scancel {job.array or job.job.number}`"
        never = Cause(
            "no node can ever give what it asks for", impossible, change, facts.place.slurm("sinfo -Nel")
        )
        causes = (never, replace(first, remedy=""))
    elif job.job.reason in ("Resources", "Priority", "ReqNodeNotAvail", "NodeDown"):
        in_the_way = fits.now(job, nodes)
        causes = (replace(first, evidence=(*evidence, *in_the_way)),)
    verdict: Verdict = "waits" if waiting.who == "nobody" and not impossible else "action"
    waits = "can never start" if impossible else "waits" if verdict == "waits" else "does not start by itself"
    return verdict, f"pending, {waits}: {job.job.reason or 'no reason yet'}", causes, causes[0].command


def _pending_evidence(facts: JobFacts, job: JobDetail) -> Iterator[str]:
    if job.description and job.description != job.job.reason:
        yield f"slurmctld says: {job.description}"
    if job.dependency:
        yield f"dependency: {job.dependency}"
    if job.eligible_at and job.eligible_at > facts.now:
        yield f"may start {explain.moment(job.eligible_at, facts.now)}"
    if job.tasks and job.array:
        yield f"tasks that wait: {job.tasks}"
    if job.restarts:
        yield f"it has been requeued {job.restarts} times"


def _pending_command(place: Place, job: JobDetail) -> str:
    match job.job.reason:
        case "JobHeldUser" | "JobHeldAdmin" | "JobHoldMaxRequeue":
            return place.slurm(f"scontrol release {job.array or job.job.number}")
        case "Resources" | "Priority" | "Licenses" | "Reservation":
            return place.slurm(f"squeue --start -j {job.array or job.job.number}")
        case "ReqNodeNotAvail" | "NodeDown":
            node = next(iter(job.job.wants), "")
            return (
                f"npa soperator explain-node {node} --cluster {place.cluster}"
                if node
                else place.slurm("sinfo -R")
            )
        case "PartitionDown" | "PartitionInactive" | "PartitionNodeLimit" | "PartitionTimeLimit":
            return place.slurm(f"scontrol show partition {job.job.partition}")
    if job.job.reason.startswith(("QOS", "Assoc", "Max")):
        return place.slurm("sacctmgr show qos" if job.job.reason.startswith("QOS") else "sacctmgr show assoc")
    return place.slurm(f"scontrol show job {job.array or job.job.number}")


def _running(facts: JobFacts, job: JobDetail) -> ended_why.Told:
    """Say where it runs, since when, and what ends it."""
    reply = job.job
    command = facts.place.slurm(f"scontrol show job {reply.number}")
    causes = tuple(_its_nodes(facts, job))
    if reply.state.base == "SUSPENDED":
        held = Cause(
            "it is suspended: it keeps its memory and runs on later", (), f"`scontrol resume {reply.id}`"
        )
        return "action", "suspended", (held, *causes), facts.place.slurm(f"scontrol resume {reply.number}")
    if "COMPLETING" in reply.state.flags:
        left = Cause(
            "it has ended, and its nodes still clean up: its processes, its epilog", (), "wait a minute"
        )
        return "waits", "completing", (left, *causes), command
    where = f"running on {explain.names(reply.nodes)}"
    since = f" since {explain.moment(reply.started_at, facts.now)}" if reply.started_at else ""
    return "action" if causes else "fine", f"{where}{since}, {_limit(facts, job)}", causes, command


def _limit(facts: JobFacts, job: JobDetail) -> str:
    if job.job.time_limit is UNLIMITED or job.job.time_limit is None:
        return "without a time limit"
    limit = quantity.format_time(job.job.time_limit * _UNIT)
    ends = f", ends {explain.moment(job.job.ended_at, facts.now)} at the latest" if job.job.ended_at else ""
    return f"time limit {limit}{ends}"


def _its_nodes(facts: JobFacts, job: JobDetail) -> Iterator[Cause]:
    """Yield nodes of a running job that do not answer: it may run there no longer."""
    nodes = facts.nodes.value if isinstance(facts.nodes, Found) else ()
    ours = set(job.job.nodes)
    for node in nodes:
        if node.name in ours and (node.state.base == "DOWN" or "NOT_RESPONDING" in node.state.flags):
            yield Cause(
                f"its node {node.name} is {str(node.state).lower()}",
                (f"reason: {node.reason}",) if node.reason else (),
                "see what is wrong with the node; Slurm requeues the job once it gives the node up",
                f"npa soperator explain-node {node.name} --cluster {facts.place.cluster}",
            )
