"""A SlurmCluster and its NodeSets as the Cluster that Slurm's files are rendered from.

What cannot be understood is told all at once, with its path; nothing of it reaches a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from npa.cluster.model import Cluster, Machine, Partition, Pool
from npa.crds.nodeset import NodeSet
from npa.errors import Problem
from npa.render.kube import names, quantity, typed
from npa.render.kube.context import Context
from npa.slurm import conf, hostlist
from npa.slurm.conf import ConfError
from npa.slurm.hostlist import HostlistError
from npa.slurm.runtime import PartitionSite, PoolSite, Runtime, Site

GPU = "nvidia.com/gpu"
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a cluster means to Slurm."""

    cluster: Cluster
    runtime: Runtime
    dropped: tuple[tuple[str, str], ...] = ()  # (partition, NodeSet that it names and that has no nodes)


def resolve(
    context: Context,
    nodesets: Sequence[NodeSet],
    sizes: Mapping[str, int],
    problems: list[Problem],
    *,
    dbd_settings: Pairs = (),
    retired: tuple[conf.Line, ...] = (),
    gres: str = "",
) -> Resolved:
    """Return what the resources mean; what is wrong with them is added to `problems`.

    `sizes` says of NodeSets how many nodes Slurm has to know at least: those that are still there; `retired`
    are the lines of those whose NodeSet is not, and `gres` the gres.conf that names them.
    """
    ordered = sorted(nodesets, key=lambda each: each.name)
    pools = tuple(_pool(each, sizes.get(each.name, 0), problems) for each in ordered)
    said = {each.name: _pool_site(each, problems) for each in ordered}
    twin = any(_claims_more(pool, said[pool.name]) for pool in pools)
    pools = tuple(_agreeing(pool, said[pool.name]) for pool in pools)
    partitions = tuple(_partitions(context, problems))
    spec, cluster = context.spec, _cluster(context, pools)
    site = Site(
        controller_address=context.controller,
        node_domain=context.host(names.umbrella(context.name)),
        accounting_host=context.accounting,
        settings=typed.defaults(context, cluster),
        dbd_settings=dbd_settings,
        pools=said,
        partitions=partitions,
        mpi=(("PMIxEnv", spec.mpi_config.pmix_env),),
        plugins=_plugins(context, problems),
        retired=retired,
        retired_gres=tuple(_of_nodes(retired, gres)),
        slurm_conf=spec.custom_slurm_config,
        cgroup_conf=spec.custom_cgroup_config,
    )
    cgroup = context.cgroup or spec.cgroup_version
    runtime = Runtime("none" if cgroup == "none" else "v1" if cgroup == "v1" else "v2", twin=twin, site=site)
    return Resolved(cluster, runtime, tuple(_dropped(partitions, pools)))


def _cluster(context: Context, pools: tuple[Pool, ...]) -> Cluster:
    spec = context.spec
    return Cluster(
        name=context.name,
        target="kubernetes",
        pools=pools,
        partitions=(Partition("main", (), default=True), Partition("hidden", (), hidden=True)),
        accounting=spec.slurm_nodes.accounting.enabled,
        rest=spec.slurm_nodes.rest.enabled,
        slurm_version=context.slurm_version,
        controllers=(names.controller_pod(context.name),),
        slurm_settings=typed.settings(spec),
    )


def _of_nodes(retired: Iterable[conf.Line], gres: str) -> Iterator[conf.Line]:
    """Yield what gres.conf says of nodes whose NodeSet is no more."""
    left = {node for line in retired for node in _named(line)}
    for line in conf.parse(gres):
        kept = [node for node in _named(line) if node in left]
        if kept:
            yield conf.line(("NodeName", hostlist.compress(kept)), *line.pairs[1:])


def _named(line: conf.Line) -> list[str]:
    """Return the nodes of a line that was delivered; none where somebody made something else of it."""
    try:
        return hostlist.expand(line.get("NodeName"))
    except HostlistError:
        return []


def _pool(nodeset: NodeSet, least: int, problems: list[Problem]) -> Pool:
    spec, at = nodeset.spec, f"nodesets[{nodeset.name}]"
    resources = spec.slurmd.resources
    counts = {}
    for key, read in (("cpu", quantity.whole), ("memory", quantity.mebibytes), (GPU, quantity.whole)):
        try:
            counts[key] = read(resources.get(key, 0))
        except ValueError as error:
            problems.append(
                Problem(0, 0, f"{at}.spec.slurmd.resources.{key}", str(error), "write 8, or 64Gi")
            )
            counts[key] = 0
    if not counts["memory"]:
        text = "says nothing that is a MiB at least"
        problems.append(
            Problem(0, 0, f"{at}.spec.slurmd.resources.memory", text, "write how much, as in 64Gi")
        )
    return Pool(
        name=nodeset.name,
        origin=nodeset.name,
        size=max(0, spec.replicas, least),
        machine=Machine(max(1, counts["cpu"]), counts["memory"], counts[GPU]),
        platform="",
        preset="",
        fabric=spec.topology.fabric if spec.gpu.enabled else "",
        features=_features(nodeset, problems),
        ephemeral=spec.ephemeral_nodes,
    )


def _features(nodeset: NodeSet, problems: list[Problem]) -> tuple[str, ...]:
    found = []
    for index, feature in enumerate(nodeset.spec.node_config.features):
        try:
            found.append(conf.word("Feature", feature))
        except ConfError as error:
            at = f"nodesets[{nodeset.name}].spec.nodeConfig.features[{index}]"
            problems.append(Problem(0, 0, at, str(error), "write one word"))
    return tuple(found)


