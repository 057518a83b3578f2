"""topology.yaml or topology.conf from where each worker is: trees of switches, or blocks.

Fabrics are trees of their own, as nothing connects them. A unit has one name and one parent wherever nodes
disagree, and what is not known is a unit, too: slurmctld gives no jobs to a node that is nowhere.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from npa.cluster.model import Cluster
from npa.slurm import conf, hostlist, topology, version

Tiers = tuple[tuple[int, str], ...]  # (number of the tier, unit), the nearest first
_ROOT = "root"
_LONG = re.compile(r"[0-9]{19,}$")  # Slurm's hostlists keep 18 digits of a number
_STRANGE = re.compile(r"[^A-Za-z0-9_.-]")


@dataclass(frozen=True, slots=True)
class Unit:
    """A switch or a block, and what is in it."""

    name: str
    nodes: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drawn:
    """All units, and who has a place in them that is known."""

    units: tuple[Unit, ...]
    placed: frozenset[str]
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Tree:
    """The switches of one fabric, by tier and unit."""

    nodes: dict[tuple[int, str], list[str]] = field(default_factory=dict)
    parents: dict[tuple[int, str], Counter[tuple[int, str]]] = field(default_factory=dict)


def draw(fabrics: Mapping[str, Sequence[str]], known: Mapping[str, Tiers], *, block: bool) -> Drawn:
    """Return the units of every node; `fabrics` says which nodes a fabric has, `known` where some are."""
    if block:
        return _blocks(fabrics, known)
    units: list[Unit] = []
    warnings: list[str] = []
    placed: set[str] = set()
    taken: set[str] = set()
    for fabric in sorted(fabrics):
        units += _fabric(fabric, fabrics[fabric], known, taken, placed, warnings)
    return Drawn(tuple(units), frozenset(placed), tuple(warnings))


def _fabric(
    fabric: str,
    nodes: Sequence[str],
    known: Mapping[str, Tiers],
    taken: set[str],
    placed: set[str],
    warnings: list[str],
) -> Iterator[Unit]:
    tree, lost = _grow(nodes, known)
    placed.update(set(nodes) - set(lost))
    above_of = {key: _parent(key, votes, warnings) for key, votes in sorted(tree.parents.items())}
    called = {key: _called(fabric, key, above_of, taken) for key in sorted(above_of)}
    children: dict[tuple[int, str], list[str]] = {}
    for key, above in above_of.items():
        if above is not None:
            children.setdefault(above, []).append(called[key])
    tops = [called[key] for key, above in above_of.items() if above is None]
    for key in sorted(above_of):
        own, below = sorted(tree.nodes.get(key, ())), children.get(key, [])
        if own and below:  # a switch has either nodes or switches
            below = [*below, _free(f"{called[key]}.nodes", taken)]
            yield Unit(below[-1], tuple(own))
            own = []
        yield Unit(called[key], tuple(own), tuple(sorted(below)))
    if lost:
        unknown = _free("unknown" if fabric == _ROOT else f"{_word(fabric)}.unknown", taken)
        tops.append(unknown)
        yield Unit(unknown, tuple(lost))
    if len(tops) > 1:
        yield Unit(_free(_word(fabric), taken), children=tuple(sorted(tops)))


def _grow(nodes: Sequence[str], known: Mapping[str, Tiers]) -> tuple[_Tree, list[str]]:
    """Return the switches above nodes, and the nodes of which none is known."""
    tree, lost = _Tree(), []
    for node in nodes:
        path = [each for each in known.get(node, ()) if each[0] > 0]  # tier 0 is inside a rack
        if not path:
            lost.append(node)
            continue
        tree.nodes.setdefault(path[0], []).append(node)
        for child, above in itertools.pairwise(path):
            tree.parents.setdefault(child, Counter())[above] += 1
        tree.parents.setdefault(path[-1], Counter())
    return tree, lost


def _parent(
    key: tuple[int, str], votes: Counter[tuple[int, str]], warnings: list[str]
) -> tuple[int, str] | None:
    """Return the one parent of a switch: that of most nodes, and of those the first by name."""
    if not votes:
        return None
    chosen = min(votes, key=lambda each: (-votes[each], each))
    if len(votes) > 1:
        others = ", ".join(sorted(each[1] for each in votes if each != chosen))
        warnings.append(f"{key[1]} is below {chosen[1]}, although some nodes say below {others}")
    return chosen


def _called(
    fabric: str, key: tuple[int, str], parent: Mapping[tuple[int, str], object], taken: set[str]
) -> str:
    """Return a name that no other unit has: the same word may name units of several tiers and fabrics."""
    twins = sum(unit == key[1] for _, unit in parent)
    word = _word(key[1] if twins == 1 else f"{key[1]}.tier-{key[0]}")
    return _free(word if word not in taken else f"{_word(fabric)}.{word}", taken)


def _free(word: str, taken: set[str]) -> str:
    while word in taken:
        word += "_"
    taken.add(word)
    return word


def _blocks(fabrics: Mapping[str, Sequence[str]], known: Mapping[str, Tiers]) -> Drawn:
    blocks: dict[str, list[str]] = {}
    placed: set[str] = set()
    for fabric in sorted(fabrics):
        unknown = "unknown" if fabric == _ROOT else f"{_word(fabric)}.unknown"
        for node in fabrics[fabric]:
            rack = dict(known.get(node, ())).get(0)
            if rack is not None:
                placed.add(node)
            blocks.setdefault(_word(rack) if rack is not None else unknown, []).append(node)
    units = tuple(Unit(block, tuple(nodes)) for block, nodes in sorted(blocks.items()))
    return Drawn(units, frozenset(placed))


def render(drawn: Drawn, cluster: Cluster, *, block: bool) -> str:
    """Return the file that this Slurm reads."""
    if topology.name(cluster) == "topology.conf":
        return _conf(drawn, cluster, block=block)
    kind, unit, sizes = (
        ("block", "block", f"    block_sizes: [{_size(drawn, cluster)}]\n")
        if block
        else ("tree", "switch", "")
    )
    lines = [f"{conf.comment(conf.HEADER)}\n- topology: network\n  cluster_default: true\n  {kind}:\n{sizes}"]
    lines.append("    blocks:\n" if block else "    switches:\n")
    for each in drawn.units:
        lines.append(f"      - {unit}: {json.dumps(conf.word(unit, each.name))}\n")
        key, below = ("children", each.children) if each.children else ("nodes", each.nodes)
        lines.append(f"        {key}: {json.dumps(_list(below))}\n")
    return "".join(lines)


def _conf(drawn: Drawn, cluster: Cluster, *, block: bool) -> str:
    lines = [conf.comment(conf.HEADER)]
    for each in drawn.units:
        key, below = ("Switches", each.children) if each.children else ("Nodes", each.nodes)
        lines.append(conf.line(("BlockName" if block else "SwitchName", each.name), (key, _list(below))))
    if block:
        lines.append(conf.line(("BlockSizes", _size(drawn, cluster))))
    return conf.text(lines)


def _size(drawn: Drawn, cluster: Cluster) -> int:
    """Return the smallest known block; before 26.05 slurmctld stops at a smaller one, known or not."""
    sizes = [len(each.nodes) for each in drawn.units if set(each.nodes) & drawn.placed]
    every = [len(each.nodes) for each in drawn.units]
    return min(sizes if version.at_least(cluster.slurm_version, "26.05") and sizes else every)


def _list(names: Sequence[str]) -> str:
    return hostlist.compress(names)


def _word(text: str) -> str:
    word = _STRANGE.sub("_", text)
    return f"{word}_" if _LONG.search(word) else word
