"""What was read before a decision: one cluster with everything that belongs to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from npa.render.objects import Object, dig
from npa.slurm.lookup import Lookup, Unknown
from npa.slurm.replies import Rows, SlurmJobReply, SlurmNodeReply

_UNASKED = Unknown("slurmctld was not asked")
Key = tuple[str, str]  # kind, name


@dataclass(frozen=True, slots=True)
class SlurmView:
    """What slurmctld said at `read_at`; Unknown where it was not read, Absent while it has no pod."""

    nodes: Lookup[Rows[SlurmNodeReply]] = _UNASKED
    jobs: Lookup[Rows[SlurmJobReply]] = _UNASKED
    digest: Lookup[str] = _UNASKED  # of the configuration that slurmctld runs with
    read_at: float = 0.0  # seconds since the epoch


@dataclass(frozen=True, slots=True)
class World:
    """A SlurmCluster's namespace, as far as it is the cluster's.

    `objects` holds, by kind and name, every object labelled as the cluster's, and those that its resources
    name (Secrets, ConfigMaps). It comes from one cache per kind, so it may be behind what we wrote ourselves.
    """

    cluster: Object | None  # the SlurmCluster; None: there is none (any more)
    nodesets: tuple[Object, ...] = ()  # of this cluster, by name
    objects: Mapping[Key, Object] = field(default_factory=dict)
    nodes: Mapping[str, Object] = field(default_factory=dict)  # Kubernetes nodes by name
    unread: tuple[str, ...] = ()  # kinds whose cache could not be read: what they hold is unknown
    absent_apis: frozenset[str] = (
        frozenset()
    )  # optional CRDs that this Kubernetes lacks, `podmonitors.monitoring…`
    slurm: SlurmView = field(default_factory=SlurmView)
    now: float = 0.0  # seconds since the epoch
    # what was looked for in `objects`, so that many workers are gone through once and not for each question
    _kinds: dict[str, tuple[Object, ...]] = field(default_factory=dict, init=False, compare=False, repr=False)
    _sets: dict[str, tuple[Object, ...]] = field(default_factory=dict, init=False, compare=False, repr=False)

    def find(self, kind: str, name: str) -> Object | None:
        """Return an object of the cluster by kind and name."""
        return self.objects.get((kind, name))

    def of_kind(self, kind: str) -> tuple[Object, ...]:
        """Return the objects of a kind, by name."""
        if not self._kinds:
            found: dict[str, list[Object]] = {}
            for (each, _), held in sorted(self.objects.items(), key=lambda item: item[0]):
                found.setdefault(each, []).append(held)
            self._kinds.update({each: tuple(held) for each, held in found.items()})
        return self._kinds.get(kind, ())

    def pods(self, nodeset: str) -> tuple[Object, ...]:
        """Return the worker pods of a NodeSet, by name."""
        if not self._sets:
            found: dict[str, list[Object]] = {}
            for pod in self.of_kind("Pod"):
                label = dig(pod, "metadata", "labels", "slurm.nebius.ai/nodeset")
                found.setdefault(str(label or ""), []).append(pod)
            self._sets.update({each: tuple(pods) for each, pods in found.items()})
        return self._sets.get(nodeset, ()) if nodeset else ()
