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
        return _digest(f"{self.image} {node!r}")

    def reads(self, daemon: str) -> str:
        """Return what tells the files that slurmctld or slurmdbd reads when it starts from others."""
        return _digest(repr([file for file in self.files if self.is_read(file.path, daemon)]))

    def is_read(self, path: str, daemon: str) -> bool:
        """Say whether slurmctld or slurmdbd reads this file."""
        if not path.startswith(f"{self.layout.daemons_etc}/"):
            return False
        return path.endswith("/slurmdbd.conf") == (daemon == "slurmdbd")


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


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
