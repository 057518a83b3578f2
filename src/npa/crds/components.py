"""The components of a SlurmCluster other than accounting: what runs, where, and with which volumes."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from npa.crds.base import (
    DURATION_PATTERN,
    NOTHING,
    Cel,
    Int32,
    Int64,
    Items,
    Part,
    Quantity,
    Raw,
    StringMap,
    says,
)
from npa.crds.parts import (
    Container,
    NodeVolume,
    NodeVolumeMount,
    Pulled,
    SizedNode,
    SlurmNode,
    SssdCa,
    SssdConf,
    SssdLevel,
)

Endpoint = Literal["jobs", "jobs-users-accts", "nodes", "partitions", "scheduler"]
JobSource = Literal["controller", "accounting"]


class ControllerVolumes(Part):
    """The volumes of the controller."""

    spool: Annotated[NodeVolume, says("where slurmctld keeps its state")]
    jail: Annotated[NodeVolume, says("the root filesystem that users see")]
    custom_mounts: Annotated[Items[NodeVolumeMount], says("more volumes")] = ()


class LoginVolumes(Part):
    """The volumes of the login nodes."""

    jail: Annotated[NodeVolume, says("the root filesystem that users see")]
    jail_sub_mounts: Annotated[Items[NodeVolumeMount], says("volumes within the jail")] = ()
    custom_mounts: Annotated[Items[NodeVolumeMount], says("more volumes, outside the jail")] = ()


class ExporterVolumes(Part):
    """The volumes of the exporter; no longer used."""

    jail: Annotated[NodeVolume, says("the root filesystem that users see")]


class ServiceMonitor(Part):
    """How Prometheus asks slurmctld."""

    interval: Annotated[str, says("how often", pattern=DURATION_PATTERN)] = "30s"
    scrape_timeout: Annotated[str, says("for how long", pattern=DURATION_PATTERN)] = "28s"
    endpoints: Annotated[Items[Endpoint], says("which metrics; all of them where none is named")] = ()


class OpenMetrics(Part):
    """slurmctld's own metrics."""

    enabled: Annotated[bool, says("whether slurmctld serves metrics")] = True
    service_monitor: Annotated[ServiceMonitor, says("how Prometheus asks for them")] = ServiceMonitor()


class Controller(SlurmNode):
    """slurmctld; there is always one."""

    slurmctld: Annotated[Container, says("container of slurmctld")]
    munge: Annotated[Container | None, says("container of munged")] = None
    sssd: Annotated[Container | None, says("container of SSSD")] = None
    sssd_debug_level: SssdLevel = 0
    sssd_conf_secret_ref_name: SssdConf = ""
    sssd_ldap_ca: SssdCa = ""
    volumes: Annotated[ControllerVolumes, says("volumes of the controller")]
    service_account_name: Annotated[str, says("name of the pod's ServiceAccount", written=False)] = ""
    open_metrics: Annotated[OpenMetrics, says("slurmctld's own metrics")] = OpenMetrics()


class UserIsolation(Part):
    """How much of a login node one user may take."""

    RULES: ClassVar[tuple[Cel, ...]] = (
        Cel(
            "!has(self.memoryHigh) || !has(self.memoryMax) || "
            "quantity(string(self.memoryHigh)).compareTo(quantity(string(self.memoryMax))) <= 0",
            "memoryHigh must not be more than memoryMax",
        ),
    )

    enabled: Annotated[bool, says("whether users are kept apart")] = False
    memory_high: Annotated[Quantity | None, says("memory above which a user's processes are slowed")] = None
    memory_max: Annotated[Quantity | None, says("memory above which a user's processes are killed")] = None
    cpu_weight: Annotated[Int64, says("share of the CPUs where they are short", ge=1, le=10000)] = 100


class Login(SizedNode):
    """The nodes that users log in to."""

    sshd: Annotated[Container, says("container of sshd")]
    munge: Annotated[Container | None, says("container of munged")] = None
    sssd: Annotated[Container | None, says("container of SSSD")] = None
    sssd_debug_level: SssdLevel = 0
    sssd_conf_secret_ref_name: SssdConf = ""
    sssd_ldap_ca: SssdCa = ""
    ssh_root_public_keys: Annotated[Items[str], says("keys by which root may log in")]
    sshd_config_map_ref_name: Annotated[
        str, says("name of the ConfigMap whose `sshd_config` is used", written=False)
    ] = ""
    sshd_service_type: Annotated[str, says("LoadBalancer, NodePort or ClusterIP")]
    sshd_service_annotations: Annotated[StringMap, says("annotations of the Service")] = NOTHING
    sshd_service_load_balancer_ip: Annotated[
        str, says("address of the load balancer", alias="sshdServiceLoadBalancerIP", written=False)
    ] = ""
    sshd_service_load_balancer_source_ranges: Annotated[
        Items[str], says("networks from which it can be reached")
    ] = ()
    sshd_service_node_port: Annotated[Int32, says("port on every node, with NodePort; 0 for any")] = 0
    volumes: Annotated[LoginVolumes, says("volumes of the login nodes")]
    user_isolation: Annotated[UserIsolation, says("how much one user may take", written=False)] = (
        UserIsolation()
    )


