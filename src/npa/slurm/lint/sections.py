"""Keys and kinds of values: what holds for every line of every file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from npa.slurm import keys
from npa.slurm.lint import values
from npa.slurm.lint.finding import Finding
from npa.slurm.lint.grammar import Pair, Statement
from npa.spec import nearest


def check_line(statement: Statement, section: str, release: str) -> Iterator[Finding]:
    """Yield what is wrong with the keys after a line's head."""
    head, seen = statement.head, dict[str, Pair]()
    for pair in statement.pairs[1:]:
        at = f"{head.key} {head.value[:40]}: {pair.key}"
        yield from check_pair(pair, section, release, at)
        if pair.name in seen:
            yield twice(pair, seen[pair.name], at)
        seen[pair.name] = pair


def check_settings(pairs: Iterable[Pair], section: str, release: str) -> Iterator[Finding]:
    """Yield what is wrong with settings that stand alone; of two equal keys Slurm takes the last."""
    seen: dict[str, Pair] = {}
    known = keys.known(section, release)
    for pair in pairs:
        yield from check_pair(pair, section, release, "")
        repeats = pair.name in known and known[pair.name].kind == "lines"
        if pair.name in seen and not repeats:
            yield twice(pair, seen[pair.name], pair.key)
        seen[pair.name] = pair


def check_pair(pair: Pair, section: str, release: str, at: str) -> Iterator[Finding]:
    """Yield what is wrong with one key, or with the kind of its value."""
    known = keys.known(section, release).get(pair.name)
    if known is None:
        yield _unknown(pair, section, release, at)
        return
    for message, hint in _faults(known.kind, pair.value):
        yield pair.says(message, hint, at=at)


@lru_cache(maxsize=4096)  # what clusters have in common is judged once for all of them
def _faults(kind: keys.Kind, value: str) -> tuple[tuple[str, str], ...]:
    """Return what is wrong with a value of a kind, and what to do."""
    wrong = values.fault(kind, value)
    found = [wrong] if wrong else []
    for character in value:
        if not character.isprintable() and not "\udc80" <= character <= "\udcff":
            found.append((f"the value holds the control character {character!r}", "remove it"))
            break
    return tuple(found)


def twice(pair: Pair, first: Pair, at: str) -> Finding:
    """Return the finding about a key that is set again."""
    where = f"line {first.line}" + (f" of {first.file}" if first.file != pair.file else "")
    if pair.value == first.value:
        return pair.says(f"is set in {where} too", "remove one", at=at, severity="warning", on_key=True)
    message = f"overrides {first.value[:40]!r} of {where}: Slurm takes the last"
    return pair.says(message, "keep one of them", at=at, on_key=True)


def _unknown(pair: Pair, section: str, release: str, at: str) -> Finding:
    other = keys.elsewhere(section, pair.key)
    legal = [each.name for each in keys.known(section, release).values()]
    if other:
        return pair.says(f"unknown key: only {other} has it", "remove it", at=at, on_key=True)
    hint = nearest.hint(pair.key, legal)
    if not hint and section == "slurm.conf":
        hint = next(
            (
                f"write it on the line of a {head}"
                for head in keys.HEADS["slurm.conf"].values()
                if pair.name in keys.known(head, release)
            ),
            "see slurm.conf(5) for the keys that there are",
        )
    return pair.says("unknown key", hint, at=at, on_key=True)
