"""The picture of a cluster: who controls it, where people log in, and the nodes on each fabric by state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import htpy as h

from npa.health.observation import Daemon
from npa.page import states, words
from npa.page.facts import UNKNOWN_SWITCH, Group, Topology
from npa.page.states import KINDS, Kind

WIDE = 900
LEFT = 28  # where the tree's branches end
NAMED = 96  # nodes, up to which each bears its name
TILE, DOT = (96, 40), (16, 16)
GAP = 6
NO_SWITCH = "not on a switch"


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Part of the picture, and how far down it reaches."""

    parts: tuple[h.Node, ...]
    bottom: int


def picture(topology: Topology, kinds: Mapping[str, Kind], daemons: Sequence[Daemon]) -> h.Element:
    """Draw the cluster; a node of which nothing is known is drawn as unknown."""
    top = _top(topology, daemons)
    bottom, branches, parts = top.bottom + 26, [], list(top.parts)
    tile = TILE if sum(len(pool.nodes) for pool in topology.pools) <= NAMED else DOT
    for name, pools in _fabrics(topology):
        drawn = _fabric(name, pools, kinds, bottom, tile)
        branches.append(bottom + 17)
        parts.extend(drawn.parts)
        bottom = drawn.bottom + 18
    high = bottom if branches else top.bottom + 8
    title = f"{words.many(len(topology.controllers), 'controller')}, {words.many(len(kinds), 'node')}"
    box = {"viewBox": f"-1 -1 {WIDE + 2} {high + 2}", "role": "img", "aria-label": title}
    return h.div(".scroll")[h.svg(".picture", box)[_tree(top.bottom, branches), parts]]


def _fabrics(topology: Topology) -> Iterator[tuple[str, tuple[Group, ...]]]:
    """Yield each switch with the part of each pool that hangs on it; nodes on none come last."""
    left = {node for pool in topology.pools for node in pool.nodes}
    for switch in topology.switches:
        on_it = left.intersection(switch.nodes)
        left -= on_it
        yield switch.name, tuple(_parts(topology.pools, on_it))
    if left or not topology.switches:
        yield NO_SWITCH, tuple(_parts(topology.pools, left))


def _parts(pools: Iterable[Group], names: set[str]) -> Iterator[Group]:
    for pool in pools:
        nodes = tuple(node for node in pool.nodes if node in names)
        if nodes or not pool.nodes:
            yield Group(pool.name, nodes, pool.about)


def _tree(top: int, branches: Sequence[int]) -> Iterator[h.Node]:
    if branches:
        yield h.path(".wire", d=f"M10 {top}V{branches[-1]}")
        yield from (h.path(".wire", d=f"M10 {y}H{LEFT}") for y in branches)


