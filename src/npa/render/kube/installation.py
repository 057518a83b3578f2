"""What has to be in a Kubernetes cluster for the operator to run there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from npa.crds import definitions
from npa.render.kube import rbac
from npa.render.objects import DEPLOYMENT, GROUP, NAMESPACE, SERVICE, VALIDATING_WEBHOOK

NAME = "npa-operator"  # of everything that is installed
SECRET = f"{NAME}-webhook"  # the webhook's certificate, made by the operator
HEALTH_PORT, WEBHOOK_PORT = 8081, 9443
USER = 65532
LABELS = {"app.kubernetes.io/name": NAME, "app.kubernetes.io/managed-by": "npa"}
_SELECTOR = {"app.kubernetes.io/name": NAME}


@dataclass(frozen=True, slots=True)
class Installation:
    """How the operator is installed."""

    image: str
    namespace: str = "npa-system"
    watched: tuple[str, ...] = ()  # namespaces; empty: all
    replicas: int = 1  # one works, the others stand by
    pull_policy: str = "IfNotPresent"
    arguments: tuple[str, ...] = ()  # of `npa operator run`, besides what is set here


def render(asked: Installation, *, crds: bool = True) -> list[dict[str, Any]]:
    """Return all objects in the order in which they are applied."""
    made = [
        NAMESPACE.object(asked.namespace),
        *(_crds() if crds else ()),
        *rbac.render(NAME, asked.namespace, asked.watched, secret=SECRET, lease=NAME),
        _service(asked),
        _deployment(asked),
        webhook(asked.watched, {"service": _reached(asked)}),
    ]
    return [_labelled(each) for each in made]


def crds() -> list[dict[str, Any]]:
    """Return the definitions of our kinds."""
    return [_labelled(each) for each in _crds()]


def webhook(watched: tuple[str, ...], client: dict[str, Any]) -> dict[str, Any]:
    """Return what has the API server ask the operator; the authority to trust is added by the operator.

    Where nobody answers an object is taken in: the same checks are made again before anything comes of it.
    """
    where = [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": sorted(watched)}]
    plurals = sorted(each["spec"]["names"]["plural"] for each in _crds())
    hook = {
        "name": f"validate.{GROUP}",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 5,
        "failurePolicy": "Ignore",
        "matchPolicy": "Equivalent",
        "clientConfig": client,
        "namespaceSelector": {"matchExpressions": where} if watched else {},
        "rules": [
            {
                "apiGroups": [GROUP],
                "apiVersions": ["v1", "v1alpha1"],
                "operations": ["CREATE", "UPDATE"],
                "resources": plurals,
                "scope": "Namespaced",
            },
            {
                "apiGroups": [GROUP],
                "apiVersions": ["v1"],
                "operations": ["DELETE"],
                "resources": ["slurmclusters"],
                "scope": "Namespaced",
            },
        ],
    }
    return VALIDATING_WEBHOOK.object(NAME, webhooks=[hook])


def _crds() -> Iterator[dict[str, Any]]:
    yield from definitions.render()


def _reached(asked: Installation) -> dict[str, Any]:
    return {"name": NAME, "namespace": asked.namespace, "path": "/validate", "port": 443}


def _service(asked: Installation) -> dict[str, Any]:
    ports = [{"name": "webhook", "port": 443, "targetPort": "webhook", "protocol": "TCP"}]
    return SERVICE.object(NAME, asked.namespace, spec={"selector": _SELECTOR, "ports": ports})


def _deployment(asked: Installation) -> dict[str, Any]:
    pod = {
        "serviceAccountName": NAME,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(asked)],
        "volumes": [{"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}}],
        "terminationGracePeriodSeconds": 30,
    }
    spec = {
        "replicas": asked.replicas,
        "selector": {"matchLabels": _SELECTOR},
        "template": {"metadata": {"labels": {**LABELS}}, "spec": pod},
    }
    return DEPLOYMENT.object(NAME, asked.namespace, spec=spec)


def _container(asked: Installation) -> dict[str, Any]:
    return {
        "name": "operator",
        "image": asked.image,
        "imagePullPolicy": asked.pull_policy,
        "command": ["npa", "operator", "run"],
        "args": [
            "--leader-elect",
            "--listen=0.0.0.0",
            f"--health-port={HEALTH_PORT}",
            f"--webhook-port={WEBHOOK_PORT}",
            f"--webhook-name={NAME}.{asked.namespace}.svc",
            f"--operator-image={asked.image}",
            *(f"--namespace={each}" for each in asked.watched),
            *asked.arguments,
        ],
        "ports": [
            {"name": "health", "containerPort": HEALTH_PORT, "protocol": "TCP"},
            {"name": "webhook", "containerPort": WEBHOOK_PORT, "protocol": "TCP"},
        ],
        "livenessProbe": _probe("/healthz", 10, 6),
        "readinessProbe": _probe("/readyz", 5, 3),
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"memory": "1Gi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
    }


def _probe(path: str, period: int, failures: int) -> dict[str, Any]:
    get = {"path": path, "port": "health"}
    return {"httpGet": get, "periodSeconds": period, "timeoutSeconds": 5, "failureThreshold": failures}


def _labelled(made: dict[str, Any]) -> dict[str, Any]:
    metadata = made.get("metadata") or {}
    return {**made, "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), **LABELS}}}
