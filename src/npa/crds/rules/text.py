"""Texts that reach Slurm's files: none may become more than it says."""

from __future__ import annotations

from collections.abc import Iterator

from npa.crds.base import Part
from npa.crds.nodeset import NodeSet
from npa.crds.rules.found import NODES, problem
from npa.crds.schema import fields
from npa.crds.slurmcluster import SlurmCluster
from npa.errors import Problem
from npa.slurm import conf
from npa.slurm.conf import ConfError

_HINT = 'write it in one line, without `#`, `"` and `\\`'


def nothing_breaks_a_file(cluster: SlurmCluster) -> Iterator[Problem]:
    """A value is the value of its key, and neither another setting nor a comment."""
    spec, nodes = cluster.spec, cluster.spec.slurm_nodes
    parts: dict[str, Part | None] = {
        "spec.slurmConfig": spec.slurm_config,
        "spec.mpiConfig": spec.mpi_config,
        "spec.healthCheckConfig": spec.health_check_config,
        "spec.plugStackConfig.pyxis": spec.plug_stack_config.pyxis,
        "spec.plugStackConfig.ncclDebug": spec.plug_stack_config.nccl_debug,
        "spec.plugStackConfig.ncclInspectorPreConf": spec.plug_stack_config.nccl_inspector_pre_conf,
        f"{NODES}.accounting.slurmConfig": nodes.accounting.slurm_config,
        f"{NODES}.accounting.slurmdbdConfig": nodes.accounting.slurmdbd_config,
        f"{NODES}.accounting.externalDB": nodes.accounting.external_db,
    }
    for at, part in parts.items():
        if part is not None:
            yield from _texts(at, part)
    yield from _plugins(cluster)
    partitions = spec.partition_configuration
    for index, line in enumerate(partitions.raw_config):
        yield from _line(f"spec.partitionConfiguration.rawConfig[{index}]", line)
    for index, each in enumerate(partitions.partitions):
        at = f"spec.partitionConfiguration.partitions[{index}]"
        yield from _line(f"{at}.config", each.config)
        for number, ref in enumerate(each.node_set_refs):
            yield from _word(f"{at}.nodeSetRefs[{number}]", ref)
    for key, value in nodes.accounting.external_db.storage_parameters.items():
        yield from _word(f"{NODES}.accounting.externalDB.storageParameters[{key!r}]", f"{key}={value}")


def nothing_breaks_a_line(nodeset: NodeSet) -> Iterator[Problem]:
    """What Slurm is told of nodes stays within their lines."""
    config, at = nodeset.spec.node_config, "spec.nodeConfig"
    yield from _line(f"{at}.static", config.static)
    yield from _value(f"{at}.dynamic", config.dynamic)
    yield from _word("spec.topology.fabric", nodeset.spec.topology.fabric)
    for index, each in enumerate(config.gres_config):
        yield from _line(f"{at}.gresConfig[{index}]", each)
    for index, each in enumerate(config.features):
        if "," in each:
            text = f"{each[:60]!r} is several features"
            yield problem(f"{at}.features[{index}]", text, "write each as an entry of its own")
        yield from _word(f"{at}.features[{index}]", each)


def _plugins(cluster: SlurmCluster) -> Iterator[Problem]:
    for index, plugin in enumerate(cluster.spec.plug_stack_config.custom_plugins):
        at = f"spec.plugStackConfig.customPlugins[{index}]"
        yield from _word(f"{at}.path", plugin.path)
        for key, value in plugin.arguments.items():
            yield from _word(f"{at}.arguments[{key[:60]!r}]", f"{key}={value}")


def _texts(at: str, part: Part) -> Iterator[Problem]:
    """Check every text of a part."""
    for (key, _), name in zip(fields(type(part)).items(), type(part).model_fields, strict=True):
        value = getattr(part, name)
        if isinstance(value, str):
            yield from _value(f"{at}.{key}", value)


def _value(at: str, value: str) -> Iterator[Problem]:
    try:
        conf.check_value(at.rpartition(".")[2], value)
    except ConfError as error:
        yield problem(at, str(error), _HINT)


def _word(at: str, value: str) -> Iterator[Problem]:
    try:
        conf.word(at.rpartition(".")[2], value)
    except ConfError as error:
        yield problem(at, str(error), _HINT)


def _line(at: str, text: str) -> Iterator[Problem]:
    """Check several settings on one line, where quotes are allowed."""
    if "\n" in text.strip("\n") or not text.replace("\n", "").replace("\t", " ").isprintable():
        yield problem(at, f"{text[:60]!r} is more than one line", "write it in one line")
    elif any(character in text for character in "#\\"):
        yield problem(at, f"{text[:60]!r} holds `#` or a backslash", "write settings alone")
