"""NodeSet: worker nodes of one shape."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from npa.crds import resource
from npa.crds.base import (
    NOTHING,
    Cel,
    Int32,
    IntOrString,
    Items,
    Moment,
    Part,
    Quantity,
    Raw,
    StringMap,
    says,
)
from npa.crds.parts import Image, ProcMount, Resources, Scheduled, SssdCa, SssdConf, SssdLevel, Status
from npa.crds.resource import Object, Resource

CLUSTER_ANNOTATION = "slurm.nebius.ai/parental-cluster-ref"

UpdateStrategy = Literal["rollingUpdate", "slurmAwareRollingUpdate"]
Retention = Literal["Retain", "Delete"]


class Nvidia(Part):
    """NVIDIA's GPUs."""

    gdr_copy_enabled: Annotated[bool, says("whether jobs may copy through GDRCopy")] = False


class Gpu(Part):
    """Whether the nodes have GPUs."""

    enabled: Annotated[bool, says("whether they do")] = False
    nvidia: Annotated[Nvidia, says("NVIDIA's GPUs", written=False)] = Nvidia()


class Docker(Part):
    """Whether jobs may use Docker."""

    enabled: Annotated[bool, says("whether they may")] = True


class Topology(Part):
    """Which network the nodes belong to."""

    fabric: Annotated[str, says("name of the fabric: the root of its switches or blocks")] = "root"


class NodeConfig(Part):
    """What Slurm is told of the nodes."""

    features: Annotated[Items[str], says("Feature: words by which jobs ask for these nodes")] = ()
    auto_resume: Annotated[bool, says("whether a node that comes back takes jobs by itself")] = True
    static: Annotated[str, says("more settings of the nodes' line in slurm.conf")] = ""
    dynamic: Annotated[str, says("text that slurmd says of its node when it starts (--extra)")] = ""
    gres_config: Annotated[Items[str], says("lines of gres.conf about these nodes")] = ()


class Security(Part):
    """What a container may do."""

    limits_config: Annotated[str, says("text of limits.conf in the container", written=False)] = ""
    app_armor_profile: Annotated[
        str, says("AppArmor profile: unconfined, runtime/default or localhost/NAME")
    ] = "unconfined"
    proc_mount: Annotated[ProcMount | None, says("how /proc is mounted")] = None


class SideContainer(Part):
    """A container by image, resources and probes."""

    image: Annotated[Image, says("its image")]
    resources: Annotated[Resources, says("what it asks for and may take at most")]
    liveness_probe: Annotated[Raw | None, says("how Kubernetes sees that it has to be restarted")] = None
    readiness_probe: Annotated[Raw | None, says("how Kubernetes sees that it can be reached")] = None
    security: Annotated[Security, says("what it may do", written=False)] = Security()


class Mount(Part):
    """A volume and where it is mounted: exactly one of a source and a claim of the pod's own."""

    name: Annotated[str, says("name of the volume in the pod")]
    mount_path: Annotated[str, says("where it is mounted")]
    sub_path: Annotated[str, says("path within the volume", written=False)] = ""
    read_only: Annotated[bool, says("whether it is mounted for reading only", written=False)] = False
    volume_source: Annotated[Raw | None, says("the volume")] = None
    volume_claim_template_spec: Annotated[Raw | None, says("claim that is made for each pod")] = None


class RetentionPolicy(Part):
    """What becomes of the claims of pods that go."""

    when_deleted: Annotated[Retention, says("when the NodeSet is deleted")] = "Delete"
    when_scaled: Annotated[Retention, says("when the NodeSet gets smaller")] = "Delete"


class Volumes(Part):
    """The volumes of a worker."""

    spool: Annotated[Raw, says("where slurmd keeps its state: a volume source, or `volumeClaimTemplateSpec`")]
    jail: Annotated[Raw, says("the root filesystem that users see")]
    jail_sub_mounts: Annotated[Items[Mount], says("volumes within the jail")] = ()
    custom_volume_mounts: Annotated[Items[Mount], says("more volumes, outside the jail")] = ()
    shared_memory_size: Annotated[Quantity, says("size of /dev/shm")] = "64Gi"
    retention: Annotated[
        RetentionPolicy,
        says("what becomes of claims", alias="persistentVolumeClaimRetentionPolicy"),
    ] = RetentionPolicy()


class Slurmd(SideContainer):
    """The container that runs slurmd and the jobs."""

    custom_env: Annotated[Items[Raw], says("more environment variables")] = ()
    port: Annotated[Int32, says("port that slurmd listens at")] = 6818
    volumes: Annotated[Volumes, says("its volumes")]


