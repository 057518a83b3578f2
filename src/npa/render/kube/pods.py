"""The pods of the control plane: what their containers and templates have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from npa.crds.parts import Container, Pulled, SlurmNode
from npa.errors import Problem
from npa.render.kube import contract, names, volumes
from npa.render.kube.context import Context
from npa.render.kube.names import Component
from npa.render.kube.volumes import Volumes
from npa.render.objects import CONFIG_MAP, STATEFUL_SET

INPUT = f"{names.PREFIX}input-hash"  # annotation of pods: digest of what they read once, when they start
_PORTS = {"login": names.SSH_PORT, "accounting": names.ACCOUNTING_PORT, "rest": names.REST_PORT}
_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"


def container(
    context: Context,
    name: str,
    role: str,
    asked: Container,
    mounts: Iterable[Mapping[str, Any]],
    *,
    env: Mapping[str, str] | None = None,
    ports: Mapping[str, int] | None = None,
    security: Mapping[str, Any] | None = None,
    image: str = "",
) -> dict[str, Any]:
    """Return a container that plays a role of the image."""
    said = [{"name": key, "value": value} for key, value in (env or {}).items()]
    found: dict[str, Any] = {
        "name": name,
        "image": context.image(image, asked.image),
        "imagePullPolicy": asked.image_pull_policy,
        "command": list(asked.command) or [contract.ROLE, role],
        "env": [*said, *asked.custom_env],
        "ports": [
            {"name": key, "containerPort": port, "protocol": "TCP"} for key, port in (ports or {}).items()
        ],
        "resources": resources(asked),
        "securityContext": {**confinement(asked), **(security or {})},
        "volumeMounts": list(mounts),
        "readinessProbe": asked.readiness_probe or ready(role, asked.port),
        # what a container said last is what its pod's status says of its end
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    found["args"] = list(asked.args)
    found["livenessProbe"] = asked.liveness_probe
    return {key: value for key, value in found.items() if value or key == "resources"}


def ready(role: str, port: int | None = None) -> dict[str, Any]:
    """Return the probe that asks whether a role's daemon answers; the image knows the usual ports alone."""
    often = {"periodSeconds": 5, "timeoutSeconds": 6, "failureThreshold": 3}
    if role in _PORTS and port not in (None, _PORTS[role]):
        return {"tcpSocket": {"port": port}, **often}
    return {"exec": {"command": [contract.READY, role]}, **often}


def resources(asked: Container) -> dict[str, Any]:
    """Return what a container asks for, and is held to: all but CPU, which it may have while it is idle."""
    limits = {key: value for key, value in asked.resources.items() if key != "cpu"}
    found = {"requests": dict(asked.resources), "limits": limits}
    return {key: value for key, value in found.items() if value}


def confinement(asked: Container | Pulled) -> dict[str, Any]:
    """Return a container's AppArmor profile and how /proc is mounted in it."""
    profile, found = asked.app_armor_profile, dict[str, Any]()
    if profile == "unconfined":
        found["appArmorProfile"] = {"type": "Unconfined"}
    elif profile == "runtime/default":
        found["appArmorProfile"] = {"type": "RuntimeDefault"}
    elif profile.startswith("localhost/"):
        name = profile.removeprefix("localhost/")
        found["appArmorProfile"] = {"type": "Localhost", "localhostProfile": name}
    if isinstance(asked, Container) and asked.proc_mount == "Unmasked":
        found["procMount"] = "Unmasked"
    return found


def template(
    context: Context,
    component: Component,
    where: SlurmNode,
    containers: Sequence[Mapping[str, Any]],
    mounted: Volumes,
    *,
    pulled: Iterable[Pulled] = (),
    annotations: Mapping[str, str] | None = None,
    grace: int = 30,
    account: str = "",
    at: str,
    problems: list[Problem],
) -> dict[str, Any]:
    """Return the template of a component's pods."""
    spec: dict[str, Any] = {
        "restartPolicy": "Always",
        "enableServiceLinks": False,
        "serviceAccountName": account,
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": grace,
        "initContainers": list(where.custom_init_containers),
        "containers": list(containers),
        "volumes": volumes.unique(mounted.volumes),
        **placed(context, where, at, problems),
        "imagePullSecrets": pull_secrets(pulled),
    }
    notes = {_DEFAULT_CONTAINER: str(containers[0]["name"]), **(annotations or {})}
    metadata = {"labels": names.labels(context.name, component), "annotations": notes}
    return {
        "metadata": metadata,
        "spec": {key: value for key, value in spec.items() if value not in (None, [], {}, "")},
    }


def pull_secrets(pulled: Iterable[Pulled]) -> list[dict[str, Any]]:
    """Return the Secrets by which a pod's images are pulled, once each."""
    listed = (dict(each) for one in pulled for each in one.image_pull_secrets)
    return list({str(each.get("name")): each for each in listed}.values())


def placed(context: Context, where: SlurmNode, at: str, problems: list[Problem]) -> dict[str, Any]:
    """Return where a component's pods run."""
    found: dict[str, Any] = {"priorityClassName": where.priority_class, "hostUsers": where.host_users}
    return {**found, **filtered(context, where.k8s_node_filter_name, at, problems)}


def filtered(context: Context, name: str, at: str, problems: list[Problem]) -> dict[str, Any]:
    """Return what a named filter says of where pods run."""
    chosen = context.filter(name) if name else None
    if name and chosen is None:
        text = f"there is no filter {name!r}"
        problems.append(Problem(0, 0, f"{at}.k8sNodeFilterName", text, "add it to spec.k8sNodeFilters"))
    if chosen is None:
        return {}
    return {
        "affinity": dict(chosen.affinity or {}),
        "nodeSelector": dict(chosen.node_selector),
        "tolerations": list(chosen.tolerations),
    }


def stateful_set(
    context: Context,
    component: Component,
    pods: Mapping[str, Any],
    *,
    replicas: int,
    service: str,
    mounted: Volumes,
) -> dict[str, Any]:
    """Return a component's StatefulSet."""
    spec: dict[str, Any] = {
        "replicas": replicas,
        "serviceName": service,
        # a pod that never got ready would otherwise keep its own repair waiting
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": names.selector(context.name, component)},
        "template": pods,
        "updateStrategy": {"type": "RollingUpdate"},
    }
    if mounted.templates:
        spec["volumeClaimTemplates"] = list(mounted.templates)
    return context.object(STATEFUL_SET, names.workload(context.name, component), component, spec=spec)


def limits(context: Context, component: Component, text: str) -> tuple[dict[str, Any], ...]:
    """Return the ConfigMap with a component's resource limits, where it has any."""
    if not text.strip():
        return ()
    name = volumes.limits_name(context, component)
    return (context.object(CONFIG_MAP, name, component, data={"limits.conf": text}),)
