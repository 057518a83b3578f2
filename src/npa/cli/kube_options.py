"""Options of the kubernetes target alone, each declared once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
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


Given = Mapping[str, Any]  # what a command was given of these, by parameter
NONE: Given = MappingProxyType({})

# parameter of a command -> field of KubeOptions, where they are called differently
_FIELDS = {"login_service": "service", "cgroup_version": "cgroup", "operator": "with_operator"}


def _declared(
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    namespace: Namespace = None,
    slurm_image: SlurmImage = None,
    jail_image: JailImage = None,
    operator_image: OperatorImage = "",
    pull_policy: Pull = None,
    storage_class: StorageClass = None,
    jail_size: JailSize = None,
    jail_path: JailPath = None,
    login_service: Service = None,
    cgroup_version: Cgroup = None,
    worker_cpu: WorkerCpu = None,
    worker_memory: WorkerMemory = None,
    operator: Operator = True,
) -> None:
    """Say the parameters that a command is given by `taken`."""


def taken(*, namespace: bool = True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options in the place of its parameter `reach`, which is told what was given."""
    declared = inspect.signature(_declared, eval_str=True).parameters
    ours = [each for name, each in declared.items() if namespace or name != "namespace"]

    def with_them(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        listed: list[inspect.Parameter] = []
        for each in own.parameters.values():
            listed += ours if each.name == "reach" else [each]

        @functools.wraps(command)
        def called(**words: Any) -> None:
            given = {each.name: value for each in ours if (value := words.pop(each.name)) != each.default}
            command(**words, reach=given)

        # which is where typer reads the options of a command
        called.__signature__ = own.replace(parameters=listed)  # type: ignore[attr-defined]
        called.__annotations__ = {each.name: each.annotation for each in listed}
        return called

    return with_them


def gathered(target: str, given: Given) -> KubeOptions | None:
    """Return the options that a command was given, None where none is.

    Raises UsageError where the cluster is elsewhere.
    """
    if not given:
        return None
    if target != "kubernetes":
        names = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        what = f"only for target kubernetes, and this one is {target}: {names}"
        raise UsageError(what, hint="leave them away, or add `--target kubernetes`")
    from npa.targets.kubernetes.options import KubeOptions

    return KubeOptions(**{_FIELDS.get(name, name): value for name, value in given.items()})
