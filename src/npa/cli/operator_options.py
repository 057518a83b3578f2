"""Options of the operator's commands, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

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
Image = Annotated[
    str,
    typer.Option("--image-override", metavar="IMAGE", help="Image of all daemons, whatever a cluster names."),
]
JailImage = Annotated[
    str,
    typer.Option("--jail-image-override", metavar="IMAGE", help="Image that fills the jail, likewise."),
]
OwnImage = Annotated[
    str, typer.Option("--operator-image", metavar="IMAGE", help="This process's own, of which exporters are.")
]
Domain = Annotated[
    str, typer.Option("--cluster-domain", metavar="DOMAIN", help="What host names of Services end in.")
]
CgroupVersion = Literal["v1", "v2", "none"]
Cgroups = Annotated[CgroupVersion, typer.Option("--cgroup-version", help="cgroups of the nodes.")]
SlurmVersion = Annotated[
    str, typer.Option("--slurm-version", metavar="VERSION", help="Slurm of the images: 26.05 or 24.11.")
]
Elect = Annotated[
    bool, typer.Option("--leader-elect/--no-leader-elect", help="Work only while holding the Lease.")
]
OwnNamespace = Annotated[
    str, typer.Option("--own-namespace", metavar="NAME", help="Where Lease and certificate are kept.")
]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Objects looked at at a time.")]
Poll = Annotated[float, typer.Option("--poll", min=0.5, metavar="SECONDS", help="How often Slurm is asked.")]
Listen = Annotated[str, typer.Option("--listen", metavar="ADDRESS", help="Where it listens.")]
HealthPort = Annotated[
    int | None, typer.Option("--health-port", help="Serve /healthz, /readyz, /metrics; 0: any port.")
]
WebhookPort = Annotated[
    int | None, typer.Option("--webhook-port", help="Answer admission reviews; 0: any port.")
]
WebhookNames = Annotated[
    list[str],
    typer.Option("--webhook-name", metavar="HOST", help="What the API server calls us. Repeatable."),
]
Level = Literal["debug", "info", "warning", "error"]
LogLevel = Annotated[Level, typer.Option("--log-level", help="How much is told.")]
SYSTEM = "npa-system"
OperatorImage = Annotated[str, typer.Option("--image", metavar="IMAGE", help="The operator's own image.")]
Replicas = Annotated[int, typer.Option("--replicas", min=1, help="One works, the others stand by.")]
PullPolicy = Literal["IfNotPresent", "Always", "Never"]
Pull = Annotated[PullPolicy, typer.Option("--pull-policy", help="When the image is fetched.")]
Arguments = Annotated[
    list[str],
    typer.Option("--argument", metavar="ARG", help="Of `npa operator run` in the cluster. Repeatable."),
]
CrdsAlone = Annotated[
    bool | None,
    typer.Option("--crds/--no-crds", help="Only the definitions of kinds, or all but those."),
]
CrdsToo = Annotated[
    bool, typer.Option("--crds", help="The definitions of kinds too, once there is no object of them.")
]
KeepClusters = Annotated[
    bool, typer.Option("--keep-clusters", help="Although there are clusters: they run on, unattended.")
]
WaitReady = Annotated[bool, typer.Option("--wait/--no-wait", help="Return once the operator is ready.")]
