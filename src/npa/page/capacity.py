"""How much there is and how much of it is in use, and the nodes by state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import htpy as h

from npa.page import states, words
from npa.page.facts import Facts
from npa.slurm import quantity
from npa.slurm.lookup import Found
from npa.slurm.quantity import QuantityError
from npa.slurm.replies import SlurmNodeReply
from npa.slurm.states import JobState

ROWS = 200


@dataclass(frozen=True, slots=True)
class _Amount:
    """One resource: in use, where jobs can start, what Slurm knows of, what was asked for."""

    name: str
    used: int
    able: int
    there: int
    nominal: int  # 0 where nobody says


def tiles(facts: Facts) -> h.Node:
    """Return the few numbers that a person looks for first."""
    return h.div(".tiles")[list(_tiles(facts))]


def _tiles(facts: Facts) -> Iterator[h.Node]:
    report = facts.report
    able = report.schedulable
    told = "unknown" if able is None else f"{able.nodes:,}"
    yield _tile("nodes take jobs", told, f"of {report.nominal.nodes:,} asked for")
    if isinstance(facts.nodes, Found):
        yield from (_amount_tile(each) for each in _amounts(facts, facts.nodes.value.rows))
    else:
        yield _tile("CPUs in use", "unknown", facts.nodes.why)
    if report.jobs is None:
        yield _tile("jobs", "unknown", "slurmctld did not say")
        return
    jobs = dict(report.jobs)
    running = sum(count for state, count in jobs.items() if JobState.parse(state).running)
    waiting = sum(count for state, count in jobs.items() if JobState.parse(state).pending)
    yield _tile("jobs run", f"{running:,}", f"{waiting:,} waiting")


def _tile(what: str, value: str, about: str, meter: h.Node = None) -> h.Node:
    return h.div(".tile")[h.b[value], h.span[what], meter, h.small[words.plain(about)]]


def _amount_tile(amount: _Amount) -> h.Node:
    shown = words.memory if amount.name == "memory" else lambda count: f"{count:,}"
    told = f"of {shown(amount.able)} where jobs can start"
    most = amount.nominal or amount.there
    if most != amount.able:
        told += f", {shown(most)} in all"
    box = {"viewBox": "0 0 1000 8", "preserveAspectRatio": "none", "aria-hidden": "true"}
    parts = [
        h.rect(
            class_=look, x="0", y="0", width=f"{1000 * min(1.0, count / most) if most else 0:.1f}", height="8"
        )
        for look, count in (("m-able", amount.able), ("m-used", amount.used))
    ]
    meter = h.svg(".meter", box)[h.rect(".m-all", x="0", y="0", width="1000", height="8"), parts]
    return _tile(f"{amount.name} in use", shown(amount.used), told, meter)


def _amounts(facts: Facts, nodes: Sequence[SlurmNodeReply]) -> Iterator[_Amount]:
    able = [node for node in nodes if node.state.schedulable]
    nominal = facts.report.nominal
    yield _Amount("CPUs", _sum(n.alloc_cpus for n in nodes), _sum(n.cpus for n in able),
                  _sum(n.cpus for n in nodes), nominal.cpus)  # fmt: skip
    gpus = _Amount("GPUs", _sum(gpus_of(n.gres_used) for n in nodes), _sum(gpus_of(n.gres) for n in able),
                   _sum(gpus_of(n.gres) for n in nodes), nominal.gpus)  # fmt: skip
    if gpus.there or gpus.nominal:
        yield gpus
    yield _Amount("memory", _sum(n.alloc_memory for n in nodes), _sum(n.real_memory for n in able),
                  _sum(n.real_memory for n in nodes), 0)  # fmt: skip


def _sum(amounts: Iterable[int]) -> int:
    return sum(amounts)


def gpus_of(gres: str) -> int:
    """Return how many GPUs a GRES text names; none in one that cannot be read."""
    try:
        return quantity.gpus(quantity.parse_gres(gres))
    except QuantityError:
        return 0


def by_state(facts: Facts) -> h.Node:
    """Return the nodes: how many of each state, and those that look alike in one row."""
    if not isinstance(facts.nodes, Found):
        return h.p(".unknown")[f"not known: {words.plain(facts.nodes.why)}"]
    rows = facts.nodes.value
    found = states.counts(states.kind(node.state) for node in rows)
    alike: dict[tuple[str, tuple[str, ...], str], list[SlurmNodeReply]] = {}
    for node in rows:
        alike.setdefault((str(node.state), node.partitions, node.reason), []).append(node)
    ordered = sorted(alike.values(), key=lambda group: list(states.KINDS).index(states.kind(group[0].state)))
    head = ("nodes", "state", "CPUs", "GPUs", "memory", "partitions")
    return [
        states.bar(found),
        states.legend(found),
        [h.p(".unknown")[f"not read: {words.plain(each)}"] for each in rows.problems[:5]],
        table(head, [_row(group) for group in ordered], "no nodes"),
    ]


def _row(group: Sequence[SlurmNodeReply]) -> h.Node:
    first = group[0]
    gpus = _sum(gpus_of(node.gres) for node in group)
    used = f"{_sum(gpus_of(node.gres_used) for node in group):,} of {gpus:,}" if gpus else "none"
    memory = (
        f"{words.memory(_sum(node.alloc_memory for node in group))} of "
        f"{words.memory(_sum(node.real_memory for node in group))}"
    )
    return h.tr[
        h.th(scope="row")[words.plain(words.nodes(node.name for node in group))],
        h.td[pill(states.kind(first.state), str(first.state).lower())],
        h.td[f"{_sum(n.alloc_cpus for n in group):,} of {_sum(n.cpus for n in group):,}"],
        h.td[used],
        h.td[memory],
        h.td[words.typed(", ".join(first.partitions))],
    ]


def pill(look: str, text: str) -> h.Element:
    """Return a word that stands for a state, with the state's colour beside it."""
    return h.span(".pill")[h.i(class_=f"swatch k-{look}"), words.plain(text)]


def table(head: Sequence[str], rows: Sequence[h.Node], none: str) -> h.Node:
    """Return a table of at most so many rows; in a narrow window it scrolls by itself."""
    if not rows:
        return h.p(".none")[none]
    more = len(rows) - ROWS
    return [
        h.div(".scroll")[
            h.table[h.thead[h.tr[(h.th(scope="col")[each] for each in head)]], h.tbody[rows[:ROWS]]]
        ],
        h.p(".none")[f"and {more:,} more"] if more > 0 else None,
    ]
