"""What the operator was started with: the same for every cluster, and no part of any resource."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """How decisions are made, whatever the cluster; set by flags, environment and chart values."""

    # whoever runs several clusters' worth of old manifests names our images here, once for all
    image_override: str = ""  # of every Slurm daemon, whatever the resource names
    jail_image_override: str = ""  # of the Job that fills the jail
    operator_image: str = ""  # the operator's own; the exporter's, where a cluster names none
    cluster_domain: str = "cluster.local"
    cgroup_version: str = "v2"  # of the nodes: `v1`, `v2` or `none`
    slurm_version: str = "26.05"  # of the images
    namespaces: tuple[str, ...] = ()  # watched; empty: all of them
    topology_prefix: str = "topology.nebius.com"  # of the node labels that say where a node is
    slurm_fresh: float = 60.0  # seconds: an older answer of slurmctld proves nothing any more
    poll: float = 10.0  # seconds between two looks at something that is waited for
    drain_poll: float = 5.0  # seconds between two looks at nodes that are being drained
    orphan_grace: float = 120.0  # seconds for which a young pod may be ahead of Slurm, or behind it
    retry_first: float = 10.0  # seconds before what failed inside the cluster is tried again …
    retry_most: float = 600.0  # … doubled each time up to this

    def image(self, written: str) -> str:
        """Return the image of Slurm's daemons that is used for the one that a resource names."""
        return self.image_override or written

    def jail_image(self, written: str) -> str:
        """Return the image that fills the jail for the one that a resource names."""
        return self.jail_image_override or written
