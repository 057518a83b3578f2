"""Which workers a NodeSet is about: those that should run, and those that Slurm's files have to name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from npa.cluster import names as node_names
from npa.reconcile.world import World
from npa.render.kube import names
from npa.render.objects import Object, dig, name_of
from npa.slurm.lookup import Found
from npa.slurm.replies import Rows, SlurmJobReply

# on a NodeSet: ordinals that are left out, `1,4-5`; as many workers with other ordinals are there instead
RESERVED = f"{names.PREFIX}reserve-ordinals"
_RANGE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")
_MOST = 65536  # ordinals that one annotation can leave out


@dataclass(frozen=True, slots=True)
class Listed:
    """The ordinals that slurm.conf has to name."""

    ordinals: tuple[int, ...]
    certain: bool  # False: others may be in use as well, so no name leaves the files now


def of_spec(nodeset: Object) -> tuple[int, ...]:
    """Return the ordinals that a set may have: as many as `replicas`, the lowest that are not left out."""
    replicas = dig(nodeset, "spec", "replicas")
    count = 1 if replicas is None else int(replicas)
    out = reserved(nodeset)
    found: list[int] = []
    ordinal = 0
    while len(found) < count:
        if ordinal not in out:
            found.append(ordinal)
        ordinal += 1
    return tuple(found)


def wanted(nodeset: Object, power: Object | None) -> frozenset[int]:
    """Return the ordinals that should run; of an ephemeral set those that Slurm has powered up."""
    every = of_spec(nodeset)
    if not dig(nodeset, "spec", "ephemeralNodes"):
        return frozenset(every)
    active = dig(power, "spec", "activeNodes") or ()
    return frozenset(every) & frozenset(active)


def reserved(nodeset: Object) -> frozenset[int]:
    """Return the ordinals that an annotation leaves out; words that are no ordinals leave out nothing."""
    text = dig(nodeset, "metadata", "annotations", RESERVED)
    found: set[int] = set()
    for word in str(text or "").replace(" ", "").split(","):
        each = _RANGE.fullmatch(word)
        if each:
            first, last = int(each[1]), int(each[2] or each[1])
            found.update(range(first, min(last, first + _MOST) + 1))
    return frozenset(found)


def of_pod(pod: Object, nodeset: str) -> int | None:
    """Return a pod's ordinal, or None where its name is none of the set's."""
    owner = node_names.owner(name_of(pod), (nodeset,))
    return owner[1] if owner else None


def listed(world: World, nodeset: Object) -> Listed:
    """Return the ordinals whose nodes have to stay in Slurm's files.

    A name leaves them only when its pod is gone, and no job holds the node or asks for it by name: slurmctld
    ends such jobs when it reads files without it.
    """
    name, jobs = name_of(nodeset), world.slurm.jobs
    used = {of_pod(pod, name) for pod in world.pods(name)}
    used |= set(_of_jobs(jobs.value, name)) if isinstance(jobs, Found) else set()
    certain = "Pod" not in world.unread and isinstance(jobs, Found) and not jobs.value.problems
    ordinals = {*of_spec(nodeset), *(each for each in used if each is not None)}
    return Listed(tuple(sorted(ordinals)), certain)


def sizes(world: World) -> dict[str, int]:
    """Return for each NodeSet how many nodes Slurm's files have to name: from 0 to the highest in use."""
    highest = {name_of(each): listed(world, each).ordinals for each in world.nodesets}
    return {name: max(ordinals) + 1 if ordinals else 0 for name, ordinals in highest.items()}


def _of_jobs(jobs: Rows[SlurmJobReply], nodeset: str) -> Iterator[int]:
    """Yield the ordinals that a job holds, waits for or asks for by name."""
    for job in jobs:
        if job.state.terminal and not job.state.holds_nodes:
            continue
        for node in (*job.wants, *(job.nodes if job.state.holds_nodes else ())):
            owner = node_names.owner(node, (nodeset,))
            if owner:
                yield owner[1]
