"""topology.yaml and topology.conf as one value, whichever a release reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from npa.slurm.lint import sections, values
from npa.slurm.lint.finding import Finding, Severity
from npa.slurm.lint.grammar import Statement
from npa.spec import document, nearest
from npa.spec.document import Document

YAML, CONF = "topology.yaml", "topology.conf"
TYPES = ("tree", "block", "flat", "ring", "torus3d")
KEYS = {"tree": ("switch", "nodes", "children"), "block": ("block", "nodes")}


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the file."""

    file: str
    line: int
    column: int
    at: str

    def says(self, message: str, hint: str = "", *, warns: bool = False) -> Finding:
        """Return a finding about it."""
        severity: Severity = "warning" if warns else "error"
        return Finding(self.file, self.line, self.column, self.at, message, hint, severity)


@dataclass(frozen=True, slots=True)
class Unit:
    """A switch or a block: nodes, or switches below it."""

    name: str
    place: Place
    nodes: str = ""
    children: str = ""


@dataclass(frozen=True, slots=True)
class Topology:
    """One topology of the file; topology.conf has one, without a name."""

    name: str
    kind: str  # tree, block or another that has no units of ours
    place: Place
    units: tuple[Unit, ...] = ()
    sizes: tuple[int, ...] = ()
    default: bool = False
    faults: tuple[Finding, ...] = ()


def from_conf(lines: Sequence[Statement], plugin: str) -> Topology:
    """Return what topology.conf says; `plugin` decides what it is where it says nothing."""
    units, faults, sizes = [], list[Finding](), list[int]()
    for line in lines:
        head = line.head
        place = Place(head.file, head.line, head.value_column, f"{head.key} {head.value[:40]}")
        if head.name in ("switchname", "blockname"):
            section = "SwitchName" if head.name == "switchname" else "BlockName"
            faults += sections.check_line(line, section, "26.05")
            units.append(Unit(head.value, place, line.text("Nodes"), line.text("Switches")))
        elif head.name == "blocksizes":
            sizes = [values.integer(word) or 0 for word in head.value.split(",")]
        else:
            faults += sections.check_pair(head, "topology.conf", "26.05", "")
    first = lines[0].head if lines else None
    place = Place(CONF, first.line if first else 0, first.column if first else 0, "")
    kind = "block" if plugin == "topology/block" or sizes else "tree"
    return Topology("", kind, place, tuple(units), tuple(sizes), True, tuple(faults))


@lru_cache(maxsize=16)  # clusters of one shape have one
def from_yaml(text: str) -> tuple[Document, tuple[Topology, ...]]:
    """Return what topology.yaml says, and the document with what is wrong with its syntax; shared."""
    # The reader of specs wants a mapping at the root, and gives every value its place.
    body = "".join(f"  {line}\n" if line.strip() else "\n" for line in text.split("\n"))
    read = document.read(f"topologies:\n{body}")
    listed = read.value.get("topologies") if isinstance(read.value, dict) else None
    if read.problems or not isinstance(listed, list):
        return read, ()
    return read, tuple(
        _topology(each, f"topologies[{index}]", read)
        for index, each in enumerate(listed)
        if isinstance(each, dict)
    )


def _place(read: Document, path: str, at: str = "") -> Place:
    found = read.places.get(path)
    shown = at or path.removeprefix("topologies")
    return Place(YAML, found.line - 1, found.column - 2, shown) if found else Place(YAML, 0, 0, shown)


def _topology(value: Mapping[str, Any], path: str, read: Document) -> Topology:
    kind = next((key for key in TYPES if key in value), "")
    faults = []
    for key in value:
        if key not in ("topology", "cluster_default", *TYPES):
            hint = nearest.hint(key, ("topology", "cluster_default", *TYPES))
            faults.append(_place(read, f"{path}.{key}").says(f"unknown key `{key}`", hint))
    if not kind:
        faults.append(_place(read, path).says("is neither a tree, a block nor flat", "add `flat: true`"))
    body = value.get(kind)
    inner = {"tree": "switches", "block": "blocks"}.get(kind, "")
    listed = body.get(inner) if isinstance(body, dict) and inner else None
    units = []
    for index, each in enumerate(listed if isinstance(listed, list) else ()):
        here = f"{path}.{kind}.{inner}[{index}]"
        if isinstance(each, dict):
            units.append(_unit(each, here, kind, read, faults))
    sizes = body.get("block_sizes") if isinstance(body, dict) else None
    return Topology(
        str(value.get("topology", "")),
        kind,
        _place(read, path),
        tuple(units),
        tuple(size for size in sizes if isinstance(size, int)) if isinstance(sizes, list) else (),
        value.get("cluster_default") is True,
        tuple(faults),
    )


def _unit(value: Mapping[str, Any], path: str, kind: str, read: Document, faults: list[Finding]) -> Unit:
    legal = KEYS[kind]
    for key in value:
        if key not in legal:
            hint = nearest.hint(key, legal)
            faults.append(_place(read, f"{path}.{key}").says(f"unknown key `{key}`", hint))
    name = str(value.get(legal[0], ""))
    text = {key: str(value.get(key) or "") for key in ("nodes", "children")}
    return Unit(name, _place(read, path, f"{legal[0]} {name[:40]}"), text["nodes"], text["children"])
