"""Objects that users would write."""

from __future__ import annotations

from typing import Any

from npa.render.objects import NODE_SET, SLURM_CLUSTER


def cluster(name: str, namespace: str, said: str = "") -> dict[str, Any]:
    """A SlurmCluster that is one as far as the API server can tell."""
    part = {"k8sNodeFilterName": "all"}
    image = {"image": "i"}
    mount = {"volumeSourceName": "v"}
    return SLURM_CLUSTER.object(
        name,
        namespace,
        spec={
            "customSlurmConfig": said,
            "k8sNodeFilters": [{"name": "all"}],
            "volumeSources": [{"name": "v", "emptyDir": {}}],
            "populateJail": {**image, **part},
            "secrets": {},
            "sConfigController": {"node": part, "container": image, "serviceAccountName": "default"},
            "slurmNodes": {
                "accounting": {**part, "slurmdbd": image, "munge": image},
                "controller": {
                    **part,
                    "slurmctld": image,
                    "munge": image,
                    "serviceAccountName": "default",
                    "volumes": {"spool": mount, "jail": mount},
                },
                "login": {
                    **part,
                    "sshd": image,
                    "munge": image,
                    "sshdServiceType": "ClusterIP",
                    "sshRootPublicKeys": ["ssh-ed25519 AAAA"],
                    "volumes": {"jail": mount},
                },
                "exporter": {**part, "serviceAccountName": "default"},
                "rest": part,
            },
        },
    )


def nodeset(name: str, cluster_name: str, namespace: str, **spec: Any) -> dict[str, Any]:
    """A NodeSet of two workers."""
    return NODE_SET.object(
        name,
        namespace,
        spec={
            "clusterName": cluster_name,
            "replicas": 2,
            "slurmd": {
                "image": {"repository": "i"},
                "resources": {"cpu": "1", "memory": "1Gi"},
                "volumes": {"spool": {"emptyDir": {}}, "jail": {"emptyDir": {}}},
            },
            "munge": {"image": {"repository": "i"}, "resources": {}},
            **spec,
        },
    )
