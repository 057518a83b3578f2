"""slurm.conf: what every daemon and every client of a cluster agree on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npa.cluster.model import Cluster, Partition, Pool
from npa.slurm import conf, gres, hostlist, quantity, topology, version
from npa.slurm.conf import ConfError, Line
from npa.slurm.runtime import PoolSite, Runtime, Site

OWN = "lines of the user's own"
# Keys that only npa writes, in lower case: nodes and partitions come from the spec, and with another name,
# host, key or path the daemons would not find one another, their state or the jail.
MANAGED = frozenset(
    {"clustername", "slurmctldhost", "controlmachine", "controladdr", "backupcontroller", "slurmuser"}
    | {"slurmduser", "authtype", "authinfo", "authalttypes", "authaltparameters", "credtype"}
    | {"statesavelocation", "slurmdspooldir", "slurmctldpidfile", "slurmdpidfile", "slurmctldlogfile"}
    | {"slurmdlogfile", "slurmctldport", "slurmdport", "slurmctldparameters", "slurmdparameters"}
    | {"grestypes", "plugstackconfig", "topologyplugin", "accountingstoragetype", "accountingstoragehost"}
    | {"accountingstorageport", "nodename", "nodeset", "partitionname", "downnodes", "frontendname"}
    | {"reconfigflags", "resumefailprogram", "resumeprogram", "resumerate", "suspendexcnodes"}
    | {"suspendexcparts", "suspendexcstates", "suspendprogram", "suspendrate"}
)


def render(cluster: Cluster, runtime: Runtime) -> str:
    """Return slurm.conf: settings, the user's settings, then nodes and partitions."""
    site = runtime.site
    custom = conf.keys(site.slurm_conf)
    wanted = [_user_line(key, value) for key, value in cluster.slurm_settings if key.lower() not in custom]
    placed = [conf.line(pair) for pair in site.settings if pair[1] and pair[0].lower() not in custom]
    chosen = {line.key for line in wanted} | {key.lower() for key, _ in site.settings} | custom
    settings = (line for line in _settings(cluster, runtime) if line.key not in chosen)
    blocks: list[Iterable[Line]] = [(conf.comment(conf.HEADER), *settings, *placed)]
    if wanted:
        blocks.append((conf.comment("settings of the spec"), *wanted))
    partitions = _site_partitions(cluster, site) if site.partitions else _partitions(cluster)
    blocks += [_nodes(cluster.pools, site), partitions]
    return "\n".join(text for text in (*map(conf.text, blocks), _own(site)) if text)


def _own(site: Site) -> str:
    """Return the user's own lines, which are the last."""
    if not site.slurm_conf.strip():
        return ""
    return conf.text([conf.comment(OWN)]) + site.slurm_conf.rstrip("\n") + "\n"


def _user_line(key: str, value: str) -> Line:
    if key.lower() in MANAGED:
        raise ConfError(key, "", "npa writes this key itself")
    return conf.line((key, value))


def _settings(cluster: Cluster, runtime: Runtime) -> Iterator[Line]:
    address = runtime.site.controller_address
    for host in cluster.controllers:
        yield conf.line(("SlurmctldHost", f"{host}({address})" if address else host))
    groups = (
        _identity(cluster, runtime),
        _paths(runtime),
        _behaviour(),
        _confinement(runtime),
        _power(cluster, runtime),
    )
    for group in (
        *groups,
        _scheduling(cluster, runtime),
        _accounting(cluster, runtime.site),
        _release(cluster),
    ):
        yield from (conf.line(pair) for pair in group)


def _identity(cluster: Cluster, runtime: Runtime) -> Iterator[tuple[str, object]]:
    yield "ClusterName", cluster.name
    yield "SlurmUser", "slurm"
    yield "AuthType", "auth/slurm"
    yield "CredType", "cred/slurm"
    yield "AuthInfo", "use_client_ids"
    yield "AuthAltTypes", "auth/jwt"
    yield "AuthAltParameters", f"jwt_key={runtime.etc}/jwt_hs256.key"
    yield "SlurmctldParameters", "enable_configless,idle_on_node_suspend"
    if runtime.twin:
        # slurmd takes the numbers of this file for those of the machine, which may be smaller.
        yield "SlurmdParameters", "config_overrides"


