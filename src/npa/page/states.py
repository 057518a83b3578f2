"""The few kinds of states that the page draws, and which a node is of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

import htpy as h

from npa.slurm.states import NodeState

Kind = Literal["idle", "mixed", "busy", "draining", "drained", "down", "held", "off", "unknown"]
# in the order in which they are drawn, with what the legend says
KINDS: dict[Kind, str] = {
    "busy": "full",
    "mixed": "partly in use",
    "idle": "idle",
    "draining": "draining",
    "drained": "drained",
    "down": "down",
    "held": "held back",
    "off": "powered off",
    "unknown": "unknown",
}
_OFF = frozenset({"POWERED_DOWN", "POWERING_DOWN", "POWERING_UP", "POWER_DOWN"})


def kind(state: NodeState | None) -> Kind:
    """Return which kind a state is of; no state is unknown, never idle."""
    if state is None or state.unknown:
        return "unknown"
    if "DRAIN" in state.flags or "FAIL" in state.flags:
        return "draining" if state.busy else "drained"
    if state.base in ("DOWN", "ERROR"):
        return "down"
    if state.flags & _OFF:
        return "off"
    if not state.schedulable or "RESERVED" in state.flags:
        return "held"
    by_base: dict[str, Kind] = {"ALLOCATED": "busy", "MIXED": "mixed", "IDLE": "idle"}
    return by_base.get(state.base, "unknown")


def counts(kinds: Iterable[Kind]) -> dict[Kind, int]:
    """Return how many there are of each kind that there is, in the order of drawing."""
    found = Counter(kinds)
    return {each: found[each] for each in KINDS if found[each]}


def bar(found: dict[Kind, int]) -> h.Node:
    """Draw how many nodes are of which kind; what it says is in the legend beside it."""
    total = sum(found.values())
    x, parts = 0.0, []
    for each, count in found.items():
        width = 1000 * count / total
        label = h.title[f"{count} {KINDS[each]}"]
        parts.append(
            h.rect(x=f"{x:.1f}", y="0", width=f"{width:.1f}", height="14", class_=f"k-{each}")[label]
        )
        x += width
    box = {"viewBox": "0 0 1000 14", "preserveAspectRatio": "none", "aria-hidden": "true"}
    return h.svg(".bar", box)[parts] if total else None


def legend(found: dict[Kind, int]) -> h.Node:
    """Say how many nodes are of which kind."""
    return h.ul(".legend")[
        (h.li[h.i(class_=f"swatch k-{each}"), f"{count:,} {KINDS[each]}"] for each, count in found.items())
    ]
