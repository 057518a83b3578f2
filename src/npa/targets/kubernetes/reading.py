"""Reads what is on Kubernetes of one cluster: objects, and what Slurm says by commands in its pod."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from npa.cluster.model import Cluster
from npa.errors import KubeError, NpaError, ToolError, UnknownError
from npa.health import answers
from npa.health.answers import SlurmView
from npa.health.observation import Daemon, Observation
from npa.render.kube import asked, names
from npa.render.kube.deployment import There
from npa.render.objects import (
    CLAIM,
    DEPLOYMENT,
    NAMESPACE,
    NODE_SET,
    SECRET,
    SLURM_CLUSTER,
    STATEFUL_SET,
    Kind,
    Object,
    dig,
    is_true,
    name_of,
)
from npa.slurm.lookup import Found, Lookup, Unknown
from npa.tools.kube import Kube
from npa.tools.slurm import Slurm

_T = TypeVar("_T")

ASK = 20.0  # seconds for one command of Slurm


def there(kube: Kube, name: str, namespace: str, operator: Sequence[str], *, users: bool) -> There:
    """Return what is there of a cluster."""
    objects: dict[tuple[str, str], Object] = {}
    others: dict[str, str] = {}
    space = known(kube.get(NAMESPACE, namespace))
    if space is not None:
        cluster = known(kube.get(SLURM_CLUSTER, name, namespace))
        sets = known(kube.list(NODE_SET, namespace)) or ()
        claim = known(kube.get(CLAIM, asked.claim_name(name), namespace))
        mine = [each for each in sets if dig(each, "spec", "clusterName") == name]
        others = {name_of(each): str(dig(each, "spec", "clusterName")) for each in sets if each not in mine}
        for kind, found in ((SLURM_CLUSTER, cluster), (CLAIM, claim), *((NODE_SET, each) for each in mine)):
            if found is not None:
                objects[kind.kind, name_of(found)] = found
    view, problem = slurm_view(kube, name, namespace) if objects else (None, "there is no cluster yet")
    accounts = _accounts(kube, name, namespace) if users and objects else None
    return There(space is not None, tuple(operator), objects, accounts, view, problem, others)


def whole(kube: Kube, name: str, namespace: str) -> There:
    """Return all that is there of a cluster, with what stays when it alone is deleted: keys and data."""
    found = there(kube, name, namespace, (), users=False)
    kept = {
        (each["kind"], name_of(each)): each
        for kind in (SECRET, CLAIM)
        for each in of(kube, kind, name, namespace)
    }
    return replace(found, objects={**found.objects, **kept})


def of(kube: Kube, kind: Kind, name: str, namespace: str) -> list[Object]:
    """Return the objects of a kind that are labelled as a cluster's."""
    wanted = {"app.kubernetes.io/name": "slurmcluster", "app.kubernetes.io/instance": name}
    listed = known(kube.list(kind, namespace)) or ()
    mine = (each for each in listed if wanted.items() <= (dig(each, "metadata", "labels") or {}).items())
    return [{**each, "kind": kind.kind} for each in mine]


def slurm(kube: Kube, name: str, namespace: str) -> Slurm:
    """Return Slurm's commands in the controller's pod."""

    def execute(argv: Sequence[str]) -> str:
        pod = names.controller_pod(name)
        done = kube.exec(pod, namespace, argv, container="slurmctld", timeout=ASK)
        if done.code:
            raise ToolError(argv, done.code, done.stderr or done.stdout)
        return done.stdout

    return Slurm(execute)


def slurm_view(kube: Kube, name: str, namespace: str) -> tuple[SlurmView | None, str]:
    """Return what slurmctld says, or why that is not known."""
    asking = slurm(kube, name, namespace)
    try:
        return answers.view(asking.nodes(), asking.jobs()), ""
    except UnknownError as error:
        return None, error.reason
    except NpaError as error:
        return None, str(error)


def observe(kube: Kube, name: str, namespace: str) -> Observation:
    """Return what is there now, against what was asked for last."""
    found = known(kube.get(SLURM_CLUSTER, name, namespace))
    cluster = asked.said(found)
    if found is None or cluster is None:
        return Observation(name, "kubernetes", "absent")
    view, problem = slurm_view(kube, name, namespace)
    version = dig(found, "metadata", "annotations", "versions")
    return Observation(
        name=name,
        target="kubernetes",
        state="present",
        expected_workers=cluster.workers,
        elastic=cluster.elastic,
        expected_cpus=sum(pool.size * pool.machine.cpus for pool in cluster.pools),
        expected_gpus=sum(pool.size * pool.machine.gpus for pool in cluster.pools),
        daemons=_daemons(kube, cluster, namespace),
        nodes=view.nodes if view else None,
        jobs=view.jobs if view else None,
        slurm_version=version if isinstance(version, str) else cluster.slurm_version,
        problems=tuple(_problems(found, problem)),
    )


def _daemons(kube: Kube, cluster: Cluster, namespace: str) -> tuple[Daemon, ...]:
    """Return the pods of the control plane as daemons: up once all that are wanted are ready."""
    parts: list[tuple[names.Component, str, Kind]] = [
        ("controller", "slurmctld", STATEFUL_SET),
        ("login", "sshd", STATEFUL_SET),
    ]
    if cluster.accounting:
        parts.append(("accounting", "slurmdbd", STATEFUL_SET))
    if cluster.rest:
        parts.append(("rest", "slurmrestd", DEPLOYMENT))
    return tuple(_daemon(kube, cluster.name, namespace, part, daemon, kind) for part, daemon, kind in parts)


def _daemon(
    kube: Kube, cluster: str, namespace: str, part: names.Component, daemon: str, kind: Kind
) -> Daemon:
    name = names.workload(cluster, part)
    found = kube.get(kind, name, namespace)
    if isinstance(found, Unknown):
        return Daemon(name, daemon, "unknown")
    value = found.value if isinstance(found, Found) else {}
    wanted = dig(value, "spec", "replicas")
    ready = dig(value, "status", "readyReplicas") or 0
    return Daemon(name, daemon, "up" if wanted is not None and ready >= wanted else "down")


def _problems(found: Object, problem: str) -> list[str]:
    told = [problem] if problem else []
    rows = dig(found, "status", "conditions") or []
    told += [
        f"{row.get('type')}: {row.get('message') or row.get('reason')}"
        for row in rows
        if row.get("type") in ("ConfigurationValid", "Reconciled") and row.get("status") == "False"
    ]
    if not is_true(found, "JailPopulated") and any(row.get("type") == "JailPopulated" for row in rows):
        told.append("the jail is not filled yet")
    return told


def _accounts(kube: Kube, name: str, namespace: str) -> frozenset[str] | None:
    pod = f"{names.workload(name, 'login')}-0"
    try:
        done = kube.exec(pod, namespace, ["cut", "-d:", "-f1", "/mnt/jail/etc/passwd"], timeout=ASK)
    except KubeError:
        return None
    return frozenset(done.stdout.split()) if done.code == 0 else None


def known(found: Lookup[_T]) -> _T | None:
    """Return what is there, None where it is absent; raises KubeError for what could not be read."""
    if isinstance(found, Unknown):
        raise KubeError(found.why)
    return found.value if isinstance(found, Found) else None
