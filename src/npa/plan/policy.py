"""What a changed setting asks of the daemons."""

from __future__ import annotations

from collections.abc import Iterable

# slurmctld reads these once, when it starts (slurm.conf(5) says so key by key; scontrol(1), `reconfigure`).
RESTART_KEYS = frozenset(
    {
        "accountingstoragehost",
        "accountingstoragetype",
        "acctgatherenergytype",
        "authtype",
        "credtype",
        "maxnodecount",
        "metricstype",
        "preempttype",
        "prioritytype",
        "proctracktype",
        "schedulertype",
        "selecttype",
        "slurmctldhost",
        "statesavelocation",
        "switchtype",
        "taskplugin",
        "topologyplugin",
    }
)


def needs_restart(keys: Iterable[str]) -> bool:
    """Say whether a change of these slurm.conf keys reaches slurmctld only when it starts anew."""
    return not RESTART_KEYS.isdisjoint(key.lower() for key in keys)
