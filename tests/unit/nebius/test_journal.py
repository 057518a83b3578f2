from __future__ import annotations

import json

import pytest

from npa.errors import RefusedError
from npa.render.nebius import journal as journals
from npa.render.nebius.journal import Entry, Journal, Outcome


def written(*steps: tuple[str, str, Outcome]) -> Journal:
    journal = Journal()
    for verb, phase, outcome in steps:
        journal = journal.with_entry(Entry(verb, phase, outcome, "2026-01-02T03:04:05Z"))
    return journal


INTERRUPTED = written(
    ("deploy", "source", "begun"), ("deploy", "source", "done"), ("deploy", "cluster", "begun")
)


def test_it_survives_the_way_there_and_back() -> None:
    assert journals.decode(json.loads(json.dumps(journals.encode(INTERRUPTED)))) == INTERRUPTED


@pytest.mark.parametrize(
    ("journal", "verb", "says"),
    [
        (Journal(), "deploy", ""),
        (written(("deploy", "source", "done")), "deploy", ""),
        (
            INTERRUPTED,
            "deploy",
            "the last deploy was interrupted in cluster at 2026-01-02T03:04:05Z, after source: "
            "going on from what is there",
        ),
        (
            written(("deploy", "source", "done"), ("destroy", "cluster", "failed")),
            "destroy",
            "the last destroy failed in cluster at 2026-01-02T03:04:05Z: going on from what is there",
        ),
        (
            written(("deploy", "cluster", "failed")),
            "destroy",
            "the last deploy failed in cluster at 2026-01-02T03:04:05Z: now running destroy",
        ),
    ],
    ids=["new", "whole", "interrupted", "failed", "another-verb"],
)
def test_the_next_run_says_what_the_last_one_left(journal: Journal, verb: str, says: str) -> None:
    assert journals.resumption(journal, verb) == says


def test_it_does_not_grow_for_ever() -> None:
    journal = written(*[("deploy", f"p{number}", "done") for number in range(250)])

    assert len(journal.entries) == 200
    assert journal.entries[-1].phase == "p249"


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"schema": journals.SCHEMA},
        {"schema": "other", "entries": []},
        {"schema": journals.SCHEMA, "entries": [{"verb": "deploy"}]},
        {"schema": journals.SCHEMA, "entries": [dict.fromkeys(("verb", "phase", "outcome", "at"), "x")]},
        {"schema": journals.SCHEMA, "entries": [3]},
        {"schema": journals.SCHEMA, "entries": "text"},
    ],
)
def test_anything_else_is_refused(document: dict[str, object]) -> None:
    with pytest.raises(RefusedError, match="cannot be read"):
        journals.decode(document)
