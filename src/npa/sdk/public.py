"""A plan that was made without a provider, as values of its JSON."""

from __future__ import annotations

from typing import Literal, TypedDict


class PublicControlPlane(TypedDict):
    """How far the system nodes may grow."""

    system_min_size: int
    system_max_size: int


class PublicWorker(TypedDict):
    """One pool, without what selects a reservation."""

    name: str
    platform: str
    preset: str
    size: int
    capacity_mode: Literal["on-demand", "preemptible", "reserved"]
    reservation_selector: Literal["id", "name"] | None  # the kind alone
    reservation_verified: bool | None


class PublicPlan(TypedDict):
    """What a spec asks for, made without a provider and safe to show to anybody."""

    schema_version: str
    name: str
    region: str
    control_plane: PublicControlPlane
    workers: list[PublicWorker]
    reservation_preflight: Literal["required", "not-required"]
    provider_mutation: Literal[False]
