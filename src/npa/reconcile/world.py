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

    def find(self, kind: str, name: str) -> Object | None:
        """Return an object of the cluster by kind and name."""
        return self.objects.get((kind, name))

    def pods(self, nodeset: str) -> tuple[Object, ...]:
        """Return the worker pods of a NodeSet, by name."""
        label = "slurm.nebius.ai/nodeset"
        return tuple(
            found
            for (kind, _), found in sorted(self.objects.items())
            if kind == "Pod" and dig(found, "metadata", "labels", label) == nodeset
        )
