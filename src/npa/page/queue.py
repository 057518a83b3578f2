"""The jobs that run and those that wait, with why; the nodes that somebody took away, with who and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import htpy as h

from npa.health import fits
from npa.health.explain import Place
from npa.page import capacity, states, words
from npa.page.facts import Facts
from npa.slurm import pending, reasons
from npa.slurm.job_detail import JobDetail
from npa.slurm.lookup import Found
from npa.slurm.quantity import UNLIMITED
from npa.slurm.replies import SlurmNodeReply

OWNERS = {
    "npa": ("npa", "npa gives it back with the next deploy"),
    "soperator": ("a check of Soperator's", "whoever runs the check gives it back"),
    "slurm": ("Slurm", "Slurm gives it back where it heals, else an administrator does"),
    "person": ("a person", "it is theirs to give back"),
    "nobody": ("nobody says", "whoever took it gives it back"),
}


def running(facts: Facts) -> h.Node:
    """Return the jobs that hold nodes."""
    if not isinstance(facts.jobs, Found):
        return _unknown(facts.jobs.why)
    jobs = [each for each in facts.jobs.value if each.job.state.running]
    head = ("job", "user", "name", "partition", "nodes", "has", "since", "time limit")
    rows = [_running(each, facts) for each in jobs]
    return [_problems(facts.jobs.value.problems), capacity.table(head, rows, "no job runs")]


def _running(each: JobDetail, facts: Facts) -> h.Node:
    job = each.job
    limit = job.time_limit
    told = "none" if limit in (None, UNLIMITED) else words.seconds(float(str(limit)) * 60)
    return h.tr[
        h.th(scope="row")[words.plain(job.id, 60)],
        h.td[words.typed(job.user, 40)],
        h.td[words.typed(job.name, 60)],
        h.td[words.typed(job.partition, 40)],
        h.td[words.plain(words.nodes(job.nodes), 80)],
        h.td[words.plain(job.tres or each.request.tres, 80)],
        h.td[words.moment(job.started_at, facts.now)],
        h.td[told],
    ]


def waiting(facts: Facts) -> h.Node:
    """Return the jobs that wait, each with what Slurm says, what that means and what helps."""
    if not isinstance(facts.jobs, Found):
        return _unknown(facts.jobs.why)
    nodes = facts.nodes.value.rows if isinstance(facts.nodes, Found) else ()
    jobs = [each for each in facts.jobs.value if each.job.state.pending]
    head = ("job", "user", "name", "partition", "asks for", "since", "why it waits")
    return capacity.table(head, [_waiting(each, nodes, facts) for each in jobs], "no job waits")


def _waiting(each: JobDetail, nodes: Sequence[SlurmNodeReply], facts: Facts) -> h.Node:
    job = each.job
    never = fits.never(each, nodes) if nodes else ()
    meant = pending.explain(job.reason)
    helps = "ask for less, or cancel it" if never else meant.remedy.replace("ID", job.id)
    why = f"it can never start: {'; '.join(never)}" if never else meant.meaning
    return h.tr[
        h.th(scope="row")[words.plain(job.id, 60)],
        h.td[words.typed(job.user, 40)],
        h.td[words.typed(job.name, 60)],
        h.td[words.typed(job.partition, 40)],
        h.td[words.plain(each.request.tres, 80)],
        h.td[words.moment(job.submitted_at, facts.now)],
        h.td(".wide")[
            h.b[words.plain(job.reason or "not looked at yet")], f" {words.plain(why)}",
            h.small[words.hint(helps)],
        ],
    ]  # fmt: skip


def taken(facts: Facts) -> h.Node:
    """Return the nodes that take no jobs because somebody or Slurm said so, by who, why and when."""
    if not isinstance(facts.nodes, Found):
        return _unknown(facts.nodes.why)
    groups: dict[tuple[str, ...], list[SlurmNodeReply]] = {}
    for node in facts.nodes.value:
        kind = states.kind(node.state)
        if kind in ("drained", "draining", "down"):
            since = node.reason_changed_at.isoformat() if node.reason_changed_at else ""
            groups.setdefault((kind, node.reason, node.reason_user, since), []).append(node)
    head = ("nodes", "state", "taken by", "reason", "since", "given back by")
    rows = [row for group in groups.values() for row in _taken(group, facts)]
    return capacity.table(head, rows, "no node is drained or down")


def _taken(group: Sequence[SlurmNodeReply], facts: Facts) -> Iterator[h.Node]:
    first = group[0]
    parsed = reasons.parse(first.reason, first.reason_user)
    owner, back = OWNERS[parsed.owner]
    names = words.nodes(node.name for node in group)
    daemons = facts.report.daemons
    controller = next((each.node for each in daemons if each.name == "slurmctld"), "controller-0")
    command = Place(facts.name, controller).resume(names)
    added = f" (slurmctld added: {'; '.join(parsed.also)})" if parsed.also else ""
    yield h.tr[
        h.th(scope="row")[words.plain(names)],
        h.td[capacity.pill(states.kind(first.state), str(first.state).lower())],
        h.td[h.b[owner], h.small[" as ", words.typed(first.reason_user)] if first.reason_user else None],
        h.td(".wide")[words.typed((parsed.text or "no reason was given") + added)],
        h.td[words.moment(first.reason_changed_at, facts.now)],
        h.td(".wide")[back, h.code[words.plain(command)] if parsed.owner != "npa" else None],
    ]


def _unknown(why: str) -> h.Node:
    return h.p(".unknown")[f"not known: {words.plain(why)}"]


def _problems(problems: Sequence[str]) -> h.Node:
    return [h.p(".unknown")[f"not read: {words.plain(each)}"] for each in problems[:5]]
