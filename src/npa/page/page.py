"""The whole page, of a cluster or of a fleet: one file that asks no network for anything."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import htpy as h
from markupsafe import Markup

from npa.health.assess import Finding
from npa.page import capacity, past, picture, queue, states, style, words
from npa.page.facts import Facts, Member
from npa.page.states import Kind
from npa.slurm.lookup import Found

LOOKS = {"healthy": "well", "degraded": "down", "stopped": "off", "absent": "off"}  # others: unknown
# even if a mistake of ours let somebody's text be markup, it could fetch and run nothing
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def cluster(facts: Facts) -> str:
    """Return the page of a cluster."""
    report = facts.report
    version = f" · Slurm {report.slurm_version}" if report.slurm_version else ""
    head = _head("Slurm cluster", facts.name, report.status, f"target {facts.target}{version}", facts.now)
    return _document(f"{facts.name}: {report.status}", [head, _sections(facts, h.h2)])


def fleet(name: str, members: Sequence[Member], now: datetime) -> str:
    """Return the page of a fleet: how each cluster is, then each cluster."""
    bad = sum(not each.ok for each in members)
    status = "healthy" if not bad else "degraded"
    head = _head("Fleet of Slurm clusters", name, status, words.many(len(members), "cluster"), now)
    parts = [_member(index, each) for index, each in enumerate(members)]
    told = f"{words.many(bad, 'cluster')} of {len(members)} not well" if bad else status
    return _document(f"{name}: {told}", [head, _overview(members), parts])


def _document(title: str, body: h.Node) -> str:
    page = h.html(lang="en")[
        h.head[
            h.meta(charset="utf-8"),
            h.meta({"http-equiv": "Content-Security-Policy", "content": POLICY}),
            h.meta(name="viewport", content="width=device-width, initial-scale=1"),
            h.meta(name="color-scheme", content="light dark"),
            h.title[words.plain(title)],
            h.style[Markup(style.CSS)],  # ours, without anybody's text
        ],
        h.body[h.main[body]],
    ]
    return f"{page}\n"


def _head(kind: str, name: str, status: str, about: str, now: datetime) -> h.Node:
    return h.header[
        h.p(".kind")[kind],
        h.h1[words.typed(name), capacity.pill(LOOKS.get(status, "unknown"), status)],
        h.p(".about")[words.plain(about), " · as of ", words.stamp(now)],
    ]


def _sections(facts: Facts, heading: h.Element) -> h.Node:
    kinds = _kinds(facts)
    daemons = facts.report.daemons
    topology = facts.topology
    return [
        capacity.tiles(facts),
        _section(heading, "What is wrong", _findings(facts.report.findings))
        if facts.report.findings
        else None,
        _section(
            heading,
            "How it is put together",
            [
                states.legend(states.counts(kinds.values())),
                picture.picture(topology, kinds, daemons),
                picture.groups(topology.partitions, kinds, "partition"),
            ],
        )
        if topology
        else None,
        _section(heading, "Nodes by state", capacity.by_state(facts)),
        _section(heading, "Nodes taken away", queue.taken(facts)),
        _section(heading, "Use over time", past.use(facts)),
        _section(heading, "Running jobs", queue.running(facts)),
        _section(heading, "Waiting jobs", queue.waiting(facts)),
        _section(heading, "Plans that were applied", past.plans(facts)),
    ]


def _section(heading: h.Element, title: str, body: h.Node) -> h.Node:
    return h.section[heading[title], body]


def _kinds(facts: Facts) -> dict[str, Kind]:
    """Return the kind of each node that Slurm or the spec names; unknown where Slurm does not say."""
    names = [node for pool in facts.topology.pools for node in pool.nodes] if facts.topology else []
    found: dict[str, Kind] = dict.fromkeys(names, "unknown")
    if isinstance(facts.nodes, Found):
        found.update({node.name: states.kind(node.state) for node in facts.nodes.value})
    return found


def _findings(findings: Sequence[Finding]) -> h.Node:
    looks = {"error": "down", "warning": "drained"}
    return h.ul(".findings")[
        (
            h.li[
                capacity.pill(looks.get(each.severity, "unknown"), each.severity),
                " ",
                h.b[words.typed(each.subject)],
                " ",
                words.typed(each.message),
                h.small[words.hint(each.hint)] if each.hint else None,
                h.code[words.plain(each.command, 500)] if each.command else None,
            ]
            for each in findings
        )
    ]


def _overview(members: Sequence[Member]) -> h.Node:
    head = ("project", "cluster", "target", "how it is", "nodes that take jobs", "GPUs", "jobs")
    rows = [
        h.tr[
            h.td[words.typed(each.project)],
            h.th(scope="row")[h.a(href=f"#cluster-{index}")[words.typed(each.name)]],
            h.td[words.plain(each.target)],
            h.td(".wide")[
                capacity.pill(LOOKS.get(each.status, "unknown"), each.status),
                h.small[words.typed(each.message)] if each.message else None,
            ],
            _numbers(each.facts),
        ]
        for index, each in enumerate(members)
    ]
    return h.section[h.h2["Clusters"], capacity.table(head, rows, "no clusters")]


def _numbers(facts: Facts | None) -> h.Node:
    if facts is None:
        return [h.td["not read"], h.td["not read"], h.td["not read"]]
    report = facts.report
    able = report.schedulable
    jobs = ", ".join(f"{count:,} {state.lower()}" for state, count in report.jobs or ())
    gpus = f"{able.gpus if able else 'unknown'} of {report.nominal.gpus:,}" if report.nominal.gpus else "none"
    return [
        h.td[
            f"{able.nodes if able else 'unknown'} of {report.nominal.nodes:,}",
            states.bar(states.counts(_kinds(facts).values())),
        ],
        h.td[gpus],
        h.td["unknown" if report.jobs is None else jobs or "none"],
    ]


def _member(index: int, member: Member) -> h.Node:
    pill = capacity.pill(LOOKS.get(member.status, "unknown"), member.status)
    head = h.h2(".cluster")[words.typed(f"{member.project} / {member.name}"), pill]
    if member.facts is None:
        told = member.message or "nothing more was read of it"
        body: h.Node = h.p(".unknown")[words.plain(told)]
    else:
        body = _sections(member.facts, h.h3)
    return h.article(id=f"cluster-{index}")[head, body]
