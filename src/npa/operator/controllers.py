"""The controllers: which decision is made about which kind of object."""

from __future__ import annotations

from npa.operator.keys import Controller
from npa.reconcile import (
    activecheck,
    jailedconfig,
    nodeconfigurator,
    nodeset,
    powerstate,
    slurmcluster,
    topology,
)
from npa.render.objects import (
    ACTIVE_CHECK,
    JAILED_CONFIG,
    NODE_CONFIGURATOR,
    NODE_SET,
    POWER_STATE,
    SLURM_CLUSTER,
)


def controllers() -> tuple[Controller, ...]:
    """Return all of them; they meet through the API server alone."""
    return (
        Controller(
            "slurmcluster", SLURM_CLUSTER, lambda world, _, settings: slurmcluster.decide(world, settings)
        ),
        Controller("nodeset", NODE_SET, nodeset.decide),
        Controller("topology", SLURM_CLUSTER, topology.decide, topology.READS),
        Controller("powerstate", POWER_STATE, powerstate.decide),
        Controller("jailedconfig", JAILED_CONFIG, jailedconfig.decide),
        Controller("nodeconfigurator", NODE_CONFIGURATOR, nodeconfigurator.decide),
        Controller("activecheck", ACTIVE_CHECK, activecheck.decide),
    )
