"""What the operator may do: what it needs, in the namespaces that it watches, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from npa.render.objects import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    GROUP,
    ROLE,
    ROLE_BINDING,
    SERVICE_ACCOUNT,
)

Rule = dict[str, Any]

_READ = ("get", "list", "watch")
_OWN = (*_READ, "create", "patch", "delete")


def in_namespace() -> list[Rule]:
    """Return what it does where clusters are."""
    resources = (
        "slurmclusters",
        "nodesets",
        "activechecks",
        "jailedconfigs",
        "nodeconfigurators",
        "nodesetpowerstates",
    )
    return [
        _rule(GROUP, resources, _READ),
        _rule(GROUP, [f"{each}/status" for each in resources], ("get", "patch")),
        # The finalizer that holds a cluster until its jobs have ended; owners that block their deletion.
        _rule(GROUP, ("slurmclusters",), ("patch",)),
        _rule(GROUP, ("slurmclusters/finalizers",), ("update",)),
        # the power state of a NodeSet is made beside it
        _rule(GROUP, ("nodesetpowerstates",), ("create", "patch", "delete")),
        # patched for one annotation, at which the kubelet brings the files of a ConfigMap at once
        _rule("", ("pods",), (*_READ, "create", "delete", "patch")),
        # a Secret with slurmdbd.conf follows what it is made of; keys are made once and never patched
        _rule("", ("services", "configmaps", "persistentvolumeclaims", "secrets"), _OWN),
        # Over a WebSocket an exec is a `get` to older API servers and a `create` to newer ones.
        _rule("", ("pods/exec",), ("get", "create")),
        _rule("", ("pods/log",), ("get",)),
        _rule("", ("events",), ("create", "patch")),
        _rule("apps", ("statefulsets", "deployments", "daemonsets"), _OWN),
        _rule("batch", ("jobs", "cronjobs"), _OWN),
        _rule("policy", ("poddisruptionbudgets",), _OWN),
        _rule("monitoring.coreos.com", ("podmonitors", "servicemonitors"), _OWN),
        _rule("k8s.mariadb.com", ("mariadbs", "grants"), _OWN),
        _rule("security-profiles-operator.x-k8s.io", ("apparmorprofiles",), _OWN),
    ]


def in_cluster(webhook: str) -> list[Rule]:
    """Return what it does that is of no namespace."""
    own = _rule("admissionregistration.k8s.io", ("validatingwebhookconfigurations",), ("get", "patch"))
    # whether a claim may grow is up to its StorageClass
    storage = _rule("storage.k8s.io", ("storageclasses",), _READ)
    return [_rule("", ("nodes",), _READ), storage, {**own, "resourceNames": [webhook]}]


def at_home(secret: str, lease: str) -> list[Rule]:
    """Return what it does in its own namespace: who leads, and the webhook's certificate."""
    return [
        _rule("coordination.k8s.io", ("leases",), ("create",)),
        {**_rule("coordination.k8s.io", ("leases",), ("get", "update")), "resourceNames": [lease]},
        _rule("", ("secrets",), ("create",)),
        {**_rule("", ("secrets",), ("get", "update")), "resourceNames": [secret]},
    ]


def render(
    name: str, namespace: str, watched: Sequence[str], *, secret: str, lease: str
) -> list[dict[str, Any]]:
    """Return the service account, its roles and their bindings; no `watched` is every namespace."""
    subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    everywhere = in_cluster(name) + ([] if watched else in_namespace())
    made = [
        SERVICE_ACCOUNT.object(name, namespace),
        CLUSTER_ROLE.object(name, rules=everywhere),
        _bound(CLUSTER_ROLE_BINDING.object(name), CLUSTER_ROLE.kind, name, subject),
        ROLE.object(name, namespace, rules=at_home(secret, lease)),
        _bound(ROLE_BINDING.object(name, namespace), ROLE.kind, name, subject),
    ]
    for space in sorted(set(watched)):
        role = f"{name}-clusters"
        made.append(ROLE.object(role, space, rules=in_namespace()))
        made.append(_bound(ROLE_BINDING.object(role, space), ROLE.kind, role, subject))
    return made


def _rule(group: str, resources: Iterable[str], verbs: Sequence[str]) -> Rule:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _bound(binding: dict[str, Any], kind: str, role: str, subject: dict[str, str]) -> dict[str, Any]:
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role}
    return {**binding, "roleRef": reference, "subjects": [subject]}
