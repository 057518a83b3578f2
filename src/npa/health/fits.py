"""Could any node ever give a job what it asks for, and could one now? Pure comparison, no scheduling."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from npa.health.explain import memory, names
from npa.slurm import hostlist, quantity
from npa.slurm.hostlist import HostlistError
from npa.slurm.job_detail import JobDetail, Request
from npa.slurm.quantity import QuantityError
from npa.slurm.replies import SlurmNodeReply

Nodes = Sequence[SlurmNodeReply]

_FEATURE = re.compile(r"[A-Za-z0-9_.=-]+")


def eligible(job: JobDetail, nodes: Nodes) -> tuple[SlurmNodeReply, ...]:
    """Return the nodes of the job's partitions, without those that it excludes."""
    partitions = set(job.job.partition.split(","))
    excluded = set(_expanded(job.request.excluded_nodes))
    return tuple(n for n in nodes if partitions & set(n.partitions) and n.name not in excluded)


def never(job: JobDetail, nodes: Nodes) -> tuple[str, ...]:
    """Return which amounts no node could give, whatever else ends; each with the most there is."""
    able = eligible(job, nodes)
    where = f"partition {job.job.partition}"
    if not able:
        return (f"{where} has no node that it may use",)
    named = set(_expanded(job.request.required_nodes))
    of_it = [node for node in able if node.name in named] if len(named) >= max(1, job.request.nodes) else able
    each = tuple(_never(job.request, able, of_it or able, where))
    fitting = [node for node in of_it if not tuple(_too_much(job.request, [node], ""))]
    if each or len(fitting) >= max(1, job.request.nodes):
        return each
    asked = job.request.nodes or 1
    return (f"{len(fitting)} nodes of {where} have all that it asks of each; it asks for {asked}",)


def _never(request: Request, able: Nodes, of_it: Nodes, where: str) -> Iterator[str]:
    if request.nodes > len(able):
        yield f"it asks for {request.nodes} nodes; {where} has {len(able)}"
    yield from _too_much(request, of_it, where if of_it is able else names([node.name for node in of_it]))
    total = sum(node.cpus for node in able)
    if request.cpus > total:
        yield f"it asks for {request.cpus} CPUs; {where} has {total}"
    there = {node.name for node in able}
    missing = [name for name in _expanded(request.required_nodes) if name not in there]
    if missing:
        yield f"it asks for {names(missing)}, which {where} does not have"


def _too_much(request: Request, nodes: Nodes, where: str) -> Iterator[str]:
    """Yield what is asked of a node and none of these has."""
    asked = needed_memory(request)
    yield from _more(asked, [node.real_memory for node in nodes], f"memory on a node of {where}", memory)
    yield from _more(request.cpus_per_node, [node.cpus for node in nodes], f"CPUs on a node of {where}", str)
    for gres in request.gres_per_node:
        most = [_has(node.gres, gres.name, gres.type) for node in nodes]
        called = f"{gres.name}:{gres.type}" if gres.type else gres.name
        yield from _more(gres.count, most, f"{called} on a node of {where}", str)
    # an expression with `|` or `[` may be met in other ways, so only a plain one is judged
    if request.features and not re.search(r"[|\[\]()*]", request.features):
        wanted = set(_FEATURE.findall(request.features))
        if not any(wanted <= set(node.features) for node in nodes):
            yield f"it asks for nodes with {request.features}; {where} has none"


def _more(asked: int, most: Sequence[int], of: str, said: Callable[[int], str]) -> Iterator[str]:
    if asked > max(most):
        yield f"it asks for {said(asked)} {of}; the most there is on one is {said(max(most))}"


def now(job: JobDetail, nodes: Nodes) -> tuple[str, ...]:
    """Return what stands in its way at this moment: nodes that take no jobs, what is free on the others."""
    return tuple(_now(job, eligible(job, nodes)))


def _now(job: JobDetail, nodes: Nodes) -> Iterator[str]:
    wanted = set(_expanded(job.request.required_nodes))
    of_it = [node for node in nodes if not wanted or node.name in wanted]
    for reason, members in _unable(of_it).items():
        yield f"{names(members)} {'take' if len(members) > 1 else 'takes'} no jobs: {reason}"
    able = [node for node in of_it if node.state.schedulable]
    if not able:
        return
    asked = needed_memory(job.request)
    roomy = max(able, key=lambda node: node.real_memory - node.alloc_memory)
    free = roomy.real_memory - roomy.alloc_memory
    if asked > free:
        needs = f"it needs {memory(asked)} memory on a node"
        yield f"{needs}; the most that is free is {memory(free)}, on {roomy.name}"
    cpus = sum(node.cpus - node.alloc_cpus for node in able)
    if job.request.cpus > cpus:
        yield f"it needs {job.request.cpus} CPUs; {cpus} are free on nodes that it may use"
    for gres in job.request.gres_per_node:
        left = [_has(n.gres, gres.name, gres.type) - _has(n.gres_used, gres.name, gres.type) for n in able]
        if sum(each >= gres.count for each in left) < max(1, job.request.nodes):
            yield f"it needs {gres.count} {gres.name} on a node; the most that are free are {max(left)}"


def _unable(nodes: Nodes) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for node in nodes:
        if not node.state.schedulable:
            told = f"{str(node.state).lower()}, {node.reason or 'no reason given'}"
            groups.setdefault(told, []).append(node.name)
    return groups


def needed_memory(request: Request) -> int:
    """Return the MiB that a node has to give at least; 0 where the job does not say."""
    return request.memory_per_node or request.memory_per_cpu * max(1, request.cpus_per_node)


def _has(text: str, name: str, kind: str) -> int:
    """Return how many of a GRES a node has or uses; one that cannot be read counts as enough."""
    try:
        found = quantity.parse_gres(text)
    except QuantityError:
        return 1 << 62
    return sum(gres.count for gres in found if gres.name == name and (not kind or gres.type == kind))


def _expanded(text: str) -> list[str]:
    try:
        return hostlist.expand(text)
    except HostlistError:
        return []
