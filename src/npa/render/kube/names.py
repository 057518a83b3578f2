"""What the objects of a cluster are called and labelled; users of the existing operator know these."""

from __future__ import annotations

from typing import Literal

Component = Literal[
    "common",
    "controller",
    "accounting",
    "rest",
    "worker",
    "nodeset",
    "login",
    "populate-jail",
    "exporter",
    "node-configurator",
    "soperatorchecks",
    "sconfigcontroller",
]

PREFIX = "slurm.nebius.ai/"
NODE_SET = f"{PREFIX}nodeset"  # on worker pods: their NodeSet
WORKER = f"{PREFIX}worker"  # `true` on worker pods
ORDINAL = f"{PREFIX}ordinal"  # on worker pods
TEMPLATE = (
    f"{PREFIX}template-hash"  # annotation of worker pods: digest of the template that they were made from
)
WANTED = f"{PREFIX}wanted-hash"  # annotation of whatever is applied: digest of what was wanted of it
CONFIG = (
    f"{PREFIX}config-hash"  # annotation of the configuration's ConfigMap, and of the pods that start with it
)
DELIVERED = f"{PREFIX}delivered-hash"  # annotation of slurmctld's pod: digest of the files that it waits for

CONTROLLER_PORT, SLURMD_PORT, ACCOUNTING_PORT, REST_PORT, SSH_PORT = 6817, 6818, 6819, 6820, 22


def labels(cluster: str, component: Component, **extra: str) -> dict[str, str]:
    """Return the labels of an object of a cluster; the first three select it."""
    return {
        **selector(cluster, component),
        "app.kubernetes.io/part-of": "slurm-operator",
        "app.kubernetes.io/managed-by": "slurm-operator",
        **extra,
    }


def selector(cluster: str, component: Component) -> dict[str, str]:
    """Return the labels by which a component's pods are selected; they never change."""
    return {
        "app.kubernetes.io/name": "slurmcluster",
        "app.kubernetes.io/instance": cluster,
        "app.kubernetes.io/component": component,
    }


def workload(cluster: str, component: Component) -> str:
    """Name of a component's StatefulSet or Deployment."""
    return f"{cluster}-{component}"


def service(cluster: str, component: Component, *, headless: bool = False) -> str:
    """Name of a component's Service; login has a headless one besides."""
    return f"{cluster}-{component}-headless-svc" if headless else f"{cluster}-{component}-svc"


def umbrella(cluster: str) -> str:
    """Name of the headless Service of all worker pods: `<pod>.<umbrella>` is a worker's host name."""
    return f"{cluster}-nodeset-svc"


def fqdn(service_name: str, namespace: str, domain: str = "cluster.local") -> str:
    """Return a Service's full host name."""
    return f"{service_name}.{namespace}.svc.{domain}"


def controller_pod(cluster: str) -> str:
    """Name of the pod of slurmctld."""
    return f"{workload(cluster, 'controller')}-0"


def config(cluster: str) -> str:
    """Name of the ConfigMap of Slurm's files."""
    return f"{cluster}-slurm-configs"


def auth_key(cluster: str) -> str:
    """Name of the Secret of `slurm.key`, by which daemons and clients know one another (auth/slurm)."""
    return f"{cluster}-slurm-key"


def jwt_key(cluster: str) -> str:
    """Name of the Secret of `rest_jwt.key`, which signs tokens for slurmrestd."""
    return f"{cluster}-rest-jwt-key"


def ssh_keys(cluster: str) -> str:
    """Name of the Secret of the host keys that all login nodes share, unless the cluster names another."""
    return f"{cluster}-sshd-keys"


def dbd_config(cluster: str) -> str:
    """Name of the Secret of slurmdbd.conf."""
    return f"{cluster}-slurmdbd-configs"


def populate_job(cluster: str) -> str:
    """Name of the Job that fills the jail."""
    return f"{cluster}-populate-jail"
