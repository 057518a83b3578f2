"""The journal: which phases of a change were begun and ended, so that the next run can say so and go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from npa.errors import RefusedError

FILE = ".npa-soperator-journal.json"
SCHEMA = "npa.nebius.journal/v1"
_KEPT = 200  # entries; the older ones have nothing left to say

Outcome = Literal["begun", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened to one phase."""

    verb: str  # deploy, destroy
    phase: str
    outcome: Outcome
    at: str  # RFC 3339, UTC
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Journal:
    """Everything that happened, oldest first."""

    entries: tuple[Entry, ...] = ()

    def with_entry(self, entry: Entry) -> Journal:
        """Return the journal with one more entry."""
        return Journal((*self.entries, entry)[-_KEPT:])

    @property
    def run(self) -> tuple[Entry, ...]:
        """The entries of the last verb, without those of verbs before it."""
        if not self.entries:
            return ()
        verb = self.entries[-1].verb
        kept: list[Entry] = []
        for entry in reversed(self.entries):
            if entry.verb != verb:
                break
            kept.append(entry)
        return tuple(reversed(kept))


def unfinished(journal: Journal) -> Entry | None:
    """Return the phase that was begun last and never ended well, or None."""
    last = journal.entries[-1] if journal.entries else None
    return last if last is not None and last.outcome != "done" else None


def resumption(journal: Journal, verb: str) -> str:
    """Say in one line what a run before this one left, or "" where there is nothing to say."""
    stopped = unfinished(journal)
    if stopped is None:
        return ""
    done = tuple(
        dict.fromkeys(e.phase for e in journal.run if e.outcome == "done" and e.phase != stopped.phase)
    )
    ended = "was interrupted" if stopped.outcome == "begun" else "failed"
    before = f", after {', '.join(done)}" if done else ""
    then = "going on from what is there" if stopped.verb == verb else f"now running {verb}"
    return f"the last {stopped.verb} {ended} in {stopped.phase} at {stopped.at}{before}: {then}"


def encode(journal: Journal) -> dict[str, Any]:
    """Return the journal as JSON has it."""
    return {"schema": SCHEMA, "entries": [asdict(entry) for entry in journal.entries]}


def decode(document: Mapping[str, Any]) -> Journal:
    """Return the journal that `encode` wrote; raises RefusedError for anything else."""
    entries = document.get("entries")
    if document.get("schema") != SCHEMA or not isinstance(entries, Sequence):
        raise RefusedError(
            "the installation's journal cannot be read", hint=f"move {FILE} away and run again"
        )
    try:
        journal = Journal(tuple(Entry(**each) for each in entries))
    except TypeError as error:
        raise RefusedError(
            "the installation's journal cannot be read", hint=f"move {FILE} away and run again"
        ) from error
    if any(entry.outcome not in get_args(Outcome) for entry in journal.entries):
        raise RefusedError(
            "the installation's journal cannot be read", hint=f"move {FILE} away and run again"
        )
    return journal
