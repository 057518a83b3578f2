"""Commands of the operator: run it, and see to it that a Kubernetes cluster has it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import npa
from npa.cli import agreement, screen
from npa.cli import operator_options as given
from npa.cli.options import DryRun, Output, OutputKind, Yes
from npa.errors import NpaError, ToolMissingError

if TYPE_CHECKING:
    from npa.render.kube.installation import Installation
    from npa.targets.kubernetes.installing import Change
    from npa.tools.kube import Kube


STATUS_VERSION = "npa.operator.status/v1"
CHANGE_VERSION = "npa.operator.change/v1"
DEGRADED = 4


def manifests(
    image: given.OperatorImage = "",
    own_namespace: given.OwnNamespace = given.SYSTEM,
    namespace: given.Namespaces = [],  # noqa: B006  # typer reads it and makes a new list each time
    replicas: given.Replicas = 1,
    pull_policy: given.Pull = "IfNotPresent",
    argument: given.Arguments = [],  # noqa: B006
    crds: given.CrdsAlone = None,
) -> None:
    """Print what `install` applies, as YAML.

    \b
    npa operator manifests | kubectl apply --server-side -f -
    npa operator manifests --crds
    """
    import yaml

    from npa.render.kube import installation

    asked = _installation(image, own_namespace, namespace, replicas, pull_policy, argument)
    made = installation.crds() if crds else installation.render(asked, crds=crds is None)
    screen.data(yaml.safe_dump_all(made, sort_keys=False, width=110))


def install(
    kubeconfig: given.Kubeconfig = None,
    context: given.Context = "",
    image: given.OperatorImage = "",
    own_namespace: given.OwnNamespace = given.SYSTEM,
    namespace: given.Namespaces = [],  # noqa: B006
    replicas: given.Replicas = 1,
    pull_policy: given.Pull = "IfNotPresent",
    argument: given.Arguments = [],  # noqa: B006
    wait: given.WaitReady = True,
    yes: Yes = False,
    dry_run: DryRun = False,
    output: OutputKind = "text",
) -> None:
    """Put the operator into the cluster, or bring it up to date: shows what is written, asks, does it.

    \b
    npa operator install --image registry.example/npa-operator:1.0
    npa operator install --namespace slurm --yes
    """
    from npa.targets.kubernetes import installing

    asked = _installation(image, own_namespace, namespace, replicas, pull_policy, argument)
    kube = _kube(kubeconfig, context)
    changes = installing.plan(kube, asked)
    _change(kube, changes, "install the operator", yes, dry_run, output)
    if wait and not dry_run:
        screen.progress("waiting for the operator")
        installing.wait(kube, own_namespace)
    screen.progress("next: npa operator status")


def uninstall(
    kubeconfig: given.Kubeconfig = None,
    context: given.Context = "",
    own_namespace: given.OwnNamespace = given.SYSTEM,
    crds: given.CrdsToo = False,
    keep_clusters: given.KeepClusters = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    output: OutputKind = "text",
) -> None:
    """Take the operator out of the cluster; refused while there are SlurmClusters.

    \b
    npa operator uninstall
    npa operator uninstall --crds
    """
    from npa.targets.kubernetes import installing

    kube = _kube(kubeconfig, context)
    changes = installing.plan_removal(kube, own_namespace, crds=crds, keep_clusters=keep_clusters)
    _change(kube, changes, "take the operator out", yes, dry_run, output)


def status(
    kubeconfig: given.Kubeconfig = None,
    context: given.Context = "",
    own_namespace: given.OwnNamespace = given.SYSTEM,
    output: OutputKind = "text",
) -> None:
    """Say whether the operator is there and well, and which clusters it looks after."""
    from dataclasses import asdict

    from npa.targets.kubernetes import installing

    found = installing.inspect(_kube(kubeconfig, context), own_namespace)
    if output == "json":
        screen.document({"schema_version": STATUS_VERSION, "ok": found.ok, **asdict(found)})
    else:
        leads = f", {found.leader} leads" if found.leader else ""
        there = f"{found.image}: {found.ready} of {found.wanted} ready{leads}"
        screen.data(f"operator: {there if found.installed else 'not installed'}")
        for space, name, phase in found.clusters:
            screen.data(f"cluster {space}/{name}: {phase or 'not looked at yet'}")
        for problem in found.problems:
            screen.data(f"problem: {problem}")
    raise typer.Exit(0 if found.ok else DEGRADED)


def run(
    kubeconfig: given.Kubeconfig = None,
    context: given.Context = "",
    namespace: given.Namespaces = [],  # noqa: B006  # typer reads it and makes a new list each time
    image_override: given.Image = "",
    jail_image_override: given.JailImage = "",
    operator_image: given.OwnImage = "",
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

    needs_extra()
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
        operator_image=operator_image,
        cluster_domain=cluster_domain,
        cgroup_version=cgroup_version,
        slurm_version=slurm_version,
        namespaces=tuple(namespace),
    )
    if not asyncio.run(main.operate(access, options, settings, controllers())):
        raise NpaError("another operator leads now", hint="this is no failure: start it again to follow")


def _installation(
    image: str,
    own_namespace: str,
    watched: Sequence[str],
    replicas: int,
    pull_policy: str,
    arguments: Sequence[str],
) -> Installation:
    from npa.render.kube.installation import Installation

    image = image or f"npa-operator:{npa.__version__}"
    return Installation(image, own_namespace, tuple(watched), replicas, pull_policy, tuple(arguments))


def _kube(kubeconfig: Path | None, context: str) -> Kube:
    from npa.tools import kube_access
    from npa.tools.kube import Kube

    return Kube(kube_access.find(kubeconfig, context))


def _change(
    kube: Kube, changes: Sequence[Change], what: str, yes: bool, dry_run: bool, output: Output
) -> None:
    """Show changes, ask, and make them."""
    from npa.targets.kubernetes import installing

    if output == "json":
        told = [{"verb": c.verb, "kind": c.kind, "namespace": c.namespace, "name": c.name} for c in changes]
        screen.document({"schema_version": CHANGE_VERSION, "ok": True, "dry_run": dry_run, "changes": told})
    else:
        screen.data("\n".join(map(str, changes)) or "nothing to do: all is as it should be")
    if changes and not dry_run:
        agreement.agree(f"{what} ({len(changes)} objects)?", yes)
        installing.apply(kube, changes, lambda done: screen.progress(f"done: {done}"))


def needs_extra() -> None:
    """Refuse where what the operator needs is not installed."""
    from importlib.util import find_spec

    for each in ("aiohttp", "cryptography", "jwt", "lightkube", "msgspec", "prometheus_client"):
        if find_spec(each) is None:
            raise ToolMissingError(each, hint="install npa with it: pip install 'npa[kube]'")
