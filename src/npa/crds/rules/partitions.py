"""The partitions of a SlurmCluster."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from npa.crds.rules.found import problem
from npa.crds.slurmcluster import SlurmCluster
from npa.errors import Problem

AT = "spec.partitionConfiguration"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_LINE = re.compile(r"\s*PartitionName\s*=", re.IGNORECASE)


def names_are_unique(cluster: SlurmCluster) -> Iterator[Problem]:
    """A partition is defined once, by a name that Slurm takes for one."""
    configured = cluster.spec.partition_configuration
    if configured.config_type != "structured":
        return
    if not configured.partitions:
        yield problem(f"{AT}.partitions", "structured needs at least one partition", "add one")
    seen: set[str] = set()
    for index, each in enumerate(configured.partitions):
        at = f"{AT}.partitions[{index}].name"
        if not _NAME.fullmatch(each.name) or each.name.casefold() == "default":
            text = f"{each.name[:60]!r} is no name of a partition"
            yield problem(at, text, "use letters, digits, `_`, `.` and `-`; `DEFAULT` is Slurm's own")
        if each.name in seen:
            yield problem(at, f"there is another partition {each.name!r}", "give each a name of its own")
        seen.add(each.name)


def custom_lines_are_partitions(cluster: SlurmCluster) -> Iterator[Problem]:
    """What is written into slurm.conf as partitions defines partitions."""
    configured = cluster.spec.partition_configuration
    if configured.config_type != "custom":
        return
    for index, line in enumerate(configured.raw_config):
        if line.strip() and not _LINE.match(line):
            text = f"{line.strip()[:60]!r} does not begin with PartitionName"
            yield problem(f"{AT}.rawConfig[{index}]", text, "begin it with `PartitionName=`")


def unknown_nodesets(cluster: SlurmCluster, known: Iterable[str]) -> Iterator[str]:
    """Yield a warning for each partition that names NodeSets which there are not (yet)."""
    configured, there = cluster.spec.partition_configuration, set(known)
    if configured.config_type != "structured":
        return
    for each in configured.partitions:
        missing = [ref for ref in each.node_set_refs if ref not in there]
        if missing and not each.is_all:
            listed = ", ".join(missing)
            yield f"partition {each.name!r} goes without {listed} until there is such a NodeSet"
