"""What a spec asks for on Kubernetes: a SlurmCluster, its NodeSets, and the claim of the jail; pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from npa.cluster import codec
from npa.cluster.model import Cluster, Partition, Pool
from npa.render.objects import CLAIM, NODE_SET, SLURM_CLUSTER, Object, dig
from npa.slurm import quantity

SAID = "npa.soperator/cluster"  # annotation of the SlurmCluster: the Cluster that was last asked for
PLACE = "npa.soperator/place"  # likewise: where and on what it was put
JAIL, SPOOL, FILTER = "jail", "spool", "any"
_SPOOL_SIZE = "30Gi"

Service = Literal["LoadBalancer", "NodePort", "ClusterIP"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a Kubernetes cluster a Slurm cluster is, and what its volumes are."""

    namespace: str
    slurm_image: str
    jail_image: str
    pull_policy: Literal["IfNotPresent", "Always", "Never"] = "IfNotPresent"
    storage_class: str = ""  # of the claims; empty: the default one
    jail_size: str = "100Gi"
    jail_path: str = ""  # a folder of the nodes instead of a claim: for one node, or a mount on all of them
    service: Service = "LoadBalancer"  # how the login nodes are reached
    cgroup: Literal["v1", "v2"] = "v2"  # of the nodes
    # what a worker's pod gets where machines are smaller than the spec's; Slurm counts with the spec
    worker_cpu: str = ""
    worker_memory: str = ""

    @property
    def smaller(self) -> bool:
        """Whether workers have less than the spec says."""
        return bool(self.worker_cpu or self.worker_memory)


def render(cluster: Cluster, place: Place) -> tuple[dict[str, Any], ...]:
    """Return the objects in the order in which they are applied."""
    claims = () if place.jail_path else (_claim(cluster, place),)
    return (*claims, _cluster(cluster, place), *(_nodeset(cluster, pool, place) for pool in cluster.pools))


def said(found: Object | None) -> Cluster | None:
    """Return what a SlurmCluster that is there was last asked to be; None where nobody knows."""
    text = dig(found, "metadata", "annotations", SAID)
    try:
        return codec.decode(json.loads(text)) if isinstance(text, str) else None
    except (ValueError, KeyError, TypeError):
        return None


def placed(found: Object | None) -> Place | None:
    """Return where a SlurmCluster that is there was put by npa; None where somebody else did."""
    text = dig(found, "metadata", "annotations", PLACE)
    try:
        return Place(**json.loads(text)) if isinstance(text, str) else None
    except (ValueError, TypeError):
        return None


def claim_name(cluster: str) -> str:
    """Name of the claim of the jail."""
    return f"{cluster}-jail"


def _claim(cluster: Cluster, place: Place) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": place.jail_size}},
    }
    if place.storage_class:
        spec["storageClassName"] = place.storage_class
    return CLAIM.object(claim_name(cluster.name), place.namespace, spec=spec)


def _volume(cluster: Cluster, place: Place) -> dict[str, Any]:
    if place.jail_path:
        return {"hostPath": {"path": place.jail_path, "type": "DirectoryOrCreate"}}
    return {"persistentVolumeClaim": {"claimName": claim_name(cluster.name)}}


def _state(place: Place) -> dict[str, Any]:
    """Return slurmctld's volume: beside the jail where that is a folder."""
    if place.jail_path:
        return {"volumeSourceName": SPOOL}
    spec: dict[str, Any] = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": _SPOOL_SIZE}},
    }
    if place.storage_class:
        spec["storageClassName"] = place.storage_class
    return {"volumeClaimTemplateSpec": spec}


def _cluster(cluster: Cluster, place: Place) -> dict[str, Any]:
    made = SLURM_CLUSTER.object(cluster.name, place.namespace, spec=_spec(cluster, place))
    made["metadata"]["annotations"] = {
        SAID: json.dumps(codec.encode(cluster), sort_keys=True),
        PLACE: json.dumps(asdict(place), sort_keys=True),
    }
    return made


