"""What is known of an installation: its cluster, node groups and Slurm's nodes. Unknown is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from npa.errors import NpaError
from npa.health.observation import Observation, SlurmNode
from npa.plan.model import JobRef
from npa.render.nebius import held as states
from npa.render.nebius import release
from npa.render.nebius.held import NodeGroup
from npa.render.objects import DEPLOYMENT
from npa.slurm import replies
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.slurm.replies import Rows, SlurmJobReply, SlurmNodeReply
from npa.targets.nebius import controller
from npa.targets.nebius.ports import KubeApi
from npa.tools.slurm import Slurm

SCHEMA_VERSION = "npa.soperator.nebius-status/v1"
_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class NebiusStatus:
    """What could be read. None stands for what could not."""

    name: str
    cluster: str  # present, absent, unknown
    node_groups: tuple[NodeGroup, ...] | None
    nodes: Rows[SlurmNodeReply] | None
    jobs: Rows[SlurmJobReply] | None
    slurm_version: str
    unknown: tuple[str, ...]  # what could not be read, and why
    causes: tuple[str, ...] = ()  # what explains the rest

    @property
    def capacity(self) -> dict[str, str]:
        """Return the capacity mode of each pool: `mixed` where its groups differ."""
        modes: dict[str, set[str]] = {}
        for group in self.node_groups or ():
            modes.setdefault(group.pool, set()).add(group.mode)
        return {pool: found.pop() if len(found) == 1 else "mixed" for pool, found in sorted(modes.items())}

    def public(self) -> dict[str, Any]:
        """Return the status without ids of the provider's and without selectors of reservations."""
        groups = (
            None
            if self.node_groups is None
            else [
                {"name": each.name, "pool": each.pool, "nodes": each.nodes, "capacity": each.mode}
                for each in self.node_groups
            ]
        )
        nodes = (
            None
            if self.nodes is None
            else [
                {"name": each.name, "state": str(each.state), "reason": each.reason, "gres": each.gres}
                for each in self.nodes
            ]
        )
        return {
            "schema_version": SCHEMA_VERSION,
            "name": self.name,
            "cluster": self.cluster,
            "slurm_version": self.slurm_version,
            "pools": None if groups is None else self.capacity,
            "node_groups": groups,
            "nodes": nodes,
            "causes": list(self.causes),
            "unknown": list(self.unknown),
        }


def status(name: str, kube: Lookup[KubeApi], state: Lookup[Mapping[str, Any]]) -> NebiusStatus:
    """Return what is known; reads only, and never fails for one part that cannot be read.

    `kube` is the way to the verified cluster (`binding.connect`), `state` what Terraform has.
    """
    unknown: list[str] = []
    groups = _groups(state, unknown)
    if not isinstance(kube, Found):
        if isinstance(kube, Unknown):
            unknown.append(f"cluster: {kube.why}")
        there = "absent" if isinstance(kube, Absent) else "unknown"
        return NebiusStatus(name, there, groups, None, None, "", tuple(unknown))
    nodes, jobs, version = _slurm(kube.value, unknown)
    cause = "" if nodes else release.root_cause(kube.value.list(DEPLOYMENT, "kruise-system"))
    return NebiusStatus(
        name, "present", groups, nodes, jobs, version, tuple(unknown), (cause,) if cause else ()
    )


def observation(
    found: NebiusStatus, workers: tuple[str, ...], *, cpus: int = 0, gpus: int = 0
) -> Observation:
    """Return the status as `health.assess` takes it; `workers` are those that the spec asks for."""
    return Observation(
        name=found.name,
        target="nebius",
        # What cannot be reached is not taken for gone: its problems say what is unknown.
        state="absent" if found.cluster == "absent" else "present",
        expected_workers=workers,
        expected_cpus=cpus,
        expected_gpus=gpus,
        nodes=None if found.nodes is None else tuple(_node(each) for each in found.nodes),
        jobs=None if found.jobs is None else tuple(_job(each) for each in found.jobs),
        slurm_version=found.slurm_version,
        problems=(*found.causes, *found.unknown),
    )


def _groups(state: Lookup[Mapping[str, Any]], unknown: list[str]) -> tuple[NodeGroup, ...] | None:
    if not isinstance(state, Found):
        unknown.append(f"node groups: {state.why if isinstance(state, Unknown) else 'there is no state'}")
        return None
    try:
        read = states.read(state.value)
    except NpaError as error:
        unknown.append(f"node groups: {error}")
        return None
    if read.lost:
        unknown.append("node groups: there is no state")
        return None
    return read.node_groups


def _slurm(
    kube: KubeApi, unknown: list[str]
) -> tuple[Rows[SlurmNodeReply] | None, Rows[SlurmJobReply] | None, str]:
    slurm = Slurm(controller.executes(kube, _TIMEOUT))
    nodes, jobs, version = None, None, ""
    try:
        document = slurm.nodes()
        version, nodes = replies.slurm_version(document), replies.nodes(document)
        unknown.extend(f"slurm: {problem}" for problem in nodes.problems)
        jobs = replies.jobs(slurm.jobs())
        unknown.extend(f"slurm: {problem}" for problem in jobs.problems)
    except NpaError as error:
        unknown.append(f"slurm: {error}")
    return nodes, jobs, version


def _node(row: SlurmNodeReply) -> SlurmNode:
    return SlurmNode(
        row.name,
        row.state,
        row.reason,
        row.cpus,
        row.real_memory,
        row.gres,
        row.alloc_cpus,
        row.partitions,
    )


def _job(row: SlurmJobReply) -> JobRef:
    return JobRef(row.id, row.user, row.name, str(row.state), row.nodes, row.partition, row.wants)
