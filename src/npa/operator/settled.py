"""Remembers worlds in which there was nothing to do, so that the same ones need no decision again.

A decision is a pure function of its world, and says by `again_in` when time alone may change it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from npa.operator.keys import Key
from npa.reconcile.decision import Decision
from npa.reconcile.world import World
from npa.render.objects import Object

_Name = TypeVar("_Name")

LONGEST = 60.0  # seconds for which a decision to do nothing is believed, whatever it says itself


@dataclass(frozen=True, slots=True)
class _Settled:
    world: World
    until: float
    again: float | None  # when it wanted to look again


class Settled:
    """What was last seen of each key that had nothing to do."""

    def __init__(self) -> None:
        self._last: dict[Key, _Settled] = {}

    def recall(self, key: Key, world: World) -> Decision | None:
        """Return the decision of before, where it is still the one; None: it has to be made."""
        last = self._last.get(key)
        if last is None or world.now >= last.until or not same(last.world, world):
            return None
        return Decision(again_in=None if last.again is None else last.again - world.now)

    def note(self, key: Key, world: World, decision: Decision) -> None:
        """Take note of a decision."""
        if not decision.settled or world.cluster is None:
            self._last.pop(key, None)
            return
        again = None if decision.again_in is None else world.now + decision.again_in
        until = world.now + LONGEST
        self._last[key] = _Settled(world, until if again is None else min(again, until), again)

    def forget(self) -> None:
        """Have everything decided anew."""
        self._last.clear()


def same(one: World, other: World) -> bool:
    """Say whether two worlds hold the very same objects, but for the time."""
    return (
        one.cluster is other.cluster
        and len(one.nodesets) == len(other.nodesets)
        and all(a is b for a, b in zip(one.nodesets, other.nodesets, strict=True))
        and _alike(one.objects, other.objects)
        and _alike(one.nodes, other.nodes)
        and (one.unread, one.absent_apis) == (other.unread, other.absent_apis)
        and one.slurm.nodes is other.slurm.nodes
        and one.slurm.jobs is other.slurm.jobs
        and one.slurm.digest is other.slurm.digest
    )


def _alike(one: Mapping[_Name, Object], other: Mapping[_Name, Object]) -> bool:
    return len(one) == len(other) and all(other.get(key) is value for key, value in one.items())
