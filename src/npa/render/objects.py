"""What Kubernetes objects are called: kinds, and the paths that lead to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Object = Mapping[str, Any]  # an object as the API gives it


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object, as the API's paths name it."""

    group: str  # "" for the core group
    version: str
    kind: str
    plural: str
    namespaced: bool = True

    @property
    def crd(self) -> str:
        """Name of the CustomResourceDefinition that would define it."""
        return f"{self.plural}.{self.group}"

    def object(self, name: str, namespace: str = "", **rest: Any) -> dict[str, Any]:
        """Return an object of this kind."""
        version = f"{self.group}/{self.version}" if self.group else self.version
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        return {"apiVersion": version, "kind": self.kind, "metadata": metadata, **rest}


NAMESPACE = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps")
CLAIM = Kind("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims")
VOLUME = Kind("", "v1", "PersistentVolume", "persistentvolumes", namespaced=False)
DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments")
JOB = Kind("batch", "v1", "Job", "jobs")
CRD = Kind(
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", namespaced=False
)
HELM_RELEASE = Kind("helm.toolkit.fluxcd.io", "v2", "HelmRelease", "helmreleases")
DISRUPTION_BUDGET = Kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets")
POD = Kind("", "v1", "Pod", "pods")
NODE = Kind("", "v1", "Node", "nodes", namespaced=False)
SERVICE = Kind("", "v1", "Service", "services")
SECRET = Kind("", "v1", "Secret", "secrets")
SERVICE_ACCOUNT = Kind("", "v1", "ServiceAccount", "serviceaccounts")
EVENT = Kind("", "v1", "Event", "events")
STATEFUL_SET = Kind("apps", "v1", "StatefulSet", "statefulsets")
DAEMON_SET = Kind("apps", "v1", "DaemonSet", "daemonsets")
CRON_JOB = Kind("batch", "v1", "CronJob", "cronjobs")
LEASE = Kind("coordination.k8s.io", "v1", "Lease", "leases")
ROLE = Kind("rbac.authorization.k8s.io", "v1", "Role", "roles")
ROLE_BINDING = Kind("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings")
CLUSTER_ROLE = Kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", namespaced=False)
CLUSTER_ROLE_BINDING = Kind(
    "rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False
)
VALIDATING_WEBHOOK = Kind(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    namespaced=False,
)

STORAGE_CLASS = Kind("storage.k8s.io", "v1", "StorageClass", "storageclasses", namespaced=False)

GROUP = "slurm.nebius.ai"
SLURM_CLUSTER = Kind(GROUP, "v1", "SlurmCluster", "slurmclusters")
NODE_SET = Kind(GROUP, "v1alpha1", "NodeSet", "nodesets")
ACTIVE_CHECK = Kind(GROUP, "v1alpha1", "ActiveCheck", "activechecks")
JAILED_CONFIG = Kind(GROUP, "v1alpha1", "JailedConfig", "jailedconfigs")
NODE_CONFIGURATOR = Kind(GROUP, "v1alpha1", "NodeConfigurator", "nodeconfigurators")
POWER_STATE = Kind(GROUP, "v1alpha1", "NodeSetPowerState", "nodesetpowerstates")

# groups that need no CRD
BUILT_IN = frozenset(
    {"", "apps", "batch", "apiextensions.k8s.io", "coordination.k8s.io", "rbac.authorization.k8s.io"}
    | {"admissionregistration.k8s.io", "policy", "storage.k8s.io"}
)


def name_of(found: Object) -> str:
    """Return an object's name, or "" where it has none."""
    name = dig(found, "metadata", "name")
    return name if isinstance(name, str) else ""


def dig(found: object, *path: str) -> Any:
    """Return what lies at the end of a path of keys, or None where the path ends early."""
    for key in path:
        # almost all are plain, and whether something is any other mapping takes a while to find out
        if type(found) is not dict and (found is None or not isinstance(found, Mapping)):
            return None
        found = found.get(key)
    return found


def condition(found: Object, kind: str) -> Object | None:
    """Return one condition of an object's status."""
    listed = dig(found, "status", "conditions")
    rows = listed if isinstance(listed, list) else []
    return next((row for row in rows if isinstance(row, Mapping) and row.get("type") == kind), None)


def is_true(found: Object, kind: str) -> bool:
    """Say whether a condition of an object is there and True."""
    row = condition(found, kind)
    return row is not None and row.get("status") == "True"
