"""slurmrestd: the REST API, a client of slurmctld like any other, with accounting or without."""

from __future__ import annotations

from typing import Any

from npa.crds.parts import Container
from npa.errors import Problem
from npa.render.kube import contract, login, names, pods, services, volumes
from npa.render.kube.context import Context
from npa.render.objects import DEPLOYMENT

NAME = "slurmrestd"
_AT = "spec.slurmNodes.rest"


def size(context: Context) -> int:
    """Return how many pods are asked for."""
    asked = context.spec.slurm_nodes.rest.size
    return 1 if asked is None else max(0, asked)


def render(context: Context, replicas: int, problems: list[Problem]) -> tuple[dict[str, Any], ...]:
    """Return the objects of the REST API."""
    asked = context.spec.slurm_nodes.rest
    daemon = asked.rest or Container(image=context.spec.slurm_nodes.controller.slurmctld.image)
    port = daemon.port or names.REST_PORT  # of the Service; the daemon itself is always at the usual one
    daemon = daemon.model_copy(update={"port": None})
    jail = context.spec.slurm_nodes.controller.volumes.jail
    mounted = (
        volumes.secret("slurm-key", names.auth_key(context.name), contract.KEY)
        + volumes.jail(context, jail, f"{_AT}.jail", problems, read_only=True)
        + volumes.limits(context, "rest", daemon.security_limits_config)
    )
    env = {
        contract.CONF_SERVER: login.conf_server(context),
        "SLURMRESTD_THREADS": str(asked.thread_count),
        "SLURMRESTD_MAX_CONNECTIONS": str(asked.max_connections),
    }
    container = pods.container(
        context, NAME, "rest", daemon, mounted.mounts, env=env, ports={NAME: names.REST_PORT}
    )
    template = pods.template(
        context, "rest", asked, [container], mounted, pulled=[daemon], at=_AT, problems=problems
    )
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": names.selector(context.name, "rest")},
        "template": template,
    }
    return (
        *pods.limits(context, "rest", daemon.security_limits_config),
        services.balanced(context, "rest", {NAME: port}, target=NAME),
        context.object(DEPLOYMENT, names.workload(context.name, "rest"), "rest", spec=spec),
    )
