"""What has to hold between the fields of an object, and between objects: one function per rule, all pure.

The webhook asks them before an object is taken in, and reconcile asks the same ones again: an object may be
older than the webhook.
"""

from __future__ import annotations

from collections.abc import Iterator

from npa.crds.nodeset import NodeSet
from npa.crds.rules import (
    accounting,
    filters,
    login,
    name,
    partitions,
    scale,
    text,
    volumes,
    worker,
    worker_volumes,
)
from npa.crds.slurmcluster import SlurmCluster
from npa.errors import Problem

_CLUSTER = (
    name.pods_can_be_named,
    filters.names_are_unique,
    filters.named_ones_exist,
    volumes.sources_are_one_each,
    volumes.sources_have_unique_names,
    volumes.volumes_come_from_one_place,
    volumes.mounts_are_apart,
    scale.sizes_are_counts,
    scale.ports_are_ports,
    login.somebody_can_log_in,
    login.service_can_be_made,
    login.isolation_fits,
    accounting.one_database,
    accounting.external_database_is_named,
    partitions.names_are_unique,
    partitions.custom_lines_are_partitions,
    text.nothing_breaks_a_file,
)
_NODE_SET = (
    name.workers_can_be_named,
    scale.replicas_are_a_count,
    scale.some_may_start,
    worker.resources_are_said,
    worker.reserved_variables_are_left,
    worker_volumes.volumes_come_from_one_place,
    worker_volumes.mounts_are_apart,
    text.nothing_breaks_a_line,
)


def cluster_problems(cluster: SlurmCluster) -> tuple[Problem, ...]:
    """Return everything that is wrong with a SlurmCluster by itself."""
    return _unique(problem for rule in _CLUSTER for problem in rule(cluster))


def nodeset_problems(nodeset: NodeSet) -> tuple[Problem, ...]:
    """Return everything that is wrong with a NodeSet by itself."""
    return _unique(problem for rule in _NODE_SET for problem in rule(nodeset))


def _unique(found: Iterator[Problem]) -> tuple[Problem, ...]:
    return tuple(dict.fromkeys(found))