def _paths(runtime: Runtime) -> Iterator[tuple[str, object]]:
    yield "StateSaveLocation", runtime.state
    yield "SlurmdSpoolDir", runtime.spool
    yield "SlurmctldPidFile", f"{runtime.run}/slurmctld/slurmctld.pid"
    yield "SlurmdPidFile", f"{runtime.run}/slurmd.pid"
    yield "SlurmctldLogFile", f"{runtime.log}/slurmctld.log"
    yield "SlurmdLogFile", f"{runtime.log}/slurmd.log"
    yield "PlugStackConfig", f"{runtime.etc}/plugstack.conf"


def _behaviour() -> Iterator[tuple[str, object]]:
    yield "SlurmctldTimeout", 10
    yield "SlurmdTimeout", 30
    yield "ReturnToService", 2
    # a job that can never run is refused when it is submitted, with the reason
    yield "EnforcePartLimits", "ALL"
    yield "MpiDefault", "none"
    yield "MailProg", "/usr/bin/true"  # its default is a program that no node has, an error at each start
    yield "LaunchParameters", "use_interactive_step"
    yield "TreeWidth", 16


def _confinement(runtime: Runtime) -> Iterator[tuple[str, object]]:
    if runtime.cgroup == "none":
        yield "ProctrackType", "proctrack/linuxproc"
        yield "TaskPlugin", "task/affinity"
        yield "JobAcctGatherType", "jobacct_gather/linux"
        return
    yield "ProctrackType", "proctrack/cgroup"
    yield "TaskPlugin", "task/cgroup,task/affinity"
    yield "JobAcctGatherType", "jobacct_gather/cgroup"
    # Contain makes the job's cgroup before its first step, so that whatever enters the job is held to it.
    yield "PrologFlags", "Contain"


def _power(cluster: Cluster, runtime: Runtime) -> Iterator[tuple[str, object]]:
    """Elastic nodes: both programs only ring for the power agent, which asks slurmctld what it wants."""
    # A CLOUD node that is not there counts as off: jobs may have it all the same, and wait for it.
    if not any(pool.ephemeral for pool in cluster.pools) and not runtime.site.node_domain:
        return
    static = [node for pool in cluster.pools if not pool.ephemeral for node in pool.nodes]
    yield "ResumeProgram", f"{runtime.etc}/power"
    yield "SuspendProgram", f"{runtime.etc}/power"
    yield "ResumeFailProgram", f"{runtime.etc}/power"
    yield "SuspendTime", 60
    yield "ResumeTimeout", 60
    yield "SuspendTimeout", 10
    # all nodes of a job at once, and a whole pool: there is no cloud to be gentle with
    yield "ResumeRate", 0
    yield "SuspendRate", 0
    if static:
        yield "SuspendExcNodes", hostlist.compress(static)
    # a reconfigure would otherwise forget which nodes are off
    yield "ReconfigFlags", "KeepPowerSaveSettings"