class NodeSetSpec(Scheduled):
    """What is asked of the workers."""

    RULES: ClassVar[tuple[Cel, ...]] = (
        Cel(
            "!has(self.maxUnavailable) || (type(self.maxUnavailable) == int"
            " ? self.maxUnavailable >= 1 && self.maxUnavailable <= 500"
            " : string(self.maxUnavailable).matches('^[1-9][0-9]*%$')"
            " && int(string(self.maxUnavailable).replace('%', ''))"
            " * (has(self.replicas) ? self.replicas : 1) < 50100)",
            "maxUnavailable must be 1 to 500, or a percentage of replicas that is at most 500",
        ),
    )

    cluster_name: Annotated[
        str, says("name of the SlurmCluster, of the same namespace, whose nodes they are", written=False)
    ] = ""
    replicas: Annotated[Int32, says("how many workers there are, or may be where they are ephemeral")] = 1
    max_unavailable: Annotated[
        IntOrString, says("how many workers, or which part of them, may start or be replaced at once")
    ] = 500
    update_strategy: Annotated[
        UpdateStrategy,
        says(
            "how a changed worker is replaced: with both its jobs end first, unless with `rollingUpdate`"
            " the annotation `slurm.nebius.ai/end-jobs` is `true`"
        ),
    ] = "rollingUpdate"
    ephemeral_nodes: Annotated[bool, says("whether Slurm starts and stops workers as jobs need them")] = False
    initial_number_ephemeral_nodes: Annotated[Int32, says("ephemeral workers that start at first", ge=0)] = 1
    ephemeral_topology_wait_timeout: Annotated[
        Int32, says("seconds that a starting worker waits for its place in the topology", ge=60)
    ] = 180
    enable_host_user_namespace: Annotated[bool, says("whether the pods share the host's user namespace")] = (
        False
    )
    worker_init_random_delay_seconds: Annotated[
        Int32, says("most seconds that a starting worker waits, so that not all ask at once", ge=0)
    ] = 0
    slurmd: Annotated[Slurmd, says("the container of slurmd and the jobs")]
    munge: Annotated[SideContainer | None, says("container of munged")] = None
    sssd: Annotated[SideContainer | None, says("container of SSSD")] = None
    sssd_debug_level: SssdLevel = 0
    sssd_conf_secret_ref_name: SssdConf = ""
    sssd_ldap_ca: SssdCa = ""
    node_config: Annotated[NodeConfig, says("what Slurm is told of the nodes", written=False)] = NodeConfig()
    gpu: Annotated[Gpu, says("whether the nodes have GPUs", written=False)] = Gpu()
    docker: Annotated[Docker, says("whether jobs may use Docker", written=False)] = Docker()
    topology: Annotated[Topology, says("which network the nodes belong to", written=False)] = Topology()
    config_map_ref_supervisord: Annotated[
        str, says("name of the ConfigMap whose `supervisord.conf` is used", written=False)
    ] = ""
    config_map_ref_sshd: Annotated[
        str, says("name of the ConfigMap whose `sshd_config` is used", written=False)
    ] = ""
    priority_class: Annotated[str, says("name of the pods' PriorityClass", written=False)] = ""
    worker_annotations: Annotated[StringMap, says("annotations of the pods")] = NOTHING
    custom_init_containers: Annotated[
        Items[Raw], says("init containers and native sidecars that run before everything else")
    ] = ()
    image_pull_secrets: Annotated[Items[Raw], says("secrets that allow the images to be pulled")] = ()


class PlannedStep(Part):
    """What is about to be done to workers, said before it is done."""

    step: Annotated[str, says("`remove` or `replace`: both wait until no job runs there")]
    nodes: Annotated[str, says("the workers, as a Slurm hostlist")]
    reason: Annotated[str, says("why")]


class StartFailure(Part):
    """A worker whose pod ended, and how often it did."""

    node: Annotated[str, says("the worker")]
    pod: Annotated[str, says("uid of the last pod that ended")]
    count: Annotated[Int32, says("pods that ended one after the other")]
    at: Annotated[Moment, says("when the last one was seen to have ended")]


class NodeSetStatus(Status):
    """What became of them."""

    phase: Annotated[str, says("in one word")] = "Pending"
    replicas: Annotated[Int32, says("workers that are ready")]
    label_selector: Annotated[str, says("labels that select the pods", written=False)] = ""
    plan: Annotated[Items[PlannedStep], says("what is about to be done to workers")] = ()
    failures: Annotated[Items[StartFailure], says("workers whose pods ended, until they last")] = ()


class NodeSet(Resource):
    """Worker nodes of one shape, named `<name>-0`, `<name>-1` and so on."""

    spec: NodeSetSpec

    @property
    def cluster(self) -> str:
        """Name of its SlurmCluster; "" where neither the field nor the former annotation names one."""
        return self.spec.cluster_name or self.metadata.annotations.get(CLUSTER_ANNOTATION, "")


def parse(obj: Object) -> NodeSet:
    """Return an object as a NodeSet; SpecError with everything that is wrong with it."""
    return resource.parse(NodeSet, obj)
