"""SlurmCluster: a whole Slurm cluster but for its workers."""

from __future__ import annotations

from typing import Annotated, Literal

from npa.crds import resource
from npa.crds.accounting import Accounting
from npa.crds.base import NOTHING, Int32, Items, Part, Raw, StringMap, says
from npa.crds.components import ConfigController, Controller, Exporter, Login, PopulateJail, Rest
from npa.crds.parts import Inline, Status
from npa.crds.resource import Object, Resource
from npa.crds.settings import (
    HealthCheckConfig,
    MpiConfig,
    PartitionConfiguration,
    PlugStackConfig,
    SlurmConfig,
    Topology,
)

Maintenance = Literal[
    "none",
    "downscale",
    "downscaleAndDeletePopulateJail",
    "downscaleAndOverwritePopulateJail",
    "skipPopulateJail",
]
CgroupVersion = Literal["v1", "v2"]


class NodeFilter(Part):
    """Where pods run, under a name that components use."""

    name: Annotated[str, says("name of the filter", min_length=1)]
    affinity: Annotated[Raw | None, says("affinity of the pods")] = None
    node_selector: Annotated[StringMap, says("labels that a node has to have")] = NOTHING
    tolerations: Annotated[Items[Raw], says("taints that the pods tolerate")] = ()


class VolumeSource(Inline):
    """A volume under a name that components use."""

    name: Annotated[str, says("name of the source", min_length=1)]


class Secrets(Part):
    """Secrets of the user's own."""

    sshd_keys_name: Annotated[
        str, says("name of the Secret with the login nodes' host keys", written=False)
    ] = ""


class SlurmNodes(Part):
    """The components of the cluster."""

    accounting: Annotated[Accounting, says("who used what", written=False)] = Accounting()
    controller: Annotated[Controller, says("slurmctld")]
    login: Annotated[Login, says("the nodes that users log in to")]
    exporter: Annotated[Exporter, says("metrics about jobs and nodes", written=False)] = Exporter()
    rest: Annotated[Rest, says("the REST API", written=False)] = Rest()


class SlurmClusterSpec(Part):
    """What is asked of a cluster."""

    cr_version: Annotated[str, says("version that the manifest was written for", written=False)] = ""
    maintenance: Annotated[Maintenance, says("what is stopped for maintenance")] = "none"
    cgroup_version: Annotated[CgroupVersion, says("version of the nodes' control groups")] = "v2"
    use_default_app_armor_profile: Annotated[bool, says("confine every container by one profile")] = False
    k8s_node_filters: Annotated[Items[NodeFilter], says("named places where components run")] = ()
    volume_sources: Annotated[Items[VolumeSource], says("named volumes that components use")] = ()
    secrets: Annotated[Secrets, says("secrets of your own", written=False)] = Secrets()
    populate_jail: Annotated[PopulateJail, says("how the jail is filled")]
    slurm_nodes: Annotated[SlurmNodes, says("the components")]
    slurm_config: Annotated[SlurmConfig, says("settings of slurm.conf")] = SlurmConfig()
    custom_slurm_config: Annotated[
        str, says("more lines of slurm.conf; they are checked before slurmctld reads them", written=False)
    ] = ""
    custom_cgroup_config: Annotated[str, says("more lines of cgroup.conf", written=False)] = ""
    mpi_config: Annotated[MpiConfig, says("settings of mpi.conf")] = MpiConfig()
    topology: Annotated[Topology, says("how nodes are grouped", written=False)] = Topology()
    partition_configuration: Annotated[
        PartitionConfiguration, says("which partitions there are", written=False)
    ] = PartitionConfiguration()
    health_check_config: Annotated[HealthCheckConfig | None, says("how slurmd checks its node")] = None
    plug_stack_config: Annotated[PlugStackConfig, says("the SPANK plug-ins")] = PlugStackConfig()
    s_config_controller: Annotated[ConfigController | None, says("how Slurm's files get into the jail")] = (
        None
    )


class SlurmClusterStatus(Status):
    """What became of it."""

    phase: Annotated[str, says("in one word", written=False)] = ""
    ready_login: Annotated[Int32 | None, says("login nodes that can be logged in to")] = None
    ready_s_config_controller: Annotated[Int32 | None, says("always 0", alias="readySConfigController")] = (
        None
    )


class SlurmCluster(Resource):
    """A Slurm cluster: its controller, accounting, login nodes and settings."""

    spec: SlurmClusterSpec


def parse(obj: Object) -> SlurmCluster:
    """Return an object as a SlurmCluster; SpecError with everything that is wrong with it."""
    return resource.parse(SlurmCluster, obj)
