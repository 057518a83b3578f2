"""How a rule says what it finds, and where it looks."""

from __future__ import annotations

from collections.abc import Iterator

from npa.crds.parts import Container, NodeVolumeMount, SlurmNode
from npa.crds.slurmcluster import SlurmCluster
from npa.errors import Problem

NODES = "spec.slurmNodes"


def problem(at: str, message: str, hint: str = "") -> Problem:
    """Return a problem of an object, which has no lines."""
    return Problem(0, 0, at, message, hint)


def components(cluster: SlurmCluster) -> Iterator[tuple[str, SlurmNode]]:
    """Yield the components that run, with their paths."""
    nodes = cluster.spec.slurm_nodes
    yield f"{NODES}.controller", nodes.controller
    yield f"{NODES}.login", nodes.login
    for name, node in (
        ("accounting", nodes.accounting),
        ("rest", nodes.rest),
        ("exporter", nodes.exporter),
    ):
        if node.enabled:
            yield f"{NODES}.{name}", node


def containers(cluster: SlurmCluster) -> Iterator[tuple[str, Container]]:
    """Yield the containers of the components that run, with their paths."""
    nodes = cluster.spec.slurm_nodes
    named = {
        f"{NODES}.controller.slurmctld": nodes.controller.slurmctld,
        f"{NODES}.login.sshd": nodes.login.sshd,
        f"{NODES}.accounting.slurmdbd": nodes.accounting.slurmdbd if nodes.accounting.enabled else None,
        f"{NODES}.rest.rest": nodes.rest.rest if nodes.rest.enabled else None,
        f"{NODES}.exporter.exporterContainer": (
            nodes.exporter.exporter_container if nodes.exporter.enabled else None
        ),
    }
    for at, container in named.items():
        if container is not None:
            yield at, container


def mounts(cluster: SlurmCluster) -> dict[str, tuple[tuple[str, NodeVolumeMount], ...]]:
    """Return the extra mounts of each component, with their paths."""
    nodes = cluster.spec.slurm_nodes
    listed = {
        "controller": {"customMounts": nodes.controller.volumes.custom_mounts},
        "login": {
            "jailSubMounts": nodes.login.volumes.jail_sub_mounts,
            "customMounts": nodes.login.volumes.custom_mounts,
        },
    }
    return {
        component: tuple(
            (f"{NODES}.{component}.volumes.{field}[{index}]", mount)
            for field, each in fields.items()
            for index, mount in enumerate(each)
        )
        for component, fields in listed.items()
    }
