"""What is wrong with a resource of ours, said before the API server takes it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from npa.crds import activecheck, jailedconfig, nodeconfigurator, nodeset, powerstate, slurmcluster
from npa.errors import SpecError
from npa.operator.runtime.webhook import Asked, Verdict
from npa.render.objects import Object, dig

_MODELS: Mapping[str, Callable[[Object], Any]] = {
    "SlurmCluster": slurmcluster.parse,
    "NodeSet": nodeset.parse,
    "ActiveCheck": activecheck.parse,
    "JailedConfig": jailedconfig.parse,
    "NodeConfigurator": nodeconfigurator.parse,
    "NodeSetPowerState": powerstate.parse,
}


def review(asked: Asked) -> Verdict:
    """Return everything that is wrong with what somebody asks for.

    What is not about the spec is let through: an object that older rules took in can still be labelled,
    and deleted.
    """
    new = asked.new
    if new is None or dig(new, "metadata", "deletionTimestamp"):
        return Verdict()
    if asked.old is not None and asked.old.get("spec") == new.get("spec"):
        return Verdict()
    parse = _MODELS.get(str(new.get("kind")))
    if parse is None:
        return Verdict()
    try:
        parse(new)
    except SpecError as error:
        return Verdict(tuple(_said(each) for each in error.problems))
    return Verdict()


def _said(problem: Any) -> str:
    text = str(problem)
    return f"{text}; {problem.hint}" if problem.hint else text
