"""slurm.conf by its parts, for the checks that compare them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from npa.slurm import hostlist, keys
from npa.slurm.hostlist import HostlistError
from npa.slurm.lint.grammar import Pair, Statement


@dataclass(frozen=True, slots=True)
class Node:
    """One node with the line that makes it; `defaults` are those of `NodeName=DEFAULT` lines above it."""

    name: str
    line: Statement
    defaults: Mapping[str, Pair]

    def get(self, *names: str) -> Pair | None:
        """Return what the line, or a default, says for the last of these keys."""
        found = self.line.get(*names)
        return found or next(
            (self.defaults[key.lower()] for key in names if key.lower() in self.defaults), None
        )


@dataclass(frozen=True, slots=True)
class Conf:
    """A slurm.conf: single settings by their lower-case key, lines by what they begin with."""

    release: str
    settings: Mapping[str, Pair] = field(default_factory=dict)  # the last of each, as Slurm takes it
    singles: tuple[Pair, ...] = ()
    lines: Mapping[str, tuple[Statement, ...]] = field(default_factory=dict)
    nodes: Mapping[str, Node] = field(default_factory=dict)
    sets: Mapping[str, Statement] = field(default_factory=dict)
    whole: bool = False  # the other files of the folder are there too

    def value(self, key: str, default: str = "") -> str:
        """Return what a setting says."""
        found = self.settings.get(key.lower())
        return found.value if found else default

    def words(self, key: str) -> frozenset[str]:
        """Return the comma-separated words of a setting, in lower case, without what follows `=`."""
        words = self.value(key).lower().split(",")
        return frozenset(word.partition("=")[0].strip() for word in words if word.strip())


def parse(statements: Iterable[Statement], release: str, *, whole: bool) -> Conf:
    """Sort the statements of a slurm.conf."""
    heads = keys.HEADS["slurm.conf"]
    singles = []
    lines: dict[str, list[Statement]] = {}
    for statement in statements:
        head = statement.head
        if head.name in heads:
            lines.setdefault(head.name, []).append(statement)
        else:
            singles.append(head)
    return Conf(
        release=release,
        settings={pair.name: pair for pair in singles},
        singles=tuple(singles),
        lines={key: tuple(found) for key, found in lines.items()},
        nodes=_nodes(lines.get("nodename", ())),
        sets={line.head.value: line for line in lines.get("nodeset", ())},
        whole=whole,
    )


def is_default(line: Statement) -> bool:
    """Whether a line sets what the lines below it begin with."""
    return line.head.value.upper() == "DEFAULT"


def names(text: str) -> list[str]:
    """Return the names of a hostlist, none where it cannot be read: that is told elsewhere."""
    try:
        return hostlist.expand(text)
    except HostlistError:
        return []


def _nodes(lines: Iterable[Statement]) -> dict[str, Node]:
    defaults: dict[str, Pair] = {}
    found: dict[str, Node] = {}
    for line in lines:
        if is_default(line):
            defaults = {**defaults, **{pair.name: pair for pair in line.pairs[1:]}}
            continue
        for name in names(line.head.value):
            found.setdefault(name, Node(name, line, defaults))
    return found
