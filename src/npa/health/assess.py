"""An Observation to a Report: how well a cluster is, and what to do next. Unknown is never healthy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from npa.health.observation import Daemon, Observation, SlurmNode
from npa.slurm import hostlist, quantity
from npa.slurm.states import JobState

SCHEMA_VERSION = "npa.soperator.status/v1"

# what an elastic node goes through between off and on; it does not respond while it is off
_POWER = frozenset(
    {
        "CLOUD",
        "NOT_RESPONDING",
        "PLANNED",
        "POWERED_DOWN",
        "POWERING_DOWN",
        "POWERING_UP",
        "POWER_DOWN",
        "POWER_UP",
    }
    | {"COMPLETING", "RESERVED"}
)

Severity = Literal["error", "unknown", "warning"]  # a warning alone leaves the cluster healthy
Status = Literal["healthy", "degraded", "stopped", "unknown"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be."""

    severity: Severity
    subject: str  # `node gpu-[0-1]`, `slurmctld on controller-0`
    message: str
    hint: str = ""
    command: str = ""  # what looks into it


@dataclass(frozen=True, slots=True)
class Capacity:
    """How much there is."""

    nodes: int = 0
    cpus: int = 0
    gpus: int = 0


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node as the report shows it."""

    name: str
    state: str
    schedulable: bool
    reason: str = ""
    cpus: int = 0
    cpus_allocated: int = 0
    memory_mib: int = 0
    gres: str = ""
    partitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """How well a cluster is; `ok` decides the exit code."""

    name: str
    target: str
    ok: bool
    status: Status
    nominal: Capacity  # what the spec asks for
    schedulable: Capacity | None  # where jobs can start; None: not known
    findings: tuple[Finding, ...] = ()
    nodes: tuple[NodeRow, ...] | None = None  # None: not known
    jobs: tuple[tuple[str, int], ...] | None = None  # (state, how many), by state; None: not known
    daemons: tuple[Daemon, ...] = ()
    slurm_version: str = ""
    next_command: str = ""
    schema_version: str = SCHEMA_VERSION


def assess(seen: Observation) -> Report:
    """Judge what was read of a cluster."""
    findings = tuple(_findings(seen))
    status = _status(seen, findings)
    present = seen.state == "present"
    return Report(
        name=seen.name,
        target=seen.target,
        ok=status == "healthy",
        status=status,
        nominal=Capacity(len(seen.expected_workers), seen.expected_cpus, seen.expected_gpus),
        schedulable=_schedulable(seen) if present else Capacity(),
        findings=findings,
        nodes=None if seen.nodes is None else tuple(_row(seen, node) for node in seen.nodes),
        jobs=_job_counts(seen),
        daemons=seen.daemons,
        slurm_version=seen.slurm_version,
        next_command=_next_command(seen, findings),
    )


def _status(seen: Observation, findings: tuple[Finding, ...]) -> Status:
    if seen.state != "present":
        return "stopped"
    severities = {finding.severity for finding in findings}
    if "error" in severities:
        return "degraded"
    return "unknown" if "unknown" in severities else "healthy"


def _findings(seen: Observation) -> Iterator[Finding]:
    if seen.state != "present":
        yield _not_running(seen)
        return
    yield from _daemon_findings(seen)
    for folder in seen.full:
        hint = "free some space: what slurmctld knows is no longer written down"
        yield Finding("error", f"disk of {folder}", "has no room left", hint)
    yield from (Finding("unknown", "cluster", each, command=_logs(seen)) for each in seen.problems)
    if seen.nodes is None:
        yield Finding("unknown", "nodes", "slurmctld's answer could not be read", command=_logs(seen))
    else:
        yield from _missing(seen, seen.nodes)
        yield from _unschedulable(seen, seen.nodes)
        yield from _short(seen, seen.nodes)
    if seen.jobs is None:
        yield Finding("unknown", "jobs", "slurmctld's answer could not be read", command=_logs(seen))


def _not_running(seen: Observation) -> Finding:
    what = "is stopped" if seen.state == "stopped" else "is not here"
    return Finding("error", f"cluster {seen.name}", what, "deploy it again: the jail and its data are kept")


def _daemon_findings(seen: Observation) -> Iterator[Finding]:
    for daemon in seen.daemons:
        if daemon.state != "up":
            known = daemon.state == "down"
            yield Finding(
                "error" if known else "unknown",
                f"{daemon.name} on {daemon.node}",
                "is down" if known else "may be down: its state could not be read",
                "deploy again to start it" if known else "",
                _logs(seen, daemon.node),
            )


def _missing(seen: Observation, nodes: tuple[SlurmNode, ...]) -> Iterator[Finding]:
    present = {node.name for node in nodes}
    missing = [name for name in seen.expected_workers if name not in present]
    if missing:
        names = hostlist.compress(hostlist.ordered(missing))
        yield Finding(
            "error", f"node {names}", "is missing in Slurm", "deploy again to add it", _logs(seen, missing[0])
        )
    extra = present.difference(seen.expected_workers)
    if extra:
        names = hostlist.compress(hostlist.ordered(extra))
        yield Finding("warning", f"node {names}", "is in Slurm and not in the spec")


def _unschedulable(seen: Observation, nodes: tuple[SlurmNode, ...]) -> Iterator[Finding]:
    """Yield one finding for all nodes of one state and reason."""
    groups: dict[tuple[str, str], list[SlurmNode]] = {}
    for node in nodes:
        if not _takes_jobs(seen, node):
            groups.setdefault((str(node.state), node.reason), []).append(node)
    for (state, reason), members in groups.items():
        names = hostlist.compress(hostlist.ordered(node.name for node in members))
        first = members[0]
        yield Finding(
            "unknown" if first.state.unknown else "error",
            f"node {names}",
            f"takes no jobs: {state.lower()}, {' '.join(reason.split()) or 'no reason given'}",
            _resume_hint(first, names),
            _on_controller(seen, f"scontrol show node {first.name}"),
        )


def _resume_hint(node: SlurmNode, names: str) -> str:
    if "DRAIN" in node.state.flags:
        return f"once its cause is gone: `scontrol update nodename={names} state=resume`"
    return "see what its slurmd says"


def _short(seen: Observation, nodes: tuple[SlurmNode, ...]) -> Iterator[Finding]:
    """Compare sizes only where every node is there: a missing node is told of already."""
    expected = set(seen.expected_workers)
    ours = [node for node in nodes if node.name in expected]
    if len(ours) != len(expected):
        return
    cpus = sum(node.cpus for node in ours)
    if cpus < seen.expected_cpus:
        yield Finding("error", "CPUs", f"Slurm counts {cpus}, the spec asks for {seen.expected_cpus}")
    counted = [_gpus(node) for node in ours]
    unread = [node.name for node, gpus in zip(ours, counted, strict=True) if gpus is None]
    if unread:
        yield Finding("unknown", f"node {hostlist.compress(unread)}", "has GRES that could not be read")
        return
    gpus = sum(each or 0 for each in counted)
    if gpus < seen.expected_gpus:
        yield Finding("error", "GPUs", f"Slurm counts {gpus}, the spec asks for {seen.expected_gpus}")


def _gpus(node: SlurmNode) -> int | None:
    try:
        return quantity.gpus(quantity.parse_gres(node.gres))
    except ValueError:
        return None


def _schedulable(seen: Observation) -> Capacity | None:
    if seen.nodes is None:
        return None
    expected = set(seen.expected_workers)
    able = [node for node in seen.nodes if _takes_jobs(seen, node) and node.name in expected]
    return Capacity(len(able), sum(node.cpus for node in able), sum(_gpus(node) or 0 for node in able))


def _takes_jobs(seen: Observation, node: SlurmNode) -> bool:
    """Say whether a job may start on a node: an elastic one that is off is powered up for it."""
    if node.name in seen.elastic and not node.state.unknown:
        return not node.state.flags - _POWER and node.state.base != "DOWN"
    return node.state.schedulable


def _row(seen: Observation, node: SlurmNode) -> NodeRow:
    return NodeRow(
        name=node.name,
        state=str(node.state).lower(),
        schedulable=_takes_jobs(seen, node),
        reason=node.reason,
        cpus=node.cpus,
        cpus_allocated=node.cpus_allocated,
        memory_mib=node.memory_mib,
        gres=node.gres,
        partitions=node.partitions,
    )


def _job_counts(seen: Observation) -> tuple[tuple[str, int], ...] | None:
    if seen.jobs is None:
        return None
    return tuple(sorted(Counter(JobState.parse(job.state).base.lower() for job in seen.jobs).items()))


def _next_command(seen: Observation, findings: tuple[Finding, ...]) -> str:
    if seen.state != "present":
        return f"npa soperator deploy --target {seen.target} --spec cluster.yaml"
    ranked = sorted(findings, key=lambda finding: finding.severity != "error")  # stable
    commands = (finding.command for finding in ranked if finding.command)
    return next(commands, f"npa soperator ssh --cluster {seen.name}")


def _controller(seen: Observation) -> str:
    return next((daemon.node for daemon in seen.daemons if daemon.name == "slurmctld"), "controller-0")


def _logs(seen: Observation, node: str = "") -> str:
    return f"npa soperator logs {node or _controller(seen)} --cluster {seen.name}"


def _on_controller(seen: Observation, command: str) -> str:
    return f"npa soperator exec {_controller(seen)} --cluster {seen.name} -- {command}"
