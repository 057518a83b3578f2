"""All that a local cluster should be: the Cluster, its nodes and its files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from npa.cluster.model import Cluster
from npa.render.local import files, nodes
from npa.render.local.files import File
from npa.render.local.layout import Layout
from npa.render.local.model import Node
from npa.slurm.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Desired:
    """What should be there."""

    cluster: Cluster
    layout: Layout
    image: str  # digest
    addresses: Mapping[str, str]
    files: tuple[File, ...]
    nodes: tuple[Node, ...]

    def fingerprint(self, node: Node) -> str:
        """Return what tells this node from one that is put together otherwise."""
        return hashlib.sha256(f"{self.image} {node!r}".encode()).hexdigest()[:12]


def render(
    cluster: Cluster, layout: Layout, runtime: Runtime, image: str, addresses: Mapping[str, str]
) -> Desired:
    """Return what the cluster is on this machine."""
    return Desired(
        cluster=cluster,
        layout=layout,
        image=image,
        addresses=dict(addresses),
        files=files.render(cluster, layout, runtime, addresses),
        nodes=nodes.render(cluster, layout, addresses, cgroups=runtime.cgroup != "none"),
    )
