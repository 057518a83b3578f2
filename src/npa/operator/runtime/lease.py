"""Who leads, decided from a Lease: pure.

Nobody's clock is compared with another's. A Lease counts as held until it has not changed for its whole
duration by the clock of who looks at it, and a leader stops by its own clock well before that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from npa.render.objects import LEASE, Object, dig


@dataclass(frozen=True, slots=True)
class Terms:
    """How long a Lease is good for; a leader gives up `renew_within` after its last renewal."""

    name: str
    namespace: str
    identity: str
    duration: float = 15.0
    renew_within: float = 10.0
    retry: float = 2.0


@dataclass(frozen=True, slots=True)
class Sight:
    """What is known of the Lease, and since when by our own clock it has been like this."""

    record: tuple[str, ...] = ()  # what its holder changes when it renews
    since: float = 0.0
    renewed: float | None = None  # when we renewed it ourselves, asked for no later than this


@dataclass(frozen=True, slots=True)
class Move:
    """What to do about the Lease: write it, or wait."""

    sight: Sight
    write: dict[str, Any] | None = None  # the Lease as it is to be; with a resource version it is replaced
    holder: str = field(default="", compare=False)


def leads(sight: Sight, terms: Terms, now: float) -> bool:
    """Say whether we may write as the leader at this moment."""
    return sight.renewed is not None and now - sight.renewed < terms.renew_within


def decide(sight: Sight, found: Object | None, terms: Terms, now: float, wall: datetime) -> Move:
    """Return the next move, from the Lease that was read; None: there is none."""
    if found is None:
        return Move(sight, _lease(None, terms, wall))
    holder = str(dig(found, "spec", "holderIdentity") or "")
    record = _record(found)
    if record != sight.record:
        sight = Sight(record, now, sight.renewed if holder == terms.identity else None)
    if holder == terms.identity or not holder:
        return Move(sight, _lease(found, terms, wall), holder)
    duration = float(dig(found, "spec", "leaseDurationSeconds") or terms.duration)
    if now - sight.since < duration:
        return Move(sight, holder=holder)
    return Move(sight, _lease(found, terms, wall), holder)


def written(answer: Object, asked_at: float) -> Sight:
    """Return what is known once the API took our Lease; it counts from before it was asked."""
    return Sight(_record(answer), asked_at, asked_at)


def released(found: Object, terms: Terms, wall: datetime) -> dict[str, Any] | None:
    """Return the Lease given up, so that the next one need not wait; None where it is not ours."""
    if dig(found, "spec", "holderIdentity") != terms.identity:
        return None
    made = _lease(found, terms, wall)
    made["spec"] |= {"holderIdentity": "", "leaseDurationSeconds": 1}
    return made


def _lease(found: Object | None, terms: Terms, wall: datetime) -> dict[str, Any]:
    spec: dict[str, Any] = dict((found or {}).get("spec") or {})
    moment = wall.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if spec.get("holderIdentity") != terms.identity:
        changes = int(spec.get("leaseTransitions") or 0)
        spec["leaseTransitions"] = changes + 1 if found is not None else 0
        spec["acquireTime"] = moment
    spec |= {
        "holderIdentity": terms.identity,
        "leaseDurationSeconds": int(terms.duration),
        "renewTime": moment,
    }
    made = LEASE.object(terms.name, terms.namespace, spec=spec)
    if found is not None:
        made["metadata"] = dict(found["metadata"])
    return made


def _record(found: Object) -> tuple[str, ...]:
    spec = found.get("spec") or {}
    keys = ("holderIdentity", "renewTime", "acquireTime", "leaseTransitions")
    return tuple(str(spec.get(key) or "") for key in keys)
