"""The controllers: which decision is made about which kind of object."""

from __future__ import annotations

from npa.operator.keys import Controller
from npa.reconcile import nodeset
from npa.render.objects import NODE_SET


def controllers() -> tuple[Controller, ...]:
    """Return all of them; they meet through the API server alone."""
    return (Controller("nodeset", NODE_SET, nodeset.decide),)
