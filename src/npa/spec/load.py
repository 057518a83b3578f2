"""YAML text, or a mapping, to a spec that keeps every rule; else all that is wrong, at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from npa.errors import Problem, SpecError
from npa.spec import document, rules
from npa.spec.decode import M, decode
from npa.spec.document import Document, Place
from npa.spec.finding import Finding
from npa.spec.model import SoperatorSpec


def parse(text: str | bytes, source: str = "") -> SoperatorSpec:
    """Return the spec that a YAML text says; raise SpecError with every problem, in the order of the text."""
    if isinstance(text, bytes):
        text = decode_bytes(text, source)
    return accept(document.read(text, source), source)


def from_mapping(mapping: Mapping[str, Any]) -> SoperatorSpec:
    """Return the spec that a mapping in memory says; raise SpecError with every problem, without lines."""
    return accept(document.take(mapping), "")


def check(spec: SoperatorSpec) -> SoperatorSpec:
    """Return a spec made in Python if it keeps every rule; raise SpecError otherwise."""
    found = tuple(rules.broken(spec))
    if found:
        raise SpecError(placed(found, {}, ""))
    return spec


def decode_bytes(raw: bytes, source: str) -> str:
    """Return the text of a file; raise SpecError for what is no UTF-8."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        message = f"byte 0x{raw[error.start]:02x} is not UTF-8"
        raise SpecError([Problem(line, column, "", message, "save the file as UTF-8", source)]) from None


def accept(read: Document, source: str) -> SoperatorSpec:
    """Return the spec that a document holds; raise SpecError with every problem, where its places say."""
    return accept_as(read, source, SoperatorSpec, rules.broken)


def accept_as(read: Document, source: str, root: type[M], broken: Callable[[M], Iterable[Finding]]) -> M:
    """As `accept`, for a document of another kind and with its own rules."""
    spec, problems = judge(read, source, root, broken)
    if problems or spec is None:
        raise SpecError(problems)
    return spec


def judge(
    read: Document, source: str, root: type[M], broken: Callable[[M], Iterable[Finding]]
) -> tuple[M | None, list[Problem]]:
    """Return as much of a spec as could be read, and every problem; without any the spec is whole."""
    if read.value is None and read.problems:
        return None, sorted(set(read.problems))
    decoded = decode(read.value, {path: place.text for path, place in read.places.items()}, root)
    # A value that is not read at all, an alias say, is already told of; its type is beside the point.
    told = {problem.at for problem in read.problems}
    findings = [each for each in decoded.findings if not each.at or each.at not in told or each.on_key]
    if decoded.spec is not None:
        unread = decoded.unread | {at for at in told if at}
        findings += [each for each in broken(decoded.spec) if each.survives(unread)]
    return decoded.spec, in_order([*read.problems, *placed(findings, read.places, source)])


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems in the order of the text, each once."""
    return sorted(set(problems), key=lambda each: (each.line, each.column, each.at, each.message))


def placed(findings: Iterable[Finding], places: Mapping[str, Place], source: str) -> list[Problem]:
    """Return findings as problems, each with its line and column."""
    problems = []
    for each in findings:
        line, column = _place(each, places)
        problems.append(Problem(line, column, each.at, each.message, each.hint, source))
    return problems


def _place(finding: Finding, places: Mapping[str, Place]) -> tuple[int, int]:
    """Return where a field stands, or the mapping that lacks it."""
    path = finding.at
    found = places.get(path)
    if found is not None:
        return found.key if finding.on_key else (found.line, found.column)
    while path and path not in places:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    outer = places.get(path)
    return (outer.line, outer.column) if outer else (0, 0)
