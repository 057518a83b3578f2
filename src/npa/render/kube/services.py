"""The Services of the control plane. Daemons find each other through headless ones: no proxy between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npa.errors import Problem
from npa.render.kube import names
from npa.render.kube.context import Context
from npa.render.kube.names import Component
from npa.render.objects import SERVICE

LOGIN_TYPES = ("LoadBalancer", "NodePort", "ClusterIP")


def headless(context: Context, component: Component, name: str, ports: Mapping[str, int]) -> dict[str, Any]:
    """Return the Service by which a component's pods have host names, ready or not."""
    spec = {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": names.selector(context.name, component),
        "ports": _ports(ports),
    }
    return context.object(SERVICE, name, component, spec=spec)


def balanced(context: Context, component: Component, ports: Mapping[str, int], target: str) -> dict[str, Any]:
    """Return the Service that leads to any ready pod of a component, at its port called `target`."""
    listed = [{**each, "targetPort": target} for each in _ports(ports)]
    spec = {"type": "ClusterIP", "selector": names.selector(context.name, component), "ports": listed}
    return context.object(SERVICE, names.service(context.name, component), component, spec=spec)


def login(context: Context, port: int, problems: list[Problem]) -> dict[str, Any]:
    """Return the Service by which users reach a login node."""
    asked = context.spec.slurm_nodes.login
    at = "spec.slurmNodes.login"
    kind = asked.sshd_service_type
    if kind not in LOGIN_TYPES:
        text = f"{kind!r} is no type of Service"
        problems.append(Problem(0, 0, f"{at}.sshdServiceType", text, f"choose {', '.join(LOGIN_TYPES)}"))
    found = _ports({"ssh": port})
    spec: dict[str, Any] = {
        "type": kind,
        "selector": names.selector(context.name, "login"),
        "ports": found,
    }
    node_port = asked.sshd_service_node_port
    if node_port and kind == "NodePort":
        if not 30000 <= node_port <= 32767:
            text = f"{node_port} is out of the range of node ports"
            problems.append(Problem(0, 0, f"{at}.sshdServiceNodePort", text, "choose 30000 to 32767, or 0"))
        found[0]["nodePort"] = node_port
    if kind == "LoadBalancer" and asked.sshd_service_load_balancer_ip:
        spec["loadBalancerIP"] = asked.sshd_service_load_balancer_ip
    if kind == "LoadBalancer" and asked.sshd_service_load_balancer_source_ranges:
        spec["loadBalancerSourceRanges"] = list(asked.sshd_service_load_balancer_source_ranges)
    notes = asked.sshd_service_annotations
    return context.object(
        SERVICE, names.service(context.name, "login"), "login", annotations=notes, spec=spec
    )


def _ports(ports: Mapping[str, int]) -> list[dict[str, Any]]:
    return [
        {"name": name, "port": port, "targetPort": port, "protocol": "TCP"} for name, port in ports.items()
    ]
