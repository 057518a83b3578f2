"""The settings of slurm.conf that have fields of their own, and our defaults on Kubernetes."""

from __future__ import annotations

from collections.abc import Iterator

from npa.cluster.model import Cluster
from npa.crds.slurmcluster import SlurmClusterSpec
from npa.render.kube.context import Context

Pair = tuple[str, str]


def settings(spec: SlurmClusterSpec) -> tuple[Pair, ...]:
    """Return what the fields of a SlurmCluster say, without those that say nothing."""
    return tuple((key, str(value)) for key, value in _settings(spec) if value not in ("", None))


def _settings(spec: SlurmClusterSpec) -> Iterator[tuple[str, object]]:
    said = spec.slurm_config
    # 0 is Slurm's own "all of it": a job that names no memory would have its whole node, so that then a share
    # for each CPU, which we set otherwise, is the better default
    yield "DefMemPerNode", said.def_mem_per_node or ""
    yield "CompleteWait", said.complete_wait
    yield "Epilog", said.epilog
    yield "Prolog", said.prolog
    yield "TaskProlog", said.task_prolog
    yield "TaskPluginParam", said.task_plugin_param
    yield "MaxJobCount", said.max_job_count
    yield "MinJobAge", said.min_job_age
    yield "MessageTimeout", said.message_timeout
    yield "TopologyParam", said.topology_param if said.topology_plugin else ""
    yield "SuspendTime", said.suspend_time
    yield "ResumeTimeout", said.resume_timeout
    check = spec.health_check_config
    if check is not None:
        yield "HealthCheckInterval", check.health_check_interval
        yield "HealthCheckProgram", check.health_check_program
        states = (each.state for each in check.health_check_node_state)
        yield "HealthCheckNodeState", ",".join(dict.fromkeys(states))
    if spec.slurm_nodes.accounting.enabled:
        yield from _accounting(spec)


def _accounting(spec: SlurmClusterSpec) -> Iterator[tuple[str, object]]:
    said = spec.slurm_nodes.accounting.slurm_config
    yield "AccountingStoreFlags", said.accounting_store_flags
    yield "AcctGatherInterconnectType", said.acct_gather_interconnect_type
    yield "AcctGatherFilesystemType", said.acct_gather_filesystem_type
    yield "AcctGatherProfileType", said.acct_gather_profile_type
    yield "JobAcctGatherType", said.job_acct_gather_type
    yield "JobAcctGatherFrequency", said.job_acct_gather_frequency
    yield "JobAcctGatherParams", said.job_acct_gather_params
    yield "PriorityWeightAge", said.priority_weight_age
    yield "PriorityWeightFairshare", said.priority_weight_fairshare
    yield "PriorityWeightQOS", said.priority_weight_qos
    yield "PriorityWeightTRES", said.priority_weight_tres


def defaults(context: Context, cluster: Cluster) -> tuple[Pair, ...]:
    """Return what holds on Kubernetes, where a pod takes minutes to come back, unless a field differs."""
    given = {key.lower() for key, _ in cluster.slurm_settings}
    return tuple(pair for pair in _defaults(context, cluster) if pair[0].lower() not in given)


def _defaults(context: Context, cluster: Cluster) -> Iterator[Pair]:
    gpus = any(pool.machine.gpus for pool in cluster.pools)
    if gpus:
        yield "DefCpuPerGPU", str(context.spec.slurm_config.def_cpu_per_gpu)
    # a daemon in the foreground logs to its container's log as well
    yield "SlurmctldLogFile", "/dev/null"
    yield "SlurmdLogFile", "/dev/null"
    yield "SlurmctldTimeout", "180"
    yield "SlurmdTimeout", "180"
    yield "TCPTimeout", "15"
    yield "KillWait", "180"
    yield "UnkillableStepTimeout", str(max(600, 5 * context.spec.slurm_config.message_timeout))
    yield "SuspendTimeout", "90"
    yield "JobRequeue", "1"
    yield "PropagateResourceLimits", "NONE"
    port = context.spec.slurm_nodes.controller.slurmctld.port
    if port:
        yield "SlurmctldPort", str(port)
    if cluster.accounting:
        yield (
            "AccountingStorageTRES",
            context.spec.slurm_nodes.accounting.slurm_config.accounting_storage_tres,
        )
        dbd = context.spec.slurm_nodes.accounting.slurmdbd
        if dbd is not None and dbd.port:
            yield "AccountingStoragePort", str(dbd.port)
    if not context.spec.slurm_nodes.controller.open_metrics.enabled:
        yield "MetricsType", ""
    if context.spec.slurm_config.def_mem_per_node:
        yield "DefMemPerCPU", ""  # Slurm has one of the two
    plugin = context.spec.slurm_config.topology_plugin
    if plugin != "topology/tree":
        yield "TopologyPlugin", plugin
