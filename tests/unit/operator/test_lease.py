"""Leadership, played through with clocks that do not agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as some

from npa.operator.runtime import lease
from npa.operator.runtime.lease import Sight, Terms

WALL = datetime(2030, 1, 1, tzinfo=UTC)


def terms(identity: str) -> Terms:
    return Terms("lease", "ns", identity)


def held(by: str, renewed: str = "2030-01-01T00:00:00.000000Z", seconds: int = 15) -> dict[str, Any]:
    spec = {"holderIdentity": by, "renewTime": renewed, "leaseDurationSeconds": seconds}
    return {"metadata": {"name": "lease", "resourceVersion": "7"}, "spec": spec}


def test_a_lease_that_is_not_there_is_made() -> None:
    move = lease.decide(Sight(), None, terms("a"), 0, WALL)

    assert move.write is not None
    assert move.write["spec"]["holderIdentity"] == "a"
    assert "resourceVersion" not in move.write["metadata"]


def test_a_lease_of_another_is_waited_for_by_our_own_clock() -> None:
    seen = lease.decide(Sight(), held("b", renewed="1999-01-01T00:00:00.000000Z"), terms("a"), 100, WALL)

    assert seen.write is None
    later = lease.decide(seen.sight, held("b", renewed="1999-01-01T00:00:00.000000Z"), terms("a"), 114, WALL)
    assert later.write is None


def test_a_lease_that_nobody_renews_is_taken_with_the_version_that_was_seen() -> None:
    seen = lease.decide(Sight(), held("b"), terms("a"), 100, WALL)
    move = lease.decide(seen.sight, held("b"), terms("a"), 115, WALL)

    assert move.write is not None
    assert move.write["metadata"]["resourceVersion"] == "7"
    assert move.write["spec"]["leaseTransitions"] == 1


def test_a_lease_that_is_renewed_is_never_taken() -> None:
    sight = Sight()
    for second in range(0, 100, 10):
        stamp = (WALL + timedelta(seconds=second)).isoformat()
        move = lease.decide(sight, held("b", renewed=stamp), terms("a"), second, WALL)
        sight = move.sight

        assert move.write is None


def test_a_lease_that_was_given_up_is_taken_at_once() -> None:
    given_up = lease.released(held("b"), terms("b"), WALL)

    assert given_up is not None
    assert lease.decide(Sight(), given_up, terms("a"), 0, WALL).write is not None


def test_another_s_lease_is_not_given_up() -> None:
    assert lease.released(held("b"), terms("a"), WALL) is None


def test_who_led_before_under_the_same_name_does_not_lead_without_renewing() -> None:
    move = lease.decide(Sight(), held("a"), terms("a"), 0, WALL)

    assert not lease.leads(move.sight, terms("a"), 0)
    assert move.write is not None


def test_leadership_counts_from_before_the_api_was_asked_and_ends_before_others_may_begin() -> None:
    ours = terms("a")
    sight = lease.written(held("a"), asked_at=50)

    assert lease.leads(sight, ours, 59.9)
    assert not lease.leads(sight, ours, 60)
    assert ours.renew_within < ours.duration


@dataclass
class World:
    """One Lease, and candidates whose clocks begin anywhere and run a little fast or slow."""

    lease: dict[str, Any] | None = None
    version: int = 0
    now: float = 0.0
    sights: dict[str, Sight] = field(default_factory=dict)

    def turn(self, who: str, start: float, rate: float, reached: bool) -> None:
        clock = start + self.now * rate
        move = lease.decide(self.sights.get(who, Sight()), self.lease, terms(who), clock, WALL)
        self.sights[who] = move.sight
        if move.write is None or not reached:
            return
        self.version += 1
        stamp = (WALL + timedelta(seconds=self.now)).isoformat()
        spec = {**move.write["spec"], "renewTime": stamp}
        self.lease = {"metadata": {"name": "lease", "resourceVersion": str(self.version)}, "spec": spec}
        self.sights[who] = lease.written(self.lease, clock)

    def leaders(self, clocks: Sequence[tuple[str, float, float]]) -> list[str]:
        return [
            who
            for who, start, rate in clocks
            if lease.leads(self.sights.get(who, Sight()), terms(who), start + self.now * rate)
        ]


CLOCKS = some.tuples(some.floats(-1e6, 1e6), some.floats(0.9, 1.1))
TURN = some.tuples(some.sampled_from("abc"), some.floats(0, 12), some.booleans())


@settings(max_examples=300)
@given(some.tuples(CLOCKS, CLOCKS, CLOCKS), some.lists(TURN, max_size=60))
def test_two_never_lead_at_once(
    clocks: tuple[tuple[float, float], ...], turns: list[tuple[str, float, bool]]
) -> None:
    world = World()
    named = [(who, *clock) for who, clock in zip("abc", clocks, strict=True)]
    for who, pause, reached in turns:
        world.now += pause
        start, rate = clocks["abc".index(who)]
        world.turn(who, start, rate, reached)

        assert len(world.leaders(named)) <= 1


def test_the_property_fails_where_a_leader_goes_on_as_long_as_the_lease() -> None:
    """The planted bug: without the margin between renewing and taking over, two lead."""
    bold = replace(terms("a"), renew_within=40.0)
    world = World()
    world.turn("a", 0, 1, True)
    world.turn("b", 0, 1, True)
    world.now = 20
    world.turn("b", 0, 1, True)

    assert lease.leads(world.sights["a"], bold, world.now)
    assert world.leaders([("a", 0, 1), ("b", 0, 1)]) == ["b"]
