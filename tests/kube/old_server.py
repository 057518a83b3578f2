"""The operator for Kubernetes 1.20, whose real API server the test bed has."""

from __future__ import annotations

import dataclasses
from typing import Any

from npa.operator.controllers import controllers
from npa.operator.keys import Controller
from npa.reconcile.decision import Decision
from npa.reconcile.settings import Settings
from npa.reconcile.world import World


def for_old_servers(controller: Controller) -> Controller:
    """Leave out what Kubernetes 1.20 does not know and refuses."""

    def decide(world: World, name: str, settings: Settings) -> Decision:
        decision = controller.decide(world, name, settings)
        create, apply = (tuple(map(known, each)) for each in (decision.create, decision.apply))
        return dataclasses.replace(decision, create=create, apply=apply)

    return dataclasses.replace(controller, decide=decide)


def known(value: Any) -> Any:
    """Return an object without what 1.20 does not know."""
    if isinstance(value, dict):
        return {key: known(each) for key, each in value.items() if key != "appArmorProfile"}
    return [known(each) for each in value] if isinstance(value, list) else value


OLD = tuple(map(for_old_servers, controllers()))
