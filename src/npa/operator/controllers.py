"""The controllers: which decision is made about which kind of object."""

from __future__ import annotations

from npa.operator.keys import Controller
from npa.reconcile.decision import Decision
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.objects import SLURM_CLUSTER


def _nothing(world: World, name: str, settings: Settings) -> Decision:  # noqa: ARG001
    return Decision()


def controllers() -> tuple[Controller, ...]:
    """Return all of them; they meet through the API server alone."""
    return (Controller("slurmcluster", SLURM_CLUSTER, _nothing),)
