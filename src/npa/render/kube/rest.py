"""slurmrestd: the REST API, a client of slurmctld like any other, with accounting or without."""

from __future__ import annotations

from typing import Any

from npa.crds.parts import Container
from npa.errors import Problem
from npa.render.kube import contract, login, names, pods, services, volumes
from npa.render.kube.context import Context
from npa.render.kube.volumes import Volumes
from npa.render.objects import DEPLOYMENT

NAME = "slurmrestd"
_AT = "spec.slurmNodes.rest"


def size(context: Context) -> int:
    """Return how many pods are asked for."""
    asked = context.spec.slurm_nodes.rest.size
    return 1 if asked is None else max(0, asked)


def asked_of(context: Context) -> Container:
    """Return what is asked of slurmrestd's container."""
    asked = context.spec.slurm_nodes.rest.rest
    return asked or Container(image=context.spec.slurm_nodes.controller.slurmctld.image)


def mounts(context: Context, problems: list[Problem]) -> Volumes:
    """Return what slurmrestd needs: the daemons' key, and the names of users."""
    jail = context.spec.slurm_nodes.controller.volumes.jail
    key = volumes.secret("slurm-key", names.auth_key(context.name), contract.KEY)
    return key + volumes.jail(context, jail, f"{_AT}.jail", problems, read_only=True)


def container(context: Context, mounted: Volumes) -> dict[str, Any]:
    """Return slurmrestd's container."""
    asked = context.spec.slurm_nodes.rest
    env = {
        contract.CONF_SERVER: login.conf_server(context),
        "SLURMRESTD_THREADS": str(asked.thread_count),
        "SLURMRESTD_MAX_CONNECTIONS": str(asked.max_connections),
    }
    daemon = asked_of(context).model_copy(update={"port": None})
    return pods.container(
        context, NAME, "rest", daemon, mounted.mounts, env=env, ports={NAME: names.REST_PORT}
    )


def render(context: Context, replicas: int, problems: list[Problem]) -> tuple[dict[str, Any], ...]:
    """Return the objects of the REST API."""
    asked, daemon = context.spec.slurm_nodes.rest, asked_of(context)
    port = daemon.port or names.REST_PORT  # of the Service; the daemon itself is always at the usual one
    mounted = mounts(context, problems) + volumes.limits(context, "rest", daemon.security_limits_config)
    template = pods.template(
        context,
        "rest",
        asked,
        [container(context, mounted)],
        mounted,
        pulled=[daemon],
        at=_AT,
        problems=problems,
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
