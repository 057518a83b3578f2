"""The plan that needs no provider: what the spec asks for, safe to show to anybody."""

from __future__ import annotations

from typing import Any

from npa.spec.model import SoperatorSpec, WorkerPoolSpec

SCHEMA_VERSION = "npa.soperator.public-plan/v1"
REGION_UNKNOWN = "(resolve-at-deploy)"


def public_plan(spec: SoperatorSpec) -> dict[str, Any]:
    """Return the plan as JSON has it; what selects a reservation is told by kind and never by value."""
    system = spec.control_plane.system
    return {
        "name": spec.name,
        "region": spec.region or REGION_UNKNOWN,
        "control_plane": {
            "system_min_size": system.min_size,
            "system_max_size": system.effective_max_size,
        },
        "workers": [_worker(pool) for pool in spec.workers],
        "reservation_preflight": "required" if _reserved(spec) else "not-required",
        "provider_mutation": False,
        "schema_version": SCHEMA_VERSION,
    }


def public_plan_text(spec: SoperatorSpec) -> str:
    """Return the plan for people, one line for each pool."""
    system = spec.control_plane.system
    lines = [
        f"cluster {spec.name} in {spec.region or REGION_UNKNOWN}",
        f"system autoscaling: {system.min_size}..{system.effective_max_size}",
        *(f"pool {pool.name}: {pool.size} x {pool.preset}, {pool.capacity_mode}" for pool in spec.workers),
    ]
    if _reserved(spec):
        lines.append("reservations are checked with the provider before anything is changed")
    return "\n".join(lines) + "\n"


def _reserved(spec: SoperatorSpec) -> bool:
    return any(pool.capacity_mode == "reserved" for pool in spec.workers)


def _worker(pool: WorkerPoolSpec) -> dict[str, Any]:
    reserved = pool.capacity_mode == "reserved"
    kind = "id" if pool.capacity_block_group.strip() else "name"
    return {
        "name": pool.name,
        "platform": pool.platform,
        "preset": pool.preset,
        "size": pool.size,
        "capacity_mode": pool.capacity_mode,
        "reservation_selector": kind if reserved else None,
        "reservation_verified": False if reserved else None,
    }
