"""What accounting tells of the last days, and which plans were applied."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import htpy as h

from npa.page import capacity, words
from npa.page.chart import chart, rounded
from npa.page.facts import Facts, Past
from npa.plan.history import Applied, Result
from npa.slurm import usage
from npa.slurm.lookup import Absent, Found
from npa.slurm.usage import PastJob

BUCKETS = 84
SHORTEST = timedelta(minutes=15)
USERS = 8
PLANS = 30
NO_ACCOUNTS = "the cluster keeps no accounts: set `accounting: true` in its spec, and deploy it again"
RESULTS: dict[Result, tuple[str, str]] = {
    "done": ("done", "well"),
    "failed": ("failed", "down"),
    "stopped": ("stopped on request", "drained"),
    "refused": ("refused", "drained"),
    "unfinished": ("did not end, or goes on", "unknown"),
}


def use(facts: Facts) -> h.Node:
    """Return utilisation and queue over time, and who used most; says honestly where nobody knows."""
    if isinstance(facts.past, Absent):
        return h.p(".unknown")[words.hint(NO_ACCOUNTS)]
    if not isinstance(facts.past, Found):
        return h.p(".unknown")[f"accounting could not be read: {words.plain(facts.past.why)}"]
    past = facts.past.value
    lost = len(past.jobs.problems)
    return [
        h.p(".unknown")[f"{words.many(lost, 'job')} of accounting could not be read and is missing here"]
        if lost
        else None,
        _charts(facts, past),
        h.h3["Who used it"],
        _users(past.jobs.rows, (_since(past, facts.now), facts.now)),
    ]


def _since(past: Past, now: datetime) -> datetime:
    """Return where the axis begins: with the first job, or as far back as was asked for."""
    first = min((each.submitted_at for each in past.jobs if each.submitted_at), default=now)
    return max(past.since, min(first, now - SHORTEST))


def _charts(facts: Facts, past: Past) -> h.Node:
    span = (_since(past, facts.now), facts.now)
    buckets = usage.over_time(past.jobs, *span, BUCKETS)
    nominal = facts.report.nominal
    series = [("CPUs", "s-cpus", [_share(each.cpus, nominal.cpus) for each in buckets])]
    if nominal.gpus:
        series.append(("GPUs", "s-gpus", [_share(each.gpus, nominal.gpus) for each in buckets]))
    waiting = [each.waiting for each in buckets]
    top = rounded(max(waiting, default=0.0))
    labels = (words.number(top), words.number(top / 2), "0")
    name = "CPUs and GPUs in use" if nominal.gpus else "CPUs in use"
    return h.div(".charts")[
        chart(f"{name}, of what was asked for", series, 1.0, ("100 %", "50 %", "0"), span),
        chart("Jobs waiting", [("jobs", "s-jobs", waiting)], top, labels, span),
    ]


def _share(used: float, nominal: int) -> float:
    return used / nominal if nominal else 0.0


def _users(jobs: Sequence[PastJob], span: tuple[datetime, datetime]) -> h.Node:
    each: dict[str, list[PastJob]] = {}
    for job in jobs:
        if job.started_at:
            each.setdefault(job.user, []).append(job)
    hours = {user: _hours(theirs, span) for user, theirs in each.items()}
    most = sorted(hours, key=lambda user: (-hours[user][1], -hours[user][0], user))[:USERS]
    rows = [
        h.tr[
            h.th(scope="row")[words.typed(user or "not known", 40)],
            h.td[f"{len(each[user]):,}"],
            h.td[words.number(hours[user][0])],
            h.td[words.number(hours[user][1])],
        ]
        for user in most
    ]
    return capacity.table(("user", "jobs", "CPU hours", "GPU hours"), rows, "no job ran")


def _hours(jobs: Sequence[PastJob], span: tuple[datetime, datetime]) -> tuple[float, float]:
    whole = usage.over_time(jobs, *span, 1)
    length = (span[1] - span[0]) / timedelta(hours=1)
    return (whole[0].cpus * length, whole[0].gpus * length) if whole else (0.0, 0.0)


def plans(facts: Facts) -> h.Node:
    """Return which plans were applied, the newest first."""
    if isinstance(facts.history, Absent):
        return h.p(".none")[f"target {words.plain(facts.target)} keeps no history of plans here"]
    if not isinstance(facts.history, Found):
        return h.p(".unknown")[f"not known: {words.plain(facts.history.why)}"]
    found = facts.history.value
    head = ("when", "what", "how it ended", "steps", "took")
    rows = [_plan(each, facts.now) for each in reversed(found.plans[-PLANS:])]
    older = len(found.plans) - len(rows)
    return [
        h.p(".unknown")[f"{words.many(found.broken, 'line')} of the history cannot be read"]
        if found.broken
        else None,
        capacity.table(head, rows, "no plan is written down yet"),
        h.p(".none")[f"and {older:,} older"] if older > 0 else None,
    ]


def _plan(entry: Applied, now: datetime) -> h.Node:
    told, look = RESULTS[entry.result]
    count = f"{entry.done} of {entry.count}" if entry.result != "done" else str(entry.count)
    more = entry.count - len(entry.steps)
    steps = h.details[
        h.summary[f"{count} step{'s' * (entry.count != 1)}"],
        h.ol[
            (h.li[words.plain(step)] for step in entry.steps), h.li[f"and {more} more"] if more > 0 else None
        ],
    ]
    return h.tr[
        h.th(scope="row")[words.moment(entry.began, now)],
        h.td[words.plain(entry.verb)],
        h.td(".wide")[capacity.pill(look, told), h.small[words.plain(entry.error)] if entry.error else None],
        h.td[steps],
        h.td[words.seconds(entry.seconds)],
    ]