def _scheduling(cluster: Cluster, runtime: Runtime) -> Iterator[tuple[str, object]]:
    yield "SelectType", "select/cons_tres"
    yield "SelectTypeParameters", "CR_Core_Memory"
    yield "SchedulerParameters", "batch_sched_delay=0,sched_interval=10,bf_interval=5"
    # A node table twice as large as the cluster: growing by reconfigure must not need a restart.
    yield "MaxNodeCount", max(1024, 2 ** (2 * len(cluster.workers)).bit_length())
    if topology.switches(cluster, runtime.site):
        yield "TopologyPlugin", "topology/tree"
    # Without it a job that asks for no memory takes all of its node's. A CPU's share of the leanest pool
    # lets one-CPU jobs fill a node of any pool, and is as much as can be had without starving another.
    shares = [pool.machine.memory_mib // max(1, pool.machine.cpus) for pool in cluster.pools if pool.size]
    if shares:
        yield "DefMemPerCPU", max(1, min(shares))
    if _has_gpus(cluster) or any(line.get("Gres") for line in runtime.site.retired):
        yield "GresTypes", "gpu"


def _accounting(cluster: Cluster, site: Site) -> Iterator[tuple[str, object]]:
    if cluster.accounting:
        yield "AccountingStorageType", "accounting_storage/slurmdbd"
        yield "AccountingStorageHost", site.accounting_host or cluster.accounting_node
        if _has_gpus(cluster):
            yield "AccountingStorageTRES", "gres/gpu"


def _release(cluster: Cluster) -> Iterator[tuple[str, object]]:
    if version.at_least(cluster.slurm_version, "26.05"):
        yield "MetricsType", "metrics/openmetrics"


def _has_gpus(cluster: Cluster) -> bool:
    return any(pool.machine.gpus for pool in cluster.pools)


def _nodes(pools: Iterable[Pool], site: Site) -> Iterator[Line]:
    """Yield one NodeName and one NodeSet line per pool; slurmctld refuses either without nodes."""
    for pool in pools:
        if not pool.size:
            yield conf.comment(f"pool {pool.name} has no nodes")
            continue
        names = hostlist.compress(pool.nodes)
        said = site.pools.get(pool.name, PoolSite()).settings
        replaced = {key.lower() for key, _ in said}
        ours = [pair for pair in (*_address(names, site), *_shape(pool)) if pair[0].lower() not in replaced]
        # slurmctld looks up the address of any other node when it starts, and waits 10 s for each in vain
        state = "CLOUD" if pool.ephemeral or site.node_domain else "UNKNOWN"
        yield conf.line(("NodeName", names), *ours, *said, ("State", state))
        yield conf.line(("NodeSet", pool.name), ("Nodes", names))
    yield from site.retired


def _address(names: str, site: Site) -> Iterator[tuple[str, object]]:
    if site.node_domain:
        yield "NodeAddr", f"{names}.{site.node_domain}"


def _shape(pool: Pool) -> Iterator[tuple[str, object]]:
    yield "CPUs", pool.machine.cpus
    yield "RealMemory", pool.machine.memory_mib
    if pool.machine.gpus:
        yield "Gres", quantity.format_gres(gres.of(pool))
    if pool.features:
        yield "Feature", ",".join(conf.word("Feature", feature) for feature in pool.features)


def _partitions(cluster: Cluster) -> Iterator[Line]:
    """Yield the partitions; one whose pools have no nodes stays, empty, so that its jobs stay too."""
    for partition in cluster.partitions:
        yield from _partition(cluster, partition.name, partition.pools, tuple(_policy(partition)))


def _site_partitions(cluster: Cluster, site: Site) -> Iterator[Line]:
    for partition in site.partitions:
        if partition.pools or partition.everything:
            pools = () if partition.everything else partition.pools
            yield from _partition(cluster, partition.name, pools, partition.settings)
        else:
            yield conf.line(("PartitionName", partition.name), *partition.settings)


def _partition(
    cluster: Cluster, name: str, pools: tuple[str, ...], policy: tuple[tuple[str, object], ...]
) -> Iterator[Line]:
    peopled = {pool.name for pool in cluster.pools if pool.size}
    dropped = [pool for pool in pools if pool not in peopled]
    if dropped:
        yield conf.comment(f"partition {name} waits for nodes of {', '.join(dropped)}")
    nodes = ",".join(pool for pool in pools if pool in peopled) if pools else "ALL"
    yield conf.line(("PartitionName", name), ("Nodes", nodes), *policy)


def _policy(partition: Partition) -> Iterator[tuple[str, object]]:
    minutes = partition.max_time_minutes
    if partition.default:
        yield "Default", "YES"
    if partition.hidden:
        yield "Hidden", "YES"
    yield "MaxTime", "INFINITE" if minutes is None else quantity.format_time(minutes * 60)
    yield "PriorityTier", partition.priority_tier
    yield "OverSubscribe", "YES" if partition.oversubscribe else "NO"
    yield "State", "UP"
