"""Slurm's own settings in a SlurmCluster: slurm.conf, partitions, health checks, plug-ins."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from npa.crds.base import NOTHING, Cel, Int32, Int64, Items, Part, StringMap, says

NodeState = Literal["ALLOC", "ANY", "CYCLE", "IDLE", "NONDRAINED_IDLE", "MIXED"]
Partitioning = Literal["default", "custom", "structured"]
NcclLevel = Literal["VERSION", "WARN", "INFO", "TRACE"]

LOGS = "/opt/soperator-outputs/local/nccl_logs"
PROFILES = "/opt/soperator-outputs/shared/nccl_profiles/%j/%s"
PROFILER = "/usr/lib/x86_64-linux-gnu/libnccl-profiler-inspector.so"
IMPORTER = "/opt/slurm_scripts/pyxis_caching_importer.sh"


class SlurmConfig(Part):
    """Settings of slurm.conf that have a field of their own."""

    def_mem_per_node: Annotated[Int32, says("DefMemPerNode, in MiB; 0 is all of the node's")] = 0
    def_cpu_per_gpu: Annotated[
        Int32, says("DefCpuPerGPU: CPUs that a job gets with each GPU", alias="defCpuPerGPU")
    ] = 4
    complete_wait: Annotated[Int32, says("CompleteWait, in seconds")] = 5
    epilog: Annotated[str, says("Epilog: program that runs as root after each job")] = ""
    prolog: Annotated[str, says("Prolog: program that runs as root before each job")] = ""
    task_prolog: Annotated[str, says("TaskProlog: program that runs as the user before each task")] = ""
    task_plugin_param: Annotated[str, says("TaskPluginParam")] = ""
    max_job_count: Annotated[Int32, says("MaxJobCount: jobs that slurmctld holds at once")] = 20000
    min_job_age: Annotated[Int32, says("MinJobAge: seconds that an ended job is remembered")] = 1800
    message_timeout: Annotated[Int32, says("MessageTimeout, in seconds")] = 60
    topology_plugin: Annotated[str, says("TopologyPlugin; empty for none")] = "topology/tree"
    topology_param: Annotated[str, says("TopologyParam")] = "SwitchAsNodeRank"
    suspend_time: Annotated[
        Int32, says("SuspendTime: seconds that an ephemeral node idles before it is stopped")
    ] = 1_000_000_000
    resume_timeout: Annotated[
        Int32, says("ResumeTimeout: seconds within which a started node has to register", ge=1)
    ] = 1800


class MpiConfig(Part):
    """Settings of mpi.conf."""

    pmix_env: Annotated[
        str, says("PMIxEnv: environment of PMIx processes, as A=1;B=2; needs images with mpi/pmix")
    ] = "OMPI_MCA_btl_tcp_if_include=eth0"


class Topology(Part):
    """How nodes are grouped for scheduling."""

    block_size: Annotated[int, says("nodes of one block, with `topology/block`")] = 18


class Partition(Part):
    """A partition that is made of NodeSets."""

    name: Annotated[str, says("name of the partition", min_length=1)]
    is_all: Annotated[bool, says("whether it holds every node")] = False
    node_set_refs: Annotated[Items[str], says("names of the NodeSets that it holds")] = ()
    config: Annotated[str, says("more settings of its line in slurm.conf", written=False)] = ""


class PartitionConfiguration(Part):
    """Which partitions there are."""

    RULES: ClassVar[tuple[Cel, ...]] = (
        Cel(
            "self.configType != 'structured' || (has(self.partitions) && size(self.partitions) > 0)",
            "structured needs at least one entry of `partitions`",
        ),
    )

    config_type: Annotated[
        Partitioning,
        says("default: `main` and `hidden`, of all nodes; custom: `rawConfig`; structured: `partitions`"),
    ] = "default"
    raw_config: Annotated[Items[str], says("lines that begin with PartitionName, with `custom`")] = ()
    partitions: Annotated[Items[Partition], says("partitions, with `structured`")] = ()


class HealthCheckNodeState(Part):
    """A state in which nodes are checked."""

    state: Annotated[NodeState, says("one of HealthCheckNodeState's words")]


class HealthCheckConfig(Part):
    """The program by which slurmd checks its node."""

    health_check_interval: Annotated[Int32, says("HealthCheckInterval, in seconds")]
    health_check_program: Annotated[str, says("HealthCheckProgram")]
    health_check_node_state: Annotated[
        Items[HealthCheckNodeState], says("states in which a node is checked", min_length=1)
    ]


class Pyxis(Part):
    """The plug-in by which jobs run in containers."""

    required: Annotated[bool, says("whether a job fails where the plug-in does")] = True
    container_image_save: Annotated[str, says("no longer used", written=False)] = ""
    importer_path: Annotated[str, says("program that imports images")] = IMPORTER
    use_squashfuse: Annotated[bool, says("mount images instead of unpacking them")] = False


class NcclDebug(Part):
    """The plug-in that keeps NCCL's logs of each job."""

    enabled: Annotated[bool, says("whether logs are kept unless a job says otherwise")] = False
    required: Annotated[bool, says("whether a job fails where the plug-in does")] = False
    log_level: Annotated[NcclLevel, says("NCCL_DEBUG")] = "INFO"
    output_to_file: Annotated[bool, says("write to a file")] = True
    output_to_std_out: Annotated[bool, says("write to the job's output")] = False
    output_directory: Annotated[str, says("where the files are")] = LOGS


class NcclInspector(Part):
    """The plug-in that sets up NCCL's profiler for each job."""

    enabled: Annotated[
        bool, says("whether jobs are profiled; without this mapping they are not, with it they are")
    ] = True
    required: Annotated[bool, says("whether a job fails where the plug-in does")] = False
    profiler_plugin: Annotated[str, says("library of the profiler")] = PROFILER
    dump_dir: Annotated[str, says("where profiles are written")] = PROFILES
    dump_verbose: Annotated[bool, says("write every event")] = False
    dump_thread_interval_microseconds: Annotated[Int64, says("how often it writes")] = 1_000_000


class CustomPlugin(Part):
    """A SPANK plug-in of the user's."""

    path: Annotated[str, says("path of the plug-in on the nodes")]
    required: Annotated[bool, says("whether a job fails where the plug-in does")] = False
    arguments: Annotated[StringMap, says("its arguments", written=True)] = NOTHING


class PlugStackConfig(Part):
    """The SPANK plug-ins of plugstack.conf."""

    pyxis: Annotated[Pyxis, says("containers for jobs")] = Pyxis()
    nccl_debug: Annotated[NcclDebug, says("NCCL's logs")] = NcclDebug()
    nccl_inspector_pre_conf: Annotated[NcclInspector, says("NCCL's profiler")] = NcclInspector(enabled=False)
    custom_plugins: Annotated[Items[CustomPlugin], says("more plug-ins", written=True)] = ()
