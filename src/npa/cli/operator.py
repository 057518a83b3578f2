"""Commands of the operator: run it, and see to it that a Kubernetes cluster has it."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from npa.errors import NpaError

Kubeconfig = Annotated[
    Path | None,
    typer.Option(
        "--kubeconfig", metavar="PATH", help="How Kubernetes is reached; $KUBECONFIG, or the pod's own."
    ),
]
Context = Annotated[str, typer.Option("--context", metavar="NAME", help="A context of the kubeconfig.")]
Namespaces = Annotated[
    list[str],
    typer.Option("--namespace", "-n", metavar="NAME", help="Watch this namespace alone. Repeatable."),
]
ImageOverride = Annotated[
    str,
    typer.Option("--image-override", metavar="IMAGE", help="Image of all daemons, whatever a cluster names."),
]
JailImageOverride = Annotated[
    str,
    typer.Option("--jail-image-override", metavar="IMAGE", help="Image that fills the jail, likewise."),
]


def run(
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    namespace: Namespaces = [],  # noqa: B006  # typer reads it and makes a new list each time
    image_override: ImageOverride = "",
    jail_image_override: JailImageOverride = "",
    cluster_domain: Annotated[
        str, typer.Option("--cluster-domain", metavar="DOMAIN", help="What names of Services end in.")
    ] = "cluster.local",
    cgroup_version: Annotated[
        Literal["v1", "v2", "none"], typer.Option("--cgroup-version", help="cgroups of the nodes.")
    ] = "v2",
    slurm_version: Annotated[
        str, typer.Option("--slurm-version", metavar="VERSION", help="Slurm of the images.")
    ] = "26.05",
    leader_elect: Annotated[
        bool, typer.Option("--leader-elect/--no-leader-elect", help="Work only while holding the Lease.")
    ] = False,
    lease_namespace: Annotated[
        str,
        typer.Option("--lease-namespace", metavar="NAME", help="Where the Lease and the certificate are."),
    ] = "",
    workers: Annotated[int, typer.Option("--workers", min=1, help="Objects looked at at a time.")] = 16,
    poll: Annotated[
        float, typer.Option("--poll", min=0.5, metavar="SECONDS", help="How often Slurm is asked.")
    ] = 5.0,
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], typer.Option("--log-level", help="What is told.")
    ] = "info",
) -> None:
    """Run the operator until stopped, in a pod or outside the cluster.

    \b
    npa operator run --kubeconfig ~/.kube/config --namespace slurm
    npa operator run --leader-elect
    """
    import asyncio

    from npa.operator import main
    from npa.operator.controllers import controllers
    from npa.reconcile.settings import Settings
    from npa.tools import kube_access

    logging.basicConfig(
        stream=sys.stderr,
        level=log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    access = kube_access.find(kubeconfig, context)
    options = main.Options(
        namespaces=tuple(namespace),
        leader_elect=leader_elect,
        lease_namespace=lease_namespace or access.namespace,
        workers=workers,
        slurm_every=poll,
    )
    settings = Settings(
        image_override=image_override,
        jail_image_override=jail_image_override,
        cluster_domain=cluster_domain,
        cgroup_version=cgroup_version,
        slurm_version=slurm_version,
        namespaces=tuple(namespace),
    )
    if not asyncio.run(main.operate(access, options, settings, controllers())):
        raise NpaError("another operator leads now", hint="this is no failure: start it again to follow")
