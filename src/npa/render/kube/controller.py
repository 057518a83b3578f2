"""slurmctld: one pod, its state on a claim, and all of Slurm's files."""

from __future__ import annotations

from typing import Any

from npa.errors import Problem
from npa.render.kube import contract, names, pods, services, volumes
from npa.render.kube.context import Context

NAME = "slurmctld"
_AT = "spec.slurmNodes.controller"


def render(context: Context, replicas: int, problems: list[Problem]) -> tuple[dict[str, Any], ...]:
    """Return the controller's objects."""
    asked = context.spec.slurm_nodes.controller
    port = asked.slurmctld.port or names.CONTROLLER_PORT
    limits = asked.slurmctld.security_limits_config
    mounted = (
        volumes.named(context, "spool", asked.volumes.spool, contract.STATE, f"{_AT}.volumes.spool", problems)
        + volumes.jail(context, asked.volumes.jail, f"{_AT}.volumes.jail", problems)
        + volumes.config_map("slurm-configs", names.config(context.name), contract.CONFIGS)
        + volumes.secret("slurm-key", names.auth_key(context.name), contract.KEY)
        + volumes.secret("rest-jwt-key", names.jwt_key(context.name), contract.JWT_KEY)
        + volumes.limits(context, "controller", limits)
        + volumes.mounted(context, asked.volumes.custom_mounts, "", f"{_AT}.volumes.customMounts", problems)
    )
    container = pods.container(
        context, NAME, "controller", asked.slurmctld, mounted.mounts, ports={NAME: port}
    )
    template = pods.template(
        context,
        "controller",
        asked,
        [container],
        mounted,
        pulled=[asked.slurmctld],
        grace=60,
        account=asked.service_account_name,
        at=_AT,
        problems=problems,
    )
    service = names.service(context.name, "controller")
    return (
        *pods.limits(context, "controller", limits),
        services.headless(context, "controller", service, {NAME: port}),
        pods.stateful_set(
            context, "controller", template, replicas=replicas, service=service, mounted=mounted
        ),
    )
