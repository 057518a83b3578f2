"""What every component of a cluster is rendered from: the resource, and how the operator was started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from npa.crds.slurmcluster import NodeFilter, SlurmCluster, SlurmClusterSpec
from npa.render.kube import names
from npa.render.kube.names import Component
from npa.render.objects import SLURM_CLUSTER, Kind

# beside slurmdbd, mariadb-operator's, or somebody else's
Database = Literal["embedded", "operated", "external"]


@dataclass(frozen=True, slots=True)
class Context:
    """A cluster that objects are rendered for."""

    cluster: SlurmCluster
    image_override: str = ""  # of every Slurm daemon, whatever the resource names
    jail_image_override: str = ""
    operator_image: str = ""  # which the exporter is a process of; empty: nobody said
    domain: str = "cluster.local"
    slurm_version: str = "26.05"
    chosen: Database | None = None  # where accounting is kept; None: as the resource alone says
    cgroup: str = ""  # version on the nodes; empty: as the resource says

    @property
    def spec(self) -> SlurmClusterSpec:
        """What is asked of the cluster."""
        return self.cluster.spec

    @property
    def name(self) -> str:
        """The cluster's name."""
        return self.cluster.name

    @property
    def namespace(self) -> str:
        """The cluster's namespace."""
        return self.cluster.namespace

    @property
    def database(self) -> Database:
        """Where accounting is kept."""
        if self.chosen is not None:
            return self.chosen
        return "external" if self.spec.slurm_nodes.accounting.external_db.enabled else "embedded"

    def image(self, *written: str) -> str:
        """Return the image of a daemon: the first that is named, unless all are replaced."""
        return self.image_override or next((each for each in written if each), "")

    def host(self, service: str) -> str:
        """Return the full host name of a Service."""
        return names.fqdn(service, self.namespace, self.domain)

    @property
    def controller(self) -> str:
        """Where daemons find slurmctld."""
        pod = names.controller_pod(self.name)
        return f"{pod}.{self.host(names.service(self.name, 'controller'))}"

    @property
    def accounting(self) -> str:
        """Where slurmctld finds slurmdbd."""
        pod = f"{names.workload(self.name, 'accounting')}-0"
        return f"{pod}.{self.host(names.service(self.name, 'accounting'))}"

    def filter(self, name: str) -> NodeFilter | None:
        """Return a named place where components run."""
        return next((each for each in self.spec.k8s_node_filters if each.name == name), None)

    def owner(self) -> dict[str, Any]:
        """Return the reference by which an object goes when the cluster goes."""
        version = f"{SLURM_CLUSTER.group}/{SLURM_CLUSTER.version}"
        return {
            "apiVersion": version,
            "kind": SLURM_CLUSTER.kind,
            "name": self.name,
            "uid": self.cluster.metadata.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }

    def object(
        self,
        kind: Kind,
        name: str,
        component: Component,
        *,
        annotations: Mapping[str, str] | None = None,
        owned: bool = True,
        **rest: Any,
    ) -> dict[str, Any]:
        """Return an object of the cluster; one that is not owned stays when the cluster goes."""
        found = kind.object(name, self.namespace, **rest)
        found["metadata"]["labels"] = names.labels(self.name, component)
        if annotations:
            found["metadata"]["annotations"] = dict(annotations)
        if owned:
            found["metadata"]["ownerReferences"] = [self.owner()]
        return found
