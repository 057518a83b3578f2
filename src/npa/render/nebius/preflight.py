"""Quotas, reservations and cost of a cluster in one look, before anything is changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from npa.errors import CapacityError, QuotaError
from npa.render.nebius import capacity, cost, existing, quotas
from npa.render.nebius.capacity import Identity
from npa.render.nebius.prices import Prices
from npa.render.nebius.quotas import Allowance
from npa.spec.model import SoperatorSpec

SCHEMA_VERSION = "npa.soperator.preflight/v1"
_RAISE = "ask the provider to raise them, or make the pools smaller"
_RESERVE = "choose another reservation, make the pools smaller, or ask the provider to enlarge it"


@dataclass(frozen=True, slots=True)
class Preflight:
    """Whether a cluster fits for certain, and what it will cost as far as that is known."""

    quotas: quotas.Verdict
    capacity: capacity.Verdict
    cost: cost.Estimate

    @property
    def ok(self) -> bool:
        """Whether it fits for certain."""
        return self.quotas.ok and self.capacity.ok

    def public(self) -> dict[str, Any]:
        """Return what JSON output shows; what a reservation is called by is not in it."""
        return {
            "schema_version": SCHEMA_VERSION,
            "ok": self.ok,
            "shortfalls": [
                {
                    "quota": each.quota,
                    "region": each.region,
                    "unit": each.unit,
                    "needed": each.needed,
                    "available": each.available,
                    "limit": each.limit,
                    "raise_to": each.raise_to,
                    "raise_to_grow": each.raise_to_grow,
                    "blocking": not each.later,
                    "why": list(each.why),
                }
                for each in self.quotas.shortfalls
            ],
            "unreadable": [{"quota": each.quota, "problem": each.problem} for each in self.quotas.unreadable],
            "reservations": list(self.capacity.refusals),
            "cost": {
                "currency": self.cost.currency,
                "as_of": self.cost.as_of,
                "known_hourly": _money(self.cost.known_hourly),
                "known_hourly_most": _money(self.cost.known_hourly_most),
                "unknown": list(self.cost.unknown),
            },
        }


def assess(
    spec: SoperatorSpec,
    identity: Identity,
    world: capacity.World,
    allowances: Sequence[Allowance],
    state: Mapping[str, Any],
    prices: Prices,
    *,
    cached: Collection[str] = (),
) -> Preflight:
    """Return what stands against a spec. `state` is Terraform's; `cached` are the pools it had caches for."""
    own = quotas.needs_of(existing.inventory_of(state, spec, cached=cached))
    return Preflight(
        quotas.shortfalls(
            quotas.needs(spec), allowances, tenant=identity.tenant, region=identity.region, owned=own
        ),
        capacity.decide(spec, identity, world),
        cost.estimate(spec, prices),
    )


def refuse(found: Preflight) -> None:
    """Raise what stands against the cluster: CapacityError first, then QuotaError with every lack."""
    if not found.capacity.ok:
        raise CapacityError(found.capacity.refusals, hint=_RESERVE)
    if not found.quotas.ok:
        raise QuotaError(
            [str(each) for each in found.quotas.blocking],
            [str(each) for each in found.quotas.unreadable],
            hint=_RAISE if found.quotas.blocking else "run the same command again",
        )


def _money(amount: Any) -> str | None:
    return None if amount is None else f"{amount.normalize():f}"
