"""Options of the kubernetes target alone, each declared once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from npa.errors import UsageError

if TYPE_CHECKING:
    from npa.targets.kubernetes.options import KubeOptions

Kubeconfig = Annotated[
    Path | None,
    typer.Option("--kubeconfig", metavar="PATH", help="Kubernetes: how it is reached; else $KUBECONFIG."),
]
Context = Annotated[
    str, typer.Option("--context", metavar="NAME", help="Kubernetes: a context of the kubeconfig.")
]
Namespace = Annotated[
    str | None, typer.Option("--namespace", metavar="NAME", help="Kubernetes: where the cluster is [slurm].")
]
SlurmImage = Annotated[
    str | None,
    typer.Option("--slurm-image", metavar="IMAGE", help="Kubernetes: of every daemon; $NPA_SLURM_IMAGE."),
]
JailImage = Annotated[
    str | None,
    typer.Option("--jail-image", metavar="IMAGE", help="Kubernetes: what fills the jail; $NPA_JAIL_IMAGE."),
]
OperatorImage = Annotated[
    str,
    typer.Option(
        "--operator-image", metavar="IMAGE", help="Kubernetes: of the operator; $NPA_OPERATOR_IMAGE."
    ),
]
Pull = Annotated[
    Literal["IfNotPresent", "Always", "Never"] | None,
    typer.Option("--pull-policy", help="Kubernetes: when images are fetched."),
]
StorageClass = Annotated[
    str | None,
    typer.Option("--storage-class", metavar="NAME", help="Kubernetes: of all claims; else the default one."),
]
JailSize = Annotated[
    str | None, typer.Option("--jail-size", metavar="SIZE", help="Kubernetes: of the jail's claim [100Gi].")
]
JailPath = Annotated[
    str | None,
    typer.Option(
        "--jail-path", metavar="DIR", help="Kubernetes: folder that all nodes share, in the place of claims."
    ),
]
Service = Annotated[
    Literal["LoadBalancer", "NodePort", "ClusterIP"] | None,
    typer.Option("--login-service", help="Kubernetes: how the login nodes are reached [LoadBalancer]."),
]
Cgroup = Annotated[
    Literal["v1", "v2"] | None,
    typer.Option("--cgroup-version", help="Kubernetes: of the nodes [v2]."),
]
WorkerCpu = Annotated[
    str | None,
    typer.Option(
        "--worker-cpu",
        metavar="CPUS",
        help="Kubernetes: of a worker's pod, as in 500m, where machines are smaller than the spec's.",
    ),
]
WorkerMemory = Annotated[
    str | None,
    typer.Option("--worker-memory", metavar="SIZE", help="Kubernetes: likewise its memory, as in 1Gi."),
]
Operator = Annotated[
    bool,
    typer.Option("--operator/--no-operator", help="Kubernetes: install the operator where there is none."),
]


# parameter of a command -> field of KubeOptions
_FIELDS = {
    "kubeconfig": "kubeconfig",
    "context": "context",
    "namespace": "namespace",
    "slurm_image": "slurm_image",
    "jail_image": "jail_image",
    "operator_image": "operator_image",
    "pull_policy": "pull_policy",
    "storage_class": "storage_class",
    "jail_size": "jail_size",
    "jail_path": "jail_path",
    "login_service": "service",
    "cgroup_version": "cgroup",
    "worker_cpu": "worker_cpu",
    "worker_memory": "worker_memory",
    "operator": "with_operator",
}
NAMES = frozenset(_FIELDS)  # of the parameters
_DEFAULTS = {"context": "", "operator_image": "", "operator": True}  # of those whose default is not None


def gathered(target: str, given: Mapping[str, Any]) -> KubeOptions | None:
    """Return the options among a command's parameters, None where none is given.

    Raises UsageError where the cluster is elsewhere.
    """
    said = {name: given[name] for name in _FIELDS if given[name] != _DEFAULTS.get(name)}
    if not said:
        return None
    if target != "kubernetes":
        names = ", ".join(f"--{name.replace('_', '-')}" for name in said)
        what = f"only for target kubernetes, and this one is {target}: {names}"
        raise UsageError(what, hint="leave them away, or add `--target kubernetes`")
    from npa.targets.kubernetes.options import KubeOptions

    return KubeOptions(**{_FIELDS[name]: value for name, value in said.items()})
