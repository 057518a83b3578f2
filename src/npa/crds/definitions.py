"""The CustomResourceDefinitions of the API, made of its models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from npa.crds import activecheck, jailedconfig, nodeconfigurator, nodeset, powerstate, schema, slurmcluster
from npa.crds.base import Part
from npa.crds.resource import Resource

GROUP = "slurm.nebius.ai"
CATEGORY = "slurm"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`."""

    name: str
    path: str
    type: str = "string"


@dataclass(frozen=True, slots=True)
class Api:
    """A kind of the API: what it is called, what it holds, and what `kubectl get` shows of it."""

    model: type[Resource]
    status: type[Part]
    version: str
    plural: str
    short: str
    columns: tuple[Column, ...]
    scales: bool = False

    @property
    def kind(self) -> str:
        """The kind's name."""
        return self.model.__name__

    @property
    def spec(self) -> type[Part]:
        """What may be asked of an object of this kind."""
        found = schema.part_in(self.model.model_fields["spec"].annotation)
        assert found is not None
        return found


def _true(condition: str) -> str:
    return f".status.conditions[?(@.type=='{condition}')].status"


def _why(condition: str) -> str:
    return f".status.conditions[?(@.type=='{condition}')].reason"


AGE = Column("Age", ".metadata.creationTimestamp", "date")

APIS = (
    Api(
        slurmcluster.SlurmCluster,
        slurmcluster.SlurmClusterStatus,
        "v1",
        "slurmclusters",
        "slc",
        (
            Column("Status", ".status.phase"),
            Column("Controllers", _true("ControllersAvailable")),
            Column("Login", ".status.readyLogin", "integer"),
            Column("SConfigCtrl", _true("SConfigControllerAvailable")),
            Column("Accounting", _true("AccountingAvailable")),
            AGE,
        ),
    ),
    Api(
        nodeset.NodeSet,
        nodeset.NodeSetStatus,
        "v1alpha1",
        "nodesets",
        "nset",
        (
            Column("Status", ".status.phase"),
            Column("Desired", ".spec.replicas", "integer"),
            Column("Ready", ".status.replicas", "integer"),
            Column("Ephemeral", ".spec.ephemeralNodes", "boolean"),
            AGE,
        ),
        scales=True,
    ),
    Api(
        activecheck.ActiveCheck,
        activecheck.ActiveCheckStatus,
        "v1alpha1",
        "activechecks",
        "achk",
        (
            Column("Type", ".spec.checkType"),
            Column("Init", ".spec.runAfterCreation", "boolean"),
            Column("Suspend", ".spec.suspend", "boolean"),
            Column("Schedule", ".spec.schedule"),
            Column("K8s Status", ".status.k8sJobsStatus.lastJobStatus"),
            Column("Slurm Status", ".status.slurmJobsStatus.lastRunStatus"),
            Column("Slurm Submit Time", ".status.slurmJobsStatus.lastRunSubmitTime", "date"),
            Column("Slurm ID", ".status.slurmJobsStatus.lastRunId"),
            AGE,
        ),
    ),
    Api(
        jailedconfig.JailedConfig,
        jailedconfig.JailedConfigStatus,
        "v1alpha1",
        "jailedconfigs",
        "jcfg",
        (
            Column("Files Written", _why("FilesWritten")),
            Column("Reconfiguration Status", _why("UpdateActionsCompleted")),
            Column("Jailed Path", ".spec.items[0].path"),
            AGE,
        ),
    ),
    Api(
        nodeconfigurator.NodeConfigurator,
        nodeconfigurator.NodeConfiguratorStatus,
        "v1alpha1",
        "nodeconfigurators",
        "ncfg",
        (
            Column("Rebooter Enabled", ".spec.rebooter.enabled", "boolean"),
            Column("NodeConfigurator Enabled", ".spec.customContainer.enabled", "boolean"),
            AGE,
        ),
    ),
    Api(
        powerstate.NodeSetPowerState,
        powerstate.PowerStateStatus,
        "v1alpha1",
        "nodesetpowerstates",
        "nsps",
        (
            Column("NodeSet", ".spec.nodeSetRef"),
            Column("Active", ".status.activeCount", "integer"),
            Column("Ready", _true("Ready")),
            AGE,
        ),
    ),
)


def render() -> tuple[dict[str, Any], ...]:
    """Return the definitions of all kinds."""
    return tuple(definition(each) for each in APIS)


def definition(api: Api) -> dict[str, Any]:
    """Return the definition of one kind."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{api.plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": api.kind,
                "listKind": f"{api.kind}List",
                "plural": api.plural,
                "singular": api.kind.lower(),
                "shortNames": [api.short],
                "categories": [CATEGORY],
            },
            "versions": [_version(api)],
        },
    }


def root(api: Api) -> dict[str, Any]:
    """Return the schema of a whole object."""
    return {
        "type": "object",
        "description": schema.sentence(api.model.__doc__ or ""),
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string", "description": "Version of the API."},
            "kind": {"type": "string", "description": "Kind of the object."},
            "metadata": {"type": "object"},
            "spec": schema.of(api.spec),
            "status": schema.of(api.status),
        },
    }


def _version(api: Api) -> dict[str, Any]:
    scale = {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.labelSelector",
    }
    return {
        "name": api.version,
        "served": True,
        "storage": True,
        "subresources": {"status": {}, **({"scale": scale} if api.scales else {})},
        "additionalPrinterColumns": [
            {"name": each.name, "type": each.type, "jsonPath": each.path} for each in api.columns
        ],
        "schema": {"openAPIV3Schema": root(api)},
    }
