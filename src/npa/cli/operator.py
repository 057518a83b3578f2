"""Commands of the operator: run it, and see to it that a Kubernetes cluster has it."""

from __future__ import annotations

import logging
import sys

from npa.cli import operator_options as given
from npa.errors import NpaError


def run(
    kubeconfig: given.Kubeconfig = None,
    context: given.Context = "",
    namespace: given.Namespaces = [],  # noqa: B006  # typer reads it and makes a new list each time
    image_override: given.Image = "",
    jail_image_override: given.JailImage = "",
    cluster_domain: given.Domain = "cluster.local",
    cgroup_version: given.Cgroups = "v2",
    slurm_version: given.SlurmVersion = "26.05",
    leader_elect: given.Elect = False,
    own_namespace: given.OwnNamespace = "",
    workers: given.Workers = 16,
    poll: given.Poll = 5.0,
    listen: given.Listen = "127.0.0.1",
    health_port: given.HealthPort = None,
    webhook_port: given.WebhookPort = None,
    webhook_name: given.WebhookNames = [],  # noqa: B006
    log_level: given.LogLevel = "info",
) -> None:
    """Run the operator until stopped, in a pod or outside the cluster.

    \b
    npa operator run --kubeconfig ~/.kube/config --namespace slurm
    npa operator run --leader-elect
    """
    import asyncio

    from npa.operator import main
    from npa.operator.controllers import controllers
    from npa.operator.serving import Serving
    from npa.reconcile.settings import Settings
    from npa.tools import kube_access

    logging.basicConfig(
        stream=sys.stderr,
        level=log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    access = kube_access.find(kubeconfig, context)
    own = own_namespace or access.namespace
    names = tuple(webhook_name) or ("localhost",)
    options = main.Options(
        leader_elect=leader_elect,
        namespace=own,
        workers=workers,
        slurm_every=poll,
        serving=Serving(listen, health_port, webhook_port, names, namespace=own),
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
