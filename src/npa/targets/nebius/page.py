"""Reads what the page of an installation shows: Slurm, its accounts, Terraform's state, its own files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from npa.errors import NpaError
from npa.page.facts import UNKNOWN_SWITCH, Facts, Group, Past, Topology
from npa.render.nebius.fix_model import SLURM_NAMESPACE
from npa.render.nebius.held import NodeGroup
from npa.render.objects import POD, Object, dig, name_of
from npa.slurm import job_detail, quantity, usage
from npa.slurm.job_detail import JobDetail
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.slurm.replies import Rows, SlurmNodeReply
from npa.targets.nebius import controller, looking, records, releases
from npa.targets.nebius.looking import Seen
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.outside import Outside
from npa.targets.nebius.ports import KubeApi
from npa.tools.slurm import Slurm

ASK, ACCOUNTS = 30.0, 60.0  # seconds for a command of Slurm's; a month of accounts is a hundred thousand jobs
GONE = Unknown("its cluster is gone")
UNREAD = ("not known",)  # in the place of pods of which Kubernetes does not say
_COMPONENT = "app.kubernetes.io/component"
_T = TypeVar("_T")


def facts(outside: Outside, name: str, options: NebiusOptions, days: int) -> Facts:
    """Return what is known of an installation; raises NotFoundError where there is none of that name."""
    with looking.reached(outside, name, options) as found:
        seen = looking.seen(name, found.kube, found.state)
        now = datetime.now(UTC)
        kube = found.kube.value if isinstance(found.kube, Found) else None
        why = found.kube if isinstance(found.kube, Unknown) else GONE
        return Facts(
            name=name,
            target="nebius",
            now=now,
            report=seen.report,
            topology=_topology(seen, kube),
            nodes=Found(seen.status.nodes) if seen.status.nodes is not None else _unread(seen, why),
            jobs=_jobs(kube) if kube else why,
            past=_past(kube, now, days) if kube else why,
            history=records.load_history(found.folder),
        )


def _unread(seen: Seen, why: Unknown) -> Unknown:
    told = [each for each in seen.status.unknown if each.startswith("slurm:")]
    return Unknown(told[0].removeprefix("slurm: ")) if told else why


def _jobs(kube: KubeApi) -> Found[Rows[JobDetail]] | Unknown:
    return _ask(lambda: job_detail.current(_slurm(kube, ASK).jobs()))


def _past(kube: KubeApi, now: datetime, days: int) -> Lookup[Past]:
    if isinstance(releases.slurmdbd(kube), Absent):
        return Absent()
    since = now - timedelta(days=days)
    return _ask(lambda: Past(since, usage.past(_slurm(kube, ACCOUNTS).past(days))))


def _slurm(kube: KubeApi, timeout: float) -> Slurm:
    return Slurm(controller.executes(kube, timeout))


def _ask(read: Callable[[], _T]) -> Found[_T] | Unknown:
    try:
        return Found(read())
    except NpaError as error:
        return Unknown(str(error))


def _topology(seen: Seen, kube: KubeApi | None) -> Topology | None:
    """Return how it is put together; None where neither Terraform nor Slurm says."""
    rows = seen.status.nodes.rows if seen.status.nodes is not None else ()
    pools = tuple(_pools(seen.status.node_groups or (), rows))
    if not pools:
        return None
    parts = _parts(kube)
    return Topology(
        controllers=parts.get("controller", ()) if parts is not None else UNREAD,
        logins=parts.get("login", ()) if parts is not None else UNREAD,
        others=(*parts.get("accounting", ()), *parts.get("rest", ())) if parts is not None else UNREAD,
        pools=pools,
        partitions=tuple(_partitions(rows)),
        switches=(Group(UNKNOWN_SWITCH, tuple(node for pool in pools for node in pool.nodes)),),
    )


def _pools(groups: Sequence[NodeGroup], rows: Sequence[SlurmNodeReply]) -> Iterator[Group]:
    """Yield each pool: its nodes by Terraform's count, and those that Slurm alone knows."""
    nodes: dict[str, list[str]] = {}
    modes: dict[str, set[str]] = {}
    for each in groups:
        mine = nodes.setdefault(each.pool, [])
        mine += [f"{each.pool}-{len(mine) + index}" for index in range(each.nodes or 0)]
        modes.setdefault(each.pool, set()).add(each.mode)
    for row in rows:
        mine = nodes.setdefault(row.name.rpartition("-")[0] or row.name, [])
        mine += [row.name] if row.name not in mine else []
    known = {row.name: row for row in rows}
    for pool, names in nodes.items():
        mode = " and ".join(sorted(modes.get(pool, ())))
        shape = next((_shape(known[name]) for name in names if name in known), "")
        yield Group(pool, tuple(names), ", ".join(each for each in (shape, mode) if each))


def _shape(node: SlurmNodeReply) -> str:
    try:
        gpus = str(quantity.gpus(quantity.parse_gres(node.gres)) or "")
    except quantity.QuantityError:
        gpus = "unknown"
    return f"{node.cpus} CPUs, {node.real_memory / 1024:.0f}G" + (f", {gpus} GPUs" if gpus else "")


def _partitions(rows: Sequence[SlurmNodeReply]) -> Iterator[Group]:
    found: dict[str, list[str]] = {}
    for row in rows:
        for partition in row.partitions:
            found.setdefault(partition, []).append(row.name)
    yield from (Group(name, tuple(names)) for name, names in sorted(found.items()))


def _parts(kube: KubeApi | None) -> Mapping[str, tuple[str, ...]] | None:
    """Return the pods of the cluster's own daemons by what they are; None where Kubernetes does not say."""
    listed = kube.list(POD, SLURM_NAMESPACE) if kube else Unknown("nobody to ask")
    if isinstance(listed, Unknown):
        return None
    pods: tuple[Object, ...] = listed.value if isinstance(listed, Found) else ()
    found: dict[str, tuple[str, ...]] = {}
    for pod in sorted(pods, key=name_of):
        part = str(dig(pod, "metadata", "labels", _COMPONENT))
        found[part] = (*found.get(part, ()), name_of(pod))
    return found
