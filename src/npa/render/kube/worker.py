"""The Pod of one worker: what its NodeSet says, with the name of one ordinal.

The template is the same for all workers of a set; its digest tells pods that were made from another one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from npa.crds.nodeset import NodeSet, Slurmd
from npa.render.kube import contract, names, worker_volumes
from npa.render.objects import POD

_NEVER_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
SLURMD = "slurmd"
_READINESS = {
    "exec": {"command": [contract.READY, "worker"]},
    "periodSeconds": 5,
    "timeoutSeconds": 6,
    "failureThreshold": 3,
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker is: what of its cluster its pod depends on."""

    cluster: str
    cluster_uid: str
    namespace: str
    domain: str = "cluster.local"
    image: str = ""  # instead of what the NodeSet names


def template(nodeset: NodeSet, place: Place) -> dict[str, Any]:
    """Return the part of the pods that is the same for all workers of a set, and its digest."""
    spec = nodeset.spec
    rendered: dict[str, Any] = {
        "restartPolicy": "Always",
        "subdomain": names.umbrella(place.cluster),
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 30,
        "dnsConfig": {"searches": _searches(place)},
        "containers": [_slurmd(nodeset, place)],
        "volumes": worker_volumes.shared(spec, place.cluster, nodeset.name),
    }
    optional = {
        "priorityClassName": spec.priority_class,
        "nodeSelector": dict(spec.node_selector),
        "affinity": spec.affinity,
        "tolerations": list(spec.tolerations),
        "imagePullSecrets": list(spec.image_pull_secrets),
        "initContainers": list(spec.custom_init_containers),
        # false is the default and cannot be told from a wish, and pods in a user namespace of their own
        # need volumes that can be mapped to it, which a jail on NFS or virtiofs cannot
        "hostUsers": True if spec.enable_host_user_namespace else None,
    }
    rendered.update({key: value for key, value in optional.items() if value})
    annotations = {_DEFAULT_CONTAINER: SLURMD, _NEVER_EVICT: "false", **spec.worker_annotations}
    made = {"annotations": annotations, "spec": rendered}
    return {**made, "digest": digest(made)}


def digest(value: object) -> str:
    """Return a short digest of a value that JSON can hold."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=dict)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def pod(nodeset: NodeSet, place: Place, made: Mapping[str, Any], ordinal: int) -> dict[str, Any]:
    """Return the Pod of one ordinal from its set's template."""
    name = name_of(nodeset.name, ordinal)
    containers = made["spec"]["containers"]
    spec = {
        **made["spec"],
        "hostname": name,
        "containers": _booted(containers) if nodeset.spec.ephemeral_nodes else containers,
        "volumes": [*made["spec"]["volumes"], *worker_volumes.claimed(nodeset.spec, name)],
    }
    rendered = POD.object(name, place.namespace, spec=spec)
    rendered["metadata"] |= {
        "labels": {
            **labels(place.cluster, nodeset.name),
            names.WORKER: "true",
            names.ORDINAL: str(ordinal),
        },
        "annotations": {**made["annotations"], names.TEMPLATE: made["digest"]},
        "ownerReferences": [owner(place)],
    }
    return rendered


def _booted(containers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the containers of a worker that Slurm powers up: its boot is that of its slurmd (slurmd(8), -b).

    No part of the template, so that a set that becomes ephemeral keeps its pods.
    """
    slurmd, *others = containers
    flag = {"name": contract.SLURMD_FLAGS, "value": "-b"}
    return [{**slurmd, "env": [*slurmd["env"], flag]}, *others]


def name_of(nodeset: str, ordinal: int) -> str:
    """Return what a worker is called: pod, host and Slurm node alike."""
    return f"{nodeset}-{ordinal}"


def labels(cluster: str, nodeset: str) -> dict[str, str]:
    """Return the labels of what belongs to the workers of one set."""
    return names.labels(cluster, "worker", **{names.NODE_SET: nodeset})


def selector(cluster: str, nodeset: str) -> dict[str, str]:
    """Return the labels that select the pods of one set."""
    return {**names.selector(cluster, "worker"), names.NODE_SET: nodeset}


def owner(place: Place) -> dict[str, Any]:
    """Return the owner of a worker: the cluster.

    Not its NodeSet, with which the garbage collector would take it away from under its jobs.
    """
    return {
        "apiVersion": "slurm.nebius.ai/v1",
        "kind": "SlurmCluster",
        "name": place.cluster,
        "uid": place.cluster_uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def conf_server(place: Place) -> str:
    """Return the host name of slurmctld, which has the files of every daemon."""
    service = names.service(place.cluster, "controller")
    return f"{names.controller_pod(place.cluster)}.{names.fqdn(service, place.namespace, place.domain)}"


def _searches(place: Place) -> list[str]:
    """Return the domains in which a bare node name is looked up: `ssh gpu-0` works."""
    services = (
        names.umbrella(place.cluster),
        names.service(place.cluster, "login", headless=True),
        names.service(place.cluster, "controller"),
    )
    return [names.fqdn(service, place.namespace, place.domain) for service in services]


def _slurmd(nodeset: NodeSet, place: Place) -> dict[str, Any]:
    slurmd = nodeset.spec.slurmd
    resources = dict(slurmd.resources)
    container: dict[str, Any] = {
        "name": SLURMD,
        "image": place.image or slurmd.image.reference,
        "imagePullPolicy": slurmd.image.pull_policy,
        "command": [contract.ROLE, "worker"],
        "env": [*_environment(nodeset, place), *slurmd.custom_env],
        "ports": [{"name": SLURMD, "containerPort": slurmd.port, "protocol": "TCP"}],
        "resources": {"requests": resources, "limits": resources},
        "securityContext": _security(slurmd),
        "volumeMounts": worker_volumes.mounts(nodeset.spec),
    }
    container["readinessProbe"] = slurmd.readiness_probe or _READINESS
    if slurmd.liveness_probe:
        container["livenessProbe"] = slurmd.liveness_probe
    return container


def _environment(nodeset: NodeSet, place: Place) -> list[dict[str, Any]]:
    spec = nodeset.spec
    said = {contract.CONF_SERVER: conf_server(place)}
    if spec.worker_init_random_delay_seconds:
        said[contract.START_DELAY] = str(spec.worker_init_random_delay_seconds)
    if spec.node_config.dynamic:
        said[contract.NODE_EXTRA] = spec.node_config.dynamic
    if spec.gpu.enabled:
        said["NODESET_GPU_ENABLED"] = "true"
    if spec.gpu.enabled and spec.gpu.nvidia.gdr_copy_enabled:
        said["NVIDIA_GDRCOPY"] = "enabled"
    fields = {contract.NODE_NAME: "metadata.name", contract.INSTANCE_ID: "spec.nodeName"}
    return [
        *({"name": key, "value": value} for key, value in said.items()),
        *({"name": key, "valueFrom": {"fieldRef": {"fieldPath": path}}} for key, path in fields.items()),
    ]


def _security(slurmd: Slurmd) -> dict[str, Any]:
    """Return what slurmd may do: it makes cgroups and mounts, and enters the jail with its jobs.

    Whatever `procMount` says: a privileged container's /proc is never masked.
    """
    security: dict[str, Any] = {"privileged": True}
    profile = slurmd.security.app_armor_profile
    if profile == "runtime/default":
        security["appArmorProfile"] = {"type": "RuntimeDefault"}
    elif profile.startswith("localhost/"):
        security["appArmorProfile"] = {
            "type": "Localhost",
            "localhostProfile": profile.removeprefix("localhost/"),
        }
    return security
