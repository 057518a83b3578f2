"""What has to hold between the fields of an object, and between objects: one function per rule, all pure.

The webhook asks them before an object is taken in, and reconcile asks the same ones again: an object may be
older than the webhook.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from npa.crds.activecheck import ActiveCheck
from npa.crds.nodeset import NodeSet
from npa.crds.rules import (
    accounting,
    change,
    elsewhere,
    filters,
    jobs,
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

CLUSTER: tuple[Callable[[SlurmCluster], Iterator[Problem]], ...] = (
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
    accounting.accounted_jobs_are_accounted,
    partitions.names_are_unique,
    partitions.custom_lines_are_partitions,
    text.nothing_breaks_a_file,
)
NODE_SET: tuple[Callable[[NodeSet], Iterator[Problem]], ...] = (
    name.workers_can_be_named,
    scale.replicas_are_a_count,
    scale.some_may_start,
    worker.resources_are_said,
    worker.reserved_variables_are_left,
    worker_volumes.volumes_come_from_one_place,
    worker_volumes.mounts_are_apart,
    text.nothing_breaks_a_line,
)
ACTIVE_CHECK: tuple[Callable[[ActiveCheck], Iterator[Problem]], ...] = (
    jobs.it_can_be_named,
    jobs.it_says_what_runs,
    jobs.it_has_one_reaction,
    jobs.it_can_begin,
)
JAILED_CONFIG = (elsewhere.files_have_places,)
NODE_CONFIGURATOR = (elsewhere.what_runs_has_an_image,)
POWER_STATE = (elsewhere.ordinals_are_counts,)
# between objects, or between an object and what it was
CLUSTER_CHANGE = (change.claims_do_not_shrink,)
NODE_SET_CHANGE = (change.workers_stay_with_their_cluster, change.worker_claims_do_not_shrink)


def cluster_problems(cluster: SlurmCluster) -> tuple[Problem, ...]:
    """Return everything that is wrong with a SlurmCluster by itself."""
    return _unique(problem for rule in CLUSTER for problem in rule(cluster))


def nodeset_problems(nodeset: NodeSet) -> tuple[Problem, ...]:
    """Return everything that is wrong with a NodeSet by itself."""
    return _unique(problem for rule in NODE_SET for problem in rule(nodeset))


def check_problems(check: ActiveCheck) -> tuple[Problem, ...]:
    """Return everything that is wrong with an ActiveCheck."""
    return _unique(problem for rule in ACTIVE_CHECK for problem in rule(check))


def _unique(found: Iterator[Problem]) -> tuple[Problem, ...]:
    return tuple(dict.fromkeys(found))
