"""The DaemonSet of a NodeConfigurator: one container on each node that it is meant for."""

from __future__ import annotations

from typing import Any

from npa.crds.nodeconfigurator import NodeConfigurator, NodeContainer, Rebooter
from npa.render.objects import DAEMON_SET, NODE_CONFIGURATOR

_NODE_NAME = {"valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}


def chosen(found: NodeConfigurator) -> NodeContainer | None:
    """Return the one container that runs: the rebooter where it is enabled, else the user's own."""
    spec = found.spec
    if spec.rebooter.enabled:
        return spec.rebooter
    own = spec.custom_container
    return own if own is not None and own.enabled else None


def render(found: NodeConfigurator, container: NodeContainer) -> dict[str, Any]:
    """Return the DaemonSet of a container whose image is named."""
    labels = {
        "app.kubernetes.io/name": "slurmcluster",
        "app.kubernetes.io/component": "node-configurator",
        "slurm.nebius.ai/node-configurator": found.name,
    }
    spec = {
        "selector": {"matchLabels": labels},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "20%"}},
        "template": {"metadata": {"labels": labels}, "spec": _pod(found, container)},
    }
    rendered = DAEMON_SET.object(f"{found.name}-ds", found.namespace, spec=spec)
    rendered["metadata"] |= {
        "labels": labels,
        "ownerReferences": [
            {
                "apiVersion": f"{NODE_CONFIGURATOR.group}/{NODE_CONFIGURATOR.version}",
                "kind": NODE_CONFIGURATOR.kind,
                "name": found.name,
                "uid": found.metadata.uid,
                "controller": True,
            }
        ],
    }
    return rendered


def _pod(found: NodeConfigurator, container: NodeContainer) -> dict[str, Any]:
    spec = found.spec
    rebooter = isinstance(container, Rebooter)
    optional = {
        "hostNetwork": spec.host_network,
        "hostIPC": spec.host_ipc,
        "hostPID": rebooter,
        "shareProcessNamespace": spec.share_process_namespace and not rebooter,
        "initContainers": list(spec.init_containers),
        "nodeSelector": dict(container.node_selector),
        "affinity": container.affinity,
        "tolerations": list(container.tolerations),
        "priorityClassName": container.priority_class_name,
        "serviceAccountName": container.service_account_name,
    }
    pod = {key: value for key, value in optional.items() if value}
    if container.host_users is not None:
        pod["hostUsers"] = container.host_users
    return {**pod, "containers": [_container(container)]}


def _container(container: NodeContainer) -> dict[str, Any]:
    assert container.image is not None
    rendered: dict[str, Any] = {
        "name": container.name or ("rebooter" if isinstance(container, Rebooter) else "custom"),
        "image": container.image.reference,
        "imagePullPolicy": container.image.pull_policy,
        "env": list(container.env),
    }
    if isinstance(container, Rebooter):
        rendered["env"] += [
            {"name": "REBOOTER_NODE_NAME", **_NODE_NAME},
            {"name": "REBOOTER_EVICTION_METHOD", "value": container.eviction_method},
        ]
        rendered["securityContext"] = {"privileged": True}
    optional = {
        "command": list(container.command),
        "resources": container.resources,
        "livenessProbe": container.liveness_probe,
        "readinessProbe": container.readiness_probe,
    }
    rendered.update({key: value for key, value in optional.items() if value})
    return rendered
