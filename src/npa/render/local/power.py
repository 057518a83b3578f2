"""Which elastic nodes should run: what slurmctld wants of each, read from its state; pure.

slurmctld's programs carry no orders, they only ring: whoever missed one, or was killed after one, asks again
and does the same (slurm.conf(5), ResumeProgram; Slurm's power saving guide).
"""

from __future__ import annotations

from collections.abc import Collection

from npa.cluster.model import Cluster
from npa.health.answers import SlurmView
from npa.health.observation import SlurmNode

_OFF = frozenset({"POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN"})

# what rings for the agent; it also writes down who asked for what, and for which jobs
PROGRAM = """\
#!/bin/sh
# Written by npa; changes made here are overwritten
exec >>/var/lib/slurm/ctld/power.requests
printf '%s %s\\n' "$(date +%s)" "$*"
"""
_NOT_STARTED = "npa: could not be started"
PROGRAM_NAME = "power"
REQUESTS = "power.requests"  # below StateSaveLocation


def wanted(cluster: Cluster, view: SlurmView | None) -> dict[str, bool]:
    """Return each elastic node that Slurm knows and whether it should run; without an answer, nothing."""
    if view is None:
        return {}
    elastic = cluster.elastic
    return {node.name: _runs(node) for node in view.nodes if node.name in elastic}


def failed(cluster: Cluster, view: SlurmView | None) -> tuple[str, ...]:
    """Return elastic nodes that did not come up in time: down, and nobody's drain."""
    elastic = cluster.elastic
    return tuple(
        node.name
        for node in (view.nodes if view else ())
        if node.name in elastic
        and node.state.base == "DOWN"
        and "DRAIN" not in node.state.flags
        and node.reason.startswith(("ResumeTimeout reached", _NOT_STARTED))
    )


def could_not_start(why: str) -> str:
    """Return the reason of an elastic node that this machine could not start."""
    return f"{_NOT_STARTED}: {why}"[:200]


def with_their_jobs(view: SlurmView, failed: Collection[str], started: Collection[str]) -> tuple[str, ...]:
    """Return failed nodes, and those started beside them for the same jobs: a job gets all or none."""
    beside = {node for job in view.jobs if set(job.nodes) & set(failed) for node in job.nodes}
    return tuple(name for name in started if name in failed or name in beside)


def _runs(node: SlurmNode) -> bool:
    if node.state.flags & {"POWERING_UP", "POWER_UP"}:
        return True
    return not node.state.flags & _OFF and node.state.base != "DOWN"