def _top(topology: Topology, daemons: Sequence[Daemon]) -> _Drawn:
    """Draw the nodes that run the cluster, each with whether its daemons are up."""
    boxes = [("controller", each) for each in topology.controllers]
    boxes += [("service", each) for each in topology.others]
    boxes += [("login", each) for each in topology.logins]
    wide, high, each_row = 168, 52, 5
    parts: list[h.Node] = []
    for index, (role, name) in enumerate(boxes):
        x, y = index % each_row * (wide + 12), index // each_row * (high + 10)
        own = [daemon for daemon in daemons if daemon.node == name]
        parts += _box(role, name, own, x, y)
    rows = -(-len(boxes) // each_row)
    return _Drawn(tuple(parts), rows * (high + 10) - 10 if rows else 0)


def _box(role: str, name: str, daemons: Sequence[Daemon], x: int, y: int) -> Iterator[h.Node]:
    bad = [daemon for daemon in daemons if daemon.state != "up"]
    look = "unknown" if not daemons else "down" if bad else "up"
    told = ", ".join(f"{each.name} {each.state}" for each in bad) or _up(daemons)
    yield h.g[
        h.title[words.plain(f"{role} {name}: {told}")],
        h.rect(class_=f"box b-{look}", x=str(x), y=str(y), width="168", height="52", rx="8"),
        h.circle(class_=f"dot d-{look}", cx=str(x + 16), cy=str(y + 19), r="5"),
        h.text(".name", x=str(x + 28), y=str(y + 23))[_short(name, 16)],
        h.text(".about", x=str(x + 12), y=str(y + 42))[_short(told, 25)],
    ]


def _up(daemons: Sequence[Daemon]) -> str:
    return f"{', '.join(each.name for each in daemons)} up" if daemons else "not known"


def _fabric(
    name: str, pools: Sequence[Group], kinds: Mapping[str, Kind], top: int, tile: tuple[int, int]
) -> _Drawn:
    y = top + 34
    parts: list[h.Node] = [
        h.rect(".switch", x=str(LEFT), y=str(top), width=str(WIDE - LEFT), height="34", rx="8"),
        h.text(".name", x=str(LEFT + 14), y=str(top + 22))[_short(_called(name), 70)],
    ]
    for pool in pools:
        told = words.many(len(pool.nodes), "node")
        about = f"{told}, each {pool.about}" if pool.about else told
        parts.append(
            h.text(x=str(LEFT + 14), y=str(y + 24))[
                h.tspan(".name")[_short(pool.name, 40)], h.tspan(".about", dx="8")[_short(about, 70)]
            ]
        )
        drawn = _nodes(pool.nodes, kinds, y + 34, tile)
        parts.extend(drawn.parts)
        y = drawn.bottom
    return _Drawn(tuple(parts), y)


def _called(switch: str) -> str:
    if switch in (NO_SWITCH, UNKNOWN_SWITCH):
        return switch
    return "no fabric" if switch == "no-fabric" else f"fabric {switch}"


def _nodes(names: Sequence[str], kinds: Mapping[str, Kind], top: int, tile: tuple[int, int]) -> _Drawn:
    wide, high = tile
    start = LEFT + 14
    each_row = (WIDE - start + GAP) // (wide + GAP)
    parts = []
    for index, name in enumerate(names):
        x, y = start + index % each_row * (wide + GAP), top + index // each_row * (high + GAP)
        kind = kinds.get(name, "unknown")
        parts.append(_node(name, kind, (x, y), tile))
    rows = -(-len(names) // each_row)
    return _Drawn(tuple(parts), top + rows * (high + GAP))


def _node(name: str, kind: Kind, at: tuple[int, int], tile: tuple[int, int]) -> h.Node:
    (x, y), (wide, high) = at, tile
    box = {"x": str(x), "y": str(y), "width": str(wide), "height": str(high), "rx": "6" if wide > 40 else "3"}
    texts = (
        (
            h.text(class_=f"name t-{kind}", x=str(x + 9), y=str(y + 17))[_short(name, 12)],
            h.text(class_=f"about t-{kind}", x=str(x + 9), y=str(y + 32))[KINDS[kind]],
        )
        if tile == TILE
        else None
    )
    return h.g[h.title[words.plain(f"{name}: {KINDS[kind]}")], h.rect(box, class_=f"k-{kind}"), texts]


def _short(text: str, longest: int) -> str:
    """Return what fits; the beginning and the end of a name tell more than its middle."""
    line = words.plain(text)
    if len(line) <= longest:
        return line
    tail = longest // 3
    return f"{line[: longest - tail - 1]}…{line[-tail:]}"


def groups(named: Sequence[Group], kinds: Mapping[str, Kind], head: str) -> h.Node:
    """Return a table of pools or partitions: how many nodes each has, by state."""
    rows = []
    for each in named:
        found = states.counts(kinds.get(node, "unknown") for node in each.nodes)
        told = ", ".join(f"{count:,} {KINDS[kind]}" for kind, count in found.items()) or "no nodes"
        rows.append(
            h.tr[
                h.th(scope="row")[
                    words.typed(each.name), h.small[words.plain(each.about)] if each.about else None
                ],
                h.td(".num")[f"{len(each.nodes):,}"],
                h.td(".wide")[states.bar(found), h.small[told]],
            ]
        )
    if not rows:
        return None
    return h.div(".scroll")[
        h.table[h.thead[h.tr[h.th[head], h.th(".num")["nodes"], h.th["by state"]]], h.tbody[rows]]
    ]
