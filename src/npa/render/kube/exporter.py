"""The exporter: a process of the operator's own image that asks the REST API for figures.

Where there is no REST API it has a slurmrestd of its own beside it.
"""

from __future__ import annotations

from typing import Any

from npa.crds.components import Exporter
from npa.crds.parts import Container
from npa.errors import Problem
from npa.render.kube import contract, names, pods, rest, services, volumes
from npa.render.kube.context import Context
from npa.render.objects import DEPLOYMENT, Kind

POD_MONITOR = Kind("monitoring.coreos.com", "v1", "PodMonitor", "podmonitors")
NAME = "exporter"
PORT, OWN_PORT = 8080, 8081
USER = 65532
_AT = "spec.slurmNodes.exporter"
_KEY = "rest_jwt.key"
# a pod comes after another, and both show the same cluster; Prometheus puts `instance` back before this
_DROPPED = {"action": "labeldrop", "regex": "pod|instance|container"}


def workload(cluster: str) -> str:
    """Name of the Deployment, as users of the existing operator know it."""
    return f"{cluster}-slurm-exporter"


def monitor(context: Context) -> str:
    """Name of the PodMonitor, likewise."""
    return context.name


def image(context: Context) -> str:
    """Return the image: the one that is named, unless all are replaced; else the operator's own."""
    asked = context.spec.slurm_nodes.exporter.exporter_container
    named = asked.image if asked is not None else ""
    ours = context.operator_image
    return ours if context.image_override else (named or ours)


def lacks(context: Context) -> tuple[str, str]:
    """Return why there can be no exporter: a word and a sentence; empty where there can."""
    if not image(context):
        return "NoImage", "nobody says which image it is: set exporterContainer.image, or --operator-image"
    return "", ""


def render(context: Context, replicas: int, problems: list[Problem]) -> tuple[dict[str, Any], ...]:
    """Return the exporter's objects."""
    asked = context.spec.slurm_nodes.exporter
    container = asked.exporter_container or Container(image=image(context))
    # read by a user of its own; an fsGroup would reach into the jail, too
    mounted = volumes.secret("rest-jwt-key", names.jwt_key(context.name), contract.JWT_KEY, 0o444)
    mounted += volumes.empty("tmp", "/tmp", medium="Memory", sizeLimit="16Mi")
    containers, pulled = [_container(context, asked, container, mounted.mounts)], [container]
    if not context.spec.slurm_nodes.rest.enabled:
        beside = rest.mounts(context, problems)
        containers.append(rest.container(context, beside))
        pulled.append(rest.asked_of(context))
        mounted += beside
    template = pods.template(
        context,
        "exporter",
        asked,
        containers,
        mounted,
        pulled=pulled,
        account=asked.service_account_name,
        at=_AT,
        problems=problems,
    )
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": names.selector(context.name, "exporter")},
        "strategy": {"type": "Recreate"},  # two at once would count everything twice
        "template": template,
    }
    return (
        services.balanced(context, "exporter", {"metrics": container.port or PORT}, target="metrics"),
        context.object(DEPLOYMENT, workload(context.name), "exporter", spec=spec),
    )


def pod_monitor(context: Context) -> dict[str, Any]:
    """Return what Prometheus is told to ask."""
    asked = context.spec.slurm_nodes.exporter.pod_monitor_config
    endpoint = {
        "port": "metrics",
        "path": "/metrics",
        "interval": asked.interval,
        "scrapeTimeout": asked.scrape_timeout,
        "relabelings": list(map(dict, asked.relabel_config)),
        "metricRelabelings": [*map(dict, asked.metric_relabel_configs), _DROPPED],
    }
    spec = {
        "jobLabel": asked.job_label,
        "selector": {"matchLabels": names.selector(context.name, "exporter")},
        "namespaceSelector": {"matchNames": [context.namespace]},
        "podMetricsEndpoints": [{key: value for key, value in endpoint.items() if value}],
    }
    said = {key: value for key, value in spec.items() if value}
    return context.object(POD_MONITOR, monitor(context), "exporter", spec=said)


def _container(
    context: Context, asked: Exporter, container: Container, mounts: tuple[dict[str, Any], ...]
) -> dict[str, Any]:
    made = pods.container(
        context,
        NAME,
        "exporter",
        container,
        mounts,
        ports={"metrics": container.port or PORT, "monitoring": OWN_PORT},
        security={
            "runAsNonRoot": True,
            "runAsUser": USER,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    )
    made["image"] = image(context)
    made["command"] = list(container.command) or ["npa", "operator", "exporter"]
    made["args"] = list(container.args) or _arguments(context, asked, container)
    made["readinessProbe"] = container.readiness_probe or _probe("/ready", 5, 3)
    made["livenessProbe"] = container.liveness_probe or _probe("/health", 10, 6)
    return made


def _arguments(context: Context, asked: Exporter, container: Container) -> list[str]:
    host, port = "localhost", names.REST_PORT
    if context.spec.slurm_nodes.rest.enabled:
        host = context.host(names.service(context.name, "rest"))
        port = rest.asked_of(context).port or port
    return [
        f"--server=http://{host}:{port}",
        f"--key={contract.JWT_KEY}/{_KEY}",
        f"--interval={asked.collection_interval}",
        f"--max-inflight={asked.max_collector_inflight}",
        f"--jobs={asked.job_source}",
        f"--lookback={asked.accounting_jobs_lookback}",
        f"--port={container.port or PORT}",
        f"--own-port={OWN_PORT}",
    ]


def _probe(path: str, period: int, failures: int) -> dict[str, Any]:
    get = {"path": path, "port": "monitoring"}
    return {"httpGet": get, "periodSeconds": period, "timeoutSeconds": 5, "failureThreshold": failures}
