"""A page: whatever people typed stays text, and what is unknown is said to be."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.golden.page.sample import FACTS, NOW, REPORT

from npa.health.assess import Capacity
from npa.page import page, past, states
from npa.page.facts import Facts, Member, Past
from npa.page.states import KINDS
from npa.slurm.lookup import Absent, Found, Unknown
from npa.slurm.replies import Rows
from npa.slurm.states import NodeState

NASTY = "<script>x()</script>\" onload='x()' &amp; </style> ]]> `a` \u202e\x1b[31m\x00"
# what the page is made of; nothing that fetches, runs or is sent
MADE_OF = frozenset(
    re.findall(
        "[a-z0-9]+",
        "a article b bdi body circle code details div figcaption figure g h1 h2 h3 head header html i li "
        "line main meta ol p path rect section small span style summary svg table tbody td text th thead "
        "time title tr tspan ul",
    )
)
VOID = frozenset({"meta"})


class Read(HTMLParser):
    """What a page consists of; fails on an element that is closed in the wrong place."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def typed(value: Any, text: str) -> Any:
    """Return a value with all text in it, on any level, replaced, but for what is one of a few words."""
    if isinstance(value, str):
        return text
    if isinstance(value, tuple):
        return tuple(typed(each, text) for each in value)
    if isinstance(value, NodeState) or not is_dataclass(value) or isinstance(value, type):
        return value
    changed = {field.name: typed(getattr(value, field.name), text) for field in fields(value)}
    fixed = {"severity", "state", "result", "status"} & changed.keys()
    return replace(value, **{key: item for key, item in changed.items() if key not in fixed})


def test_every_word_on_the_page_may_be_nasty() -> None:
    read = Read(page.cluster(typed(FACTS, NASTY)))

    assert read.elements <= MADE_OF
    assert not [name for name in read.attributes if name.startswith("on") or name in ("src", "style")]
    text = "".join(read.words)
    assert "<script>x()</script>" in text
    assert not set(text) & {"\u202e", "\x1b", "\x00"}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(min_size=1, max_size=40))
def test_any_words_leave_the_page_as_it_is(text: str) -> None:
    harmless = Read(page.cluster(typed(FACTS, "harmless")))
    written = page.cluster(typed(FACTS, text))
    read = Read(written)

    assert read.elements - {"code"} <= harmless.elements
    assert read.attributes == harmless.attributes
    written.encode()  # a lone surrogate could not be


def test_a_fleet_escapes_too() -> None:
    members = (
        Member(NASTY, NASTY, "local", "degraded", False, NASTY, typed(FACTS, NASTY)),
        Member(NASTY, NASTY, "nebius", NASTY, False, NASTY),
    )

    assert Read(page.fleet(NASTY, members, NOW)).elements <= MADE_OF


def words(facts: Facts) -> str:
    return " ".join(" ".join(Read(page.cluster(facts)).words).split())


def test_it_fetches_nothing() -> None:
    written = page.cluster(FACTS)

    assert "default-src &#39;none&#39;;" in written
    assert not [each for each in ("http://", "https://", "url(", "@import", "//") if each in written]


def test_it_is_small() -> None:
    assert len(page.cluster(FACTS).encode()) < 40_000


def test_what_is_unknown_is_said_to_be() -> None:
    why = Unknown("slurmctld is not running")
    told = words(
        replace(
            FACTS,
            nodes=why,
            jobs=why,
            past=Unknown("`sacct` got no answer"),
            report=replace(REPORT, schedulable=None, jobs=None),
        )
    )

    assert told.count("not known: slurmctld is not running") == 4
    assert "accounting could not be read: `sacct` got no answer" in told
    assert "8 unknown" in told  # nodes in the picture, none of them idle
    for claim in ("no job runs", "no job waits", "no node is drained", "no job ran"):
        assert claim not in told


def test_without_accounts_it_says_how_to_get_them() -> None:
    assert past.NO_ACCOUNTS.replace("`", "") in words(replace(FACTS, past=Absent()))


def test_rows_of_accounting_that_cannot_be_read_are_counted() -> None:
    assert isinstance(FACTS.past, Found)
    lossy = Past(FACTS.past.value.since, Rows(FACTS.past.value.jobs.rows, ("broken", "broken")))

    assert "2 jobs of accounting could not be read" in words(replace(FACTS, past=Found(lossy)))


def test_a_drain_names_its_owner_and_who_gives_it_back() -> None:
    told = words(FACTS)

    assert "a person as bob fan is loud 29 Nov 16:00 20 h ago it is theirs to give back" in told
    assert "npa as root npa: pool gpu shrinks 30 Nov 11:51 9 min ago npa gives it back" in told


def test_a_job_that_can_never_start_says_so() -> None:
    assert isinstance(FACTS.jobs, Found)
    job = FACTS.jobs.value.rows[2]
    impossible = replace(job, request=replace(job.request, nodes=9))

    told = words(replace(FACTS, jobs=Found(Rows((impossible,)))))

    assert "it can never start: it asks for 9 nodes; partition train has 4" in told


def test_a_cluster_without_anything() -> None:
    empty: Found[Rows[Any]] = Found(Rows(()))
    facts = replace(
        FACTS,
        nodes=empty,
        jobs=empty,
        past=Found(Past(NOW, Rows(()))),
        history=Absent(),
        topology=None,
        report=replace(REPORT, nominal=Capacity(), schedulable=Capacity(), findings=(), jobs=()),
    )

    assert "no nodes" in words(facts)


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("IDLE", "idle"),
        ("MIXED+PLANNED", "mixed"),
        ("ALLOCATED+COMPLETING", "busy"),
        ("IDLE+DRAIN", "drained"),
        ("MIXED+DRAIN", "draining"),
        ("DOWN+DRAIN", "drained"),
        ("DOWN+NOT_RESPONDING", "down"),
        ("IDLE+POWERED_DOWN", "off"),
        ("IDLE+POWERING_UP", "off"),
        ("IDLE+MAINT", "held"),
        ("IDLE+RESERVED", "held"),
        ("IDLE+NOT_RESPONDING", "held"),
        ("UNKNOWN", "unknown"),
        ("FUTURE", "held"),
        ("WHAT", "unknown"),
    ],
)
def test_kinds_of_states(state: str, kind: str) -> None:
    assert states.kind(NodeState.parse(state)) == kind


def test_no_state_is_unknown() -> None:
    assert states.kind(None) == "unknown"


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_has_a_colour(kind: str) -> None:
    from npa.page.style import CSS

    assert f".k-{kind}{{" in CSS
    assert CSS.count(f"--{kind}:#") == 2  # light and dark
