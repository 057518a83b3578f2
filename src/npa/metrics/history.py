"""What only two looks tell: how long GPUs were in which state, what failed, and for how long."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from npa.metrics import family
from npa.metrics import nodes as figures
from npa.metrics.family import Family, Histogram, Labels
from npa.metrics.seen import Node

# longer than this between two looks, nobody knows what was between
LONGEST = 300.0
_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
BOUNDS = (
    *(30.0, _MINUTE, 2 * _MINUTE, 5 * _MINUTE, 10 * _MINUTE, 30 * _MINUTE),
    *(_HOUR, 2 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY, 2 * _DAY, 7 * _DAY, 14 * _DAY, 30 * _DAY),
)
_EMPTY = Histogram((0,) * (len(BOUNDS) + 1))
_NODE = ("node_name",)
_STATE = ("node_name", *figures.STATE)


@dataclass(frozen=True, slots=True)
class Look:
    """The nodes as they were at a moment."""

    at: float
    nodes: Mapping[str, Node]


@dataclass(frozen=True, slots=True)
class History:
    """What was counted since the first look."""

    last: Look | None = None
    gpu_seconds: Mapping[Labels, float] = field(default_factory=dict)
    fails: Mapping[Labels, float] = field(default_factory=dict)
    away_since: Mapping[str, float] = field(default_factory=dict)  # of nodes that are unavailable now
    draining_since: Mapping[str, float] = field(default_factory=dict)
    away: Mapping[str, Histogram] = field(default_factory=dict)
    drained: Mapping[str, Histogram] = field(default_factory=dict)


def advance(history: History, nodes: Iterable[Node], at: float) -> History:
    """Return the history after another look; one that is no newer than the last changes nothing."""
    look = Look(at, {node.name: node for node in nodes})
    last = history.last
    if last is not None and at <= last.at:
        return history
    away_since, away = _spans(last, look, history.away_since, history.away, figures.unavailable)
    draining_since, drained = _spans(last, look, history.draining_since, history.drained, _draining)
    return replace(
        history,
        last=look,
        gpu_seconds=_gpu_seconds(history.gpu_seconds, last, look),
        fails=_fails(history.fails, last, look),
        away_since=away_since,
        away=away,
        draining_since=draining_since,
        drained=drained,
    )


def families(history: History) -> Iterator[Family]:
    """Yield what was counted, of nodes that are there: those of others would be kept for ever."""
    there = history.last.nodes if history.last is not None else {}
    for name, about, labels, counted in (
        ("gpu_seconds", "GPUs of a node, times seconds in a state.", _STATE, history.gpu_seconds),
        ("fails", "How often a node was lost to jobs.", (*_STATE, "reason"), history.fails),
    ):
        samples = ((key, value) for key, value in counted.items() if key[0] in there)
        yield family.counter(f"slurm_node_{name}", about, labels, samples)
    for name, about, spans in (
        ("unavailability", "How long a node could not be used.", history.away),
        ("draining", "How long jobs ran on a node that is to be empty.", history.drained),
    ):
        held = tuple(((node,), each) for node, each in spans.items() if node in there)
        name = f"slurm_node_{name}_duration_seconds"
        yield Family(name, "histogram", about, _NODE, histograms=held, bounds=BOUNDS)


def _gpu_seconds(before: Mapping[Labels, float], last: Look | None, look: Look) -> Mapping[Labels, float]:
    """Count the time since the last look for the state that a node had then."""
    if last is None or look.at - last.at > LONGEST:
        return before
    counted = dict(before)
    for name, node in last.nodes.items():
        if node.gpus and name in look.nodes:
            key = (name, *figures.state(node))
            counted[key] = counted.get(key, 0.0) + node.gpus * (look.at - last.at)
    return counted


def _fails(before: Mapping[Labels, float], last: Look | None, look: Look) -> Mapping[Labels, float]:
    counted = dict(before)
    for name, node in look.nodes.items():
        old = last.nodes.get(name) if last is not None else None
        if old is not None and _lost(node) and not _lost(old):
            key = (name, *figures.state(node), figures.reason(node))
            counted[key] = counted.get(key, 0.0) + 1
    return counted


def _lost(node: Node) -> bool:
    """Say whether a node takes no jobs, though nobody switched it off."""
    return figures.unavailable(node) or "DRAIN" in node.state.flags


def _draining(node: Node) -> bool:
    return node.state.draining


def _spans(
    last: Look | None,
    look: Look,
    since: Mapping[str, float],
    done: Mapping[str, Histogram],
    holds: Callable[[Node], bool],
) -> tuple[Mapping[str, float], Mapping[str, Histogram]]:
    """Return since when something holds of nodes, and what it lasted where it ended."""
    now_since, ended = dict[str, float](), dict(done)
    for name, node in look.nodes.items():
        begun = since.get(name)
        if holds(node):
            now_since[name] = _begin(last, look, node) if begun is None else begun
        elif begun is not None:
            ended[name] = ended.get(name, _EMPTY).observe(look.at - begun, BOUNDS)
    return now_since, ended


def _begin(last: Look | None, look: Look, node: Node) -> float:
    """Return when a state began that is new: as Slurm's reason says, but not before it was seen otherwise."""
    said = node.reason_at.timestamp() if node.reason_at is not None else look.at
    least = last.at if last is not None and node.name in last.nodes else 0.0
    return min(max(said, least), look.at)