def _pool_site(nodeset: NodeSet, problems: list[Problem]) -> PoolSite:
    config, at = nodeset.spec.node_config, f"nodesets[{nodeset.name}].spec"
    said = [
        (key, value)
        for key, value in pairs(config.static, f"{at}.nodeConfig.static", problems)
        if key.lower() not in ("feature", "features", "state")
    ]
    shaped = {key.lower() for key, _ in said}
    if (
        shaped & {"boards", "socketsperboard", "sockets", "corespersocket", "threadspercore"}
        and "cpus" not in shaped
    ):
        said.append(("CPUs", str(_cpus({key.lower(): value for key, value in said}))))
    if nodeset.spec.slurmd.port != names.SLURMD_PORT and "port" not in shaped:
        said.append(("Port", str(nodeset.spec.slurmd.port)))
    lines = [
        pairs(line, f"{at}.nodeConfig.gresConfig[{index}]", problems)
        for index, line in enumerate(config.gres_config)
    ]
    if not lines and _gpus(nodeset):
        # which device files a container gets is up to the device plugin: slurmd looks for itself
        lines = [(("AutoDetect", "nvidia"),)]
    return PoolSite(tuple(said), tuple(line for line in lines if line))


def _gpus(nodeset: NodeSet) -> int:
    try:
        return quantity.whole(nodeset.spec.slurmd.resources.get(GPU, 0))
    except ValueError:
        return 0  # told elsewhere


def _cpus(said: Mapping[str, str]) -> int:
    """Return how many CPUs a shape has: Slurm refuses a node of which two settings say different counts."""

    def count(key: str) -> int:
        text = said.get(key, "1")
        return int(text) if text.isdecimal() else 1

    sockets = count("sockets") if "sockets" in said else count("boards") * count("socketsperboard")
    return max(1, sockets * count("corespersocket") * count("threadspercore"))


def _claims_more(pool: Pool, site: PoolSite) -> bool:
    """Say whether a user's own lines give nodes more than their pods have: slurmd takes their word for it."""
    said = {key.lower(): value for key, value in site.settings}
    has = {"cpus": pool.machine.cpus, "realmemory": pool.machine.memory_mib}
    return any((text := said.get(key, "")).isdecimal() and int(text) > count for key, count in has.items())


def _agreeing(pool: Pool, site: PoolSite) -> Pool:
    """Return the pool with the CPUs and the type of its GPUs that a user's own lines give it."""
    cpus = {key.lower(): value for key, value in site.settings}.get("cpus", "")
    if cpus.isdecimal():
        pool = replace(pool, machine=replace(pool.machine, cpus=int(cpus)))
    kinds = {{key.lower(): value for key, value in line}.get("type", "") for line in site.gres}
    if len(kinds) == 1 and pool.machine.gpus and (kind := kinds.pop()):
        machine = replace(pool.machine, gpu_type=kind)
        return replace(pool, machine=machine)
    return pool


def pairs(text: str, at: str, problems: list[Problem]) -> Pairs:
    """Return the settings of one line of a user's; none, and a problem, where it is not one."""
    if not text.strip():
        return ()
    lines = conf.parse(text)
    if len(lines) == 1 and lines[0].pairs and not (lines[0].unread or lines[0].include):
        return lines[0].pairs
    what = "is more than one line" if len(lines) > 1 else "is no line of settings"
    problems.append(Problem(0, 0, at, f"{text[:60]!r} {what}", "write `Key=value Key=value`"))
    return ()


def _partitions(context: Context, problems: list[Problem]) -> Iterator[PartitionSite]:
    configured = context.spec.partition_configuration
    at = "spec.partitionConfiguration"
    if configured.config_type == "custom":
        for index, line in enumerate(configured.raw_config):
            if not line.strip():
                continue
            found = pairs(line, f"{at}.rawConfig[{index}]", problems)
            if found and found[0][0].lower() != "partitionname":
                what = f"begins with {found[0][0]}, not with PartitionName"
                problems.append(
                    Problem(0, 0, f"{at}.rawConfig[{index}]", what, "begin it with PartitionName")
                )
            elif found:
                yield PartitionSite(found[0][1], settings=found[1:])
    elif configured.config_type == "structured":
        for index, each in enumerate(configured.partitions):
            said = pairs(each.config, f"{at}.partitions[{index}].config", problems)
            if not each.is_all and not each.node_set_refs:
                text = f"partition {each.name!r} has no nodes: neither isAll nor nodeSetRefs"
                problems.append(Problem(0, 0, f"{at}.partitions[{index}]", text, "give it one of them"))
                continue
            yield PartitionSite(each.name, each.node_set_refs, said, each.is_all)


def _dropped(partitions: Iterable[PartitionSite], pools: Iterable[Pool]) -> Iterator[tuple[str, str]]:
    peopled = {pool.name for pool in pools if pool.size}
    for partition in partitions:
        if not partition.everything:
            yield from ((partition.name, ref) for ref in partition.pools if ref not in peopled)


def _plugins(context: Context, problems: list[Problem]) -> tuple[str, ...]:
    """Return the lines of the user's own SPANK plugins, the arguments of each by name: one order for good."""
    lines = []
    for index, plugin in enumerate(context.spec.plug_stack_config.custom_plugins):
        need = "required" if plugin.required else "optional"
        arguments = (f"{key}={value}" for key, value in sorted(plugin.arguments.items()))
        try:
            words = [conf.word("plugin", word) for word in (plugin.path, *arguments)]
        except ConfError as error:
            at = f"spec.plugStackConfig.customPlugins[{index}]"
            problems.append(Problem(0, 0, at, str(error), "write a path, and arguments without blanks"))
            continue
        lines.append(" ".join((need, *words)))
    return tuple(lines)
