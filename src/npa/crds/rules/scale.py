"""How many there may be, and at which ports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from npa.crds.nodeset import NodeSet
from npa.crds.rules.found import NODES, containers, problem
from npa.crds.slurmcluster import SlurmCluster
from npa.errors import Problem

MOST_AT_ONCE = 500
LAST_PORT = 65535

_PERCENT = re.compile(r"[1-9][0-9]{0,8}%")


def sizes_are_counts(cluster: SlurmCluster) -> Iterator[Problem]:
    """There cannot be less than none."""
    nodes = cluster.spec.slurm_nodes
    for name, size in (("login", nodes.login.size), ("rest", nodes.rest.size)):
        if size is not None and size < 0:
            yield problem(f"{NODES}.{name}.size", f"{size} is no count", "write 0 or more")


def ports_are_ports(cluster: SlurmCluster) -> Iterator[Problem]:
    """A port that is given can be listened at."""
    for at, container in containers(cluster):
        if container.port is not None and not 0 < container.port <= LAST_PORT:
            yield problem(f"{at}.port", f"{container.port} is no port", f"write 1 to {LAST_PORT}")


def replicas_are_a_count(nodeset: NodeSet) -> Iterator[Problem]:
    """There cannot be less than no workers, nor a port that is none."""
    spec = nodeset.spec
    if spec.replicas < 0:
        yield problem("spec.replicas", f"{spec.replicas} is no count", "write 0 or more")
    if not 0 < spec.slurmd.port <= LAST_PORT:
        yield problem("spec.slurmd.port", f"{spec.slurmd.port} is no port", f"write 1 to {LAST_PORT}")


def some_may_start(nodeset: NodeSet) -> Iterator[Problem]:
    """The bound of what may be away at once is a count, or a part of all that is one."""
    held, at = nodeset.spec.max_unavailable, "spec.maxUnavailable"
    hint = f"write 1 to {MOST_AT_ONCE}, or a percentage such as 10%"
    if isinstance(held, int):
        if not 1 <= held <= MOST_AT_ONCE:
            yield problem(at, f"{held} is out of its range", hint)
    elif not _PERCENT.fullmatch(held):
        yield problem(at, f"{held[:60]!r} is no percentage", hint)
    elif int(held[:-1]) * max(0, nodeset.spec.replicas) // 100 > MOST_AT_ONCE:
        text = f"{held} of {nodeset.spec.replicas} workers is more than {MOST_AT_ONCE}"
        yield problem(at, text, hint)