class Rest(SizedNode):
    """slurmrestd, the REST API."""

    enabled: Annotated[bool, says("whether there is a REST API")] = False
    thread_count: Annotated[Int32, says("threads of slurmrestd", ge=2, le=1024)] = 3
    max_connections: Annotated[Int32, says("connections at once", ge=2)] = 10
    rest: Annotated[Container | None, says("container of slurmrestd")] = None


class ExporterContainer(Container):
    """The exporter's container as it was given formerly."""

    pod_template_name_ref: Annotated[str, says("name of a PodTemplate", written=False)] = ""


class PodMonitor(Part):
    """How Prometheus asks the exporter."""

    interval: Annotated[str, says("how often", pattern=DURATION_PATTERN, written=False)] = ""
    scrape_timeout: Annotated[str, says("for how long", pattern=DURATION_PATTERN, written=False)] = ""
    job_label: Annotated[str, says("label that names the job", written=False)] = ""
    metric_relabel_configs: Annotated[Items[Raw], says("relabelling of metrics")] = ()
    relabel_config: Annotated[Items[Raw], says("relabelling of targets")] = ()


class Exporter(SizedNode):
    """The exporter of metrics about jobs and nodes."""

    enabled: Annotated[bool, says("whether there is an exporter")] = False
    collection_interval: Annotated[str, says("how often it asks Slurm", pattern=DURATION_PATTERN)] = "30s"
    max_collector_inflight: Annotated[Int32, says("questions to Slurm at once", ge=1)] = 1
    job_source: Annotated[JobSource, says("who is asked about jobs")] = "controller"
    accounting_jobs_lookback: Annotated[
        str,
        says(
            "how far back accounting is asked",
            pattern=DURATION_PATTERN,
            cel=(Cel("self.matches('[1-9]')", "must be more than 0"),),
        ),
    ] = "1h"
    pod_monitor_config: Annotated[PodMonitor, says("how Prometheus asks it")] = PodMonitor.model_validate(
        {"interval": "30s", "jobLabel": "slurm-exporter", "scrapeTimeout": "20s"}
    )
    exporter_container: Annotated[Container | None, says("container of the exporter")] = None
    exporter: Annotated[ExporterContainer | None, says("no longer used; see `exporterContainer`")] = None
    munge: Annotated[Container | None, says("no longer used")] = None
    volumes: Annotated[ExporterVolumes | None, says("no longer used")] = None
    service_account_name: Annotated[str, says("name of the pods' ServiceAccount", written=False)] = ""


class PopulateJail(Pulled):
    """The job that fills the jail with a root filesystem."""

    host_users: Annotated[bool | None, says("whether the pod shares the host's user namespace")] = None
    k8s_node_filter_name: Annotated[
        str, says("name of the entry of `k8sNodeFilters` that says where it runs", written=False)
    ] = ""
    priority_class: Annotated[str, says("name of the pod's PriorityClass", written=False)] = ""
    overwrite: Annotated[bool, says("whether a jail that is filled already is filled anew")] = False
    jail_snapshot_volume: Annotated[
        NodeVolume | None, says("volume with the root filesystem, instead of the image's own")
    ] = None


class ConfigController(Part):
    """The process that carries Slurm's files into the jail."""

    RULES: ClassVar[tuple[Cel, ...]] = (
        Cel(
            "!has(self.reconfigurePollInterval) || !has(self.reconfigureWaitTimeout) || "
            "duration(self.reconfigureWaitTimeout) > duration(self.reconfigurePollInterval)",
            "reconfigureWaitTimeout must be more than reconfigurePollInterval",
        ),
    )

    node: Annotated[SizedNode | None, says("where it runs")] = None
    container: Annotated[Container | None, says("its container")] = None
    host_users: Annotated[bool | None, says("whether the pods share the host's user namespace")] = None
    run_as_uid: Annotated[Int64 | None, says("user that it runs as")] = None
    run_as_gid: Annotated[Int64 | None, says("group that it runs as")] = None
    reconfigure_poll_interval: Annotated[str, says("how often it looks whether nodes have taken it")] = "20s"
    reconfigure_wait_timeout: Annotated[str, says("how long nodes may take")] = "5m"
    service_account_name: Annotated[str, says("name of its ServiceAccount", min_length=1)]
