"""Which workers a NodeSet asks for, by ordinal."""

from __future__ import annotations

import re
from collections.abc import Iterable

from npa.cluster import names as node_names
from npa.render.kube import names
from npa.render.objects import Object, dig, name_of

# on a NodeSet: ordinals that are left out, `1,4-5`; as many workers with other ordinals are there instead
RESERVED = f"{names.PREFIX}reserve-ordinals"
_RANGE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")
_MOST = 65536  # ordinals that one annotation can leave out


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


def wanted(nodeset: Object, power: Object | None, pods: Iterable[Object]) -> frozenset[int]:
    """Return the ordinals that should run; of an ephemeral set those that Slurm has powered up.

    Until its power state is there, whoever runs goes on.
    """
    every = of_spec(nodeset)
    if not dig(nodeset, "spec", "ephemeralNodes"):
        return frozenset(every)
    there = (of_pod(pod, name_of(nodeset)) for pod in pods)
    active = there if power is None else dig(power, "spec", "activeNodes") or ()
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