def _spec(cluster: Cluster, place: Place) -> dict[str, Any]:
    daemon = {"image": place.slurm_image, "imagePullPolicy": place.pull_policy}
    sources = [{"name": JAIL, **_volume(cluster, place)}]
    if place.jail_path:
        folder = f"{place.jail_path.rstrip('/')}.{cluster.name}-state"
        sources.append({"name": SPOOL, "hostPath": {"path": folder, "type": "DirectoryOrCreate"}})
    jail = {"volumeSourceName": JAIL}
    custom = "".join(f"{key}={value}\n" for key, value in cluster.slurm_settings)
    return {
        "cgroupVersion": place.cgroup,
        "k8sNodeFilters": [{"name": FILTER}],
        "volumeSources": sources,
        "secrets": {},
        "populateJail": {
            "image": place.jail_image,
            "imagePullPolicy": place.pull_policy,
            "k8sNodeFilterName": FILTER,
        },
        **({"customSlurmConfig": custom} if custom else {}),
        "partitionConfiguration": {
            "configType": "structured",
            "partitions": [_partition(each) for each in cluster.partitions],
        },
        "slurmNodes": {
            "accounting": _accounting(cluster, place, daemon),
            "controller": {
                "k8sNodeFilterName": FILTER,
                "slurmctld": daemon,
                "volumes": {"spool": _state(place), "jail": jail},
            },
            "login": {
                "size": len(cluster.logins),
                "k8sNodeFilterName": FILTER,
                "sshd": daemon,
                "sshRootPublicKeys": list(cluster.root_keys),
                "sshdServiceType": place.service,
                "volumes": {"jail": jail},
            },
            "exporter": {"k8sNodeFilterName": FILTER},
            "rest": {"enabled": cluster.rest, "size": 1, "k8sNodeFilterName": FILTER, "rest": daemon},
        },
    }


def _accounting(cluster: Cluster, place: Place, daemon: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"enabled": cluster.accounting, "k8sNodeFilterName": FILTER, "slurmdbd": daemon}
    if place.storage_class:  # of the database's claim, which is the operator's own
        storage = {"storageClassName": place.storage_class}
        made["mariadbOperator"] = {**daemon, "enabled": False, "storage": storage}
    return made


def _partition(partition: Partition) -> dict[str, Any]:
    nodes = {"nodeSetRefs": list(partition.pools)} if partition.pools else {"isAll": True}
    return {"name": partition.name, **nodes, "config": " ".join(_policy(partition))}


def _policy(partition: Partition) -> Iterator[str]:
    minutes = partition.max_time_minutes
    if partition.default:
        yield "Default=YES"
    if partition.hidden:
        yield "Hidden=YES"
    yield f"MaxTime={'INFINITE' if minutes is None else quantity.format_time(minutes * 60)}"
    yield f"PriorityTier={partition.priority_tier}"
    yield f"OverSubscribe={'YES' if partition.oversubscribe else 'NO'}"
    yield "State=UP"


def _nodeset(cluster: Cluster, pool: Pool, place: Place) -> dict[str, Any]:
    machine = pool.machine
    resources: dict[str, Any] = {
        "cpu": place.worker_cpu or str(machine.cpus),
        "memory": place.worker_memory or f"{machine.memory_mib}Mi",
    }
    gpu: dict[str, Any] = {}
    config: dict[str, Any] = {}
    if place.smaller:
        config["static"] = f"CPUs={machine.cpus} RealMemory={machine.memory_mib}"
    if machine.gpus:
        resources["nvidia.com/gpu"] = str(machine.gpus)
        gpu = {"gpu": {"enabled": True}}
        devices = f"/dev/nvidia[0-{machine.gpus - 1}]" if machine.gpus > 1 else "/dev/nvidia0"
        config["gresConfig"] = [f"Name=gpu Type={machine.gpu_type} File={devices}"]
    if pool.features:
        config["features"] = list(pool.features)
    repository, _, tag = place.slurm_image.rpartition(":")
    return NODE_SET.object(
        pool.name,
        place.namespace,
        spec={
            "clusterName": cluster.name,
            "replicas": pool.size,
            "ephemeralNodes": pool.ephemeral,
            **({"initialNumberEphemeralNodes": 0} if pool.ephemeral else {}),
            "updateStrategy": "slurmAwareRollingUpdate",
            **gpu,
            **({"nodeConfig": config} if config else {}),
            **({"topology": {"fabric": pool.fabric}} if pool.fabric else {}),
            "slurmd": {
                "image": {"repository": repository, "tag": tag, "pullPolicy": place.pull_policy},
                "resources": resources,
                "volumes": {"spool": {"emptyDir": {}}, "jail": _volume(cluster, place)},
            },
        },
    )
