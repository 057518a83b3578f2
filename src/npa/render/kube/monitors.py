"""What Prometheus is told to ask, where its resources are installed."""

from __future__ import annotations

from typing import Any

from npa.render.kube import names
from npa.render.kube.context import Context
from npa.render.objects import Kind

SERVICE_MONITOR = Kind("monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors")
_ENDPOINTS = ("jobs", "jobs-users-accts", "nodes", "partitions", "scheduler")


def name(context: Context) -> str:
    """Name of the ServiceMonitor of slurmctld's own metrics."""
    return f"{context.name}-slurmctld-metrics"


def render(context: Context) -> tuple[dict[str, Any], ...]:
    """Return the ServiceMonitor of slurmctld's metrics, where it serves any."""
    asked = context.spec.slurm_nodes.controller.open_metrics
    if not asked.enabled:
        return ()
    monitor = asked.service_monitor
    endpoints = [
        {
            "port": "slurmctld",
            "path": f"/metrics/{path}",
            "interval": monitor.interval,
            "scrapeTimeout": monitor.scrape_timeout,
        }
        for path in monitor.endpoints or _ENDPOINTS
    ]
    spec = {
        "selector": {"matchLabels": names.selector(context.name, "controller")},
        "namespaceSelector": {"matchNames": [context.namespace]},
        "endpoints": endpoints,
    }
    return (context.object(SERVICE_MONITOR, name(context), "controller", spec=spec),)
