"""Reads what may tell why a node or a job of a local cluster is as it is. Changes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from npa.cluster.model import CONTROLLER, LOGIN
from npa.errors import NotFoundError, UnknownError
from npa.health import log_lines
from npa.health.explain import Place
from npa.health.explain_job import JobFacts
from npa.health.explain_node import NodeFacts
from npa.health.observation import Observation
from npa.render.local.layout import Layout
from npa.slurm import job_detail, lookup, replies
from npa.slurm.job_detail import JobDetail
from npa.slurm.job_id import JobId
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.slurm.replies import Rows, SlurmNodeReply
from npa.spec import nearest
from npa.targets.local import gather

TAIL = 1 << 20  # bytes of a log that are looked at
NO_SLURMCTLD = "slurmctld is not running"


def node(layout: Layout, seen: Observation, name: str) -> NodeFacts:
    """Return what is known of a node; raises NotFoundError for one that nobody knows."""
    _, running = gather.processes(layout, seen.name)
    slurm = gather.slurm_of(running)
    found: Lookup[SlurmNodeReply] = Unknown(NO_SLURMCTLD)
    if slurm:
        rows = lookup.ask(lambda: replies.nodes(slurm.nodes()))
        found = lookup.node(rows.value, name) if isinstance(rows, Found) else rows
    daemons = tuple(each for each in seen.daemons if each.node == name)
    if not daemons and not isinstance(found, Found):
        known = [*seen.expected_workers, *{each.node for each in seen.daemons}]
        raise NotFoundError(f"no node {name!r} in {seen.name}", hint=nearest.hint(name, known))
    place = _place(seen)
    about = log_lines.about_node(name)
    return NodeFacts(
        place=place,
        name=name,
        now=datetime.now(UTC),
        worker=name in seen.expected_workers or isinstance(found, Found),
        cluster_runs=seen.state == "present",
        alive=name in running,
        slurm=found,
        daemons=daemons,
        controller_up=slurm is not None,
        jobs=None if seen.jobs is None else tuple(job for job in seen.jobs if name in job.nodes),
        log=tuple(_log(layout, place.controller, about, "slurmctld")) if name != place.controller else (),
        own_log=tuple(_log(layout, name, lambda _: True)),
    )


def job(layout: Layout, seen: Observation, wanted: JobId) -> JobFacts:
    """Return what is known of a job: of slurmctld, and of accounting where that knows more.

    Raises NotFoundError where there is no such job, and UnknownError where that cannot be told.
    """
    _, running = gather.processes(layout, seen.name)
    slurm = gather.slurm_of(running)
    if slurm is None:
        raise UnknownError(NO_SLURMCTLD, hint=f"see `npa soperator status {seen.name}`")
    current = _meant(lambda: job_detail.current(slurm.show_job(wanted.number)), wanted)
    past: Lookup[tuple[JobDetail, ...]] = Absent()
    accounting = any(each.name == "slurmdbd" for each in seen.daemons)
    if accounting and not _complete(current):
        past = _meant(lambda: job_detail.accounted(slurm.accounted(wanted.number)), wanted)
    jobs, unread = _joined(seen.name, wanted, current, past)
    nodes = lookup.ask(lambda: replies.nodes(slurm.nodes()).rows)
    about = log_lines.about_job({each.job.number for each in jobs})
    hosts = list(dict.fromkeys(host for each in jobs for host in each.job.nodes))[:4]
    lines = [line for host in hosts for line in _log(layout, host, about, "slurmd")]
    return JobFacts(
        place=_place(seen),
        now=datetime.now(UTC),
        jobs=jobs,
        source="slurmctld" if isinstance(current, Found) else "accounting",
        nodes=nodes,
        accounting=accounting,
        log=(*_log(layout, _place(seen).controller, about, "slurmctld"), *lines),
        unread=unread,
    )


def _meant(read: Callable[[], Rows[JobDetail]], wanted: JobId) -> Lookup[tuple[JobDetail, ...]]:
    try:
        rows = lookup.ask(read)
    except NotFoundError:
        return Absent()
    if isinstance(rows, Unknown):
        return rows
    found = tuple(each for each in rows.value if each.is_meant(wanted))
    if found:
        return Found(found)
    return Unknown(rows.value.problems[0]) if rows.value.problems else Absent()


def _complete(current: Lookup[tuple[JobDetail, ...]]) -> bool:
    """Say whether slurmctld tells all there is; who cancelled a job is only in accounting."""
    return isinstance(current, Found) and not any(
        each.job.state.base == "CANCELLED" or each.array for each in current.value
    )


def _joined(
    cluster: str, wanted: JobId, current: Lookup[tuple[JobDetail, ...]], past: Lookup[tuple[JobDetail, ...]]
) -> tuple[tuple[JobDetail, ...], tuple[str, ...]]:
    """Return the jobs of both, slurmctld's word first, and what could not be read."""
    unread = tuple(f"{who}: {each.why}" for who, each in (("slurmctld", current), ("accounting", past))
                   if isinstance(each, Unknown))  # fmt: skip
    now = current.value if isinstance(current, Found) else ()
    then = {each.job.number: each for each in past.value} if isinstance(past, Found) else {}
    jobs = [job_detail.with_accounts(each, then.pop(each.job.number, None)) for each in now]
    jobs += [each for each in then.values() if each.job.state.terminal or not now]
    if jobs:
        return tuple(jobs), unread
    if unread:
        raise UnknownError(
            f"job {wanted} could not be looked up: {unread[0]}", hint=f"see `npa soperator status {cluster}`"
        )
    raise NotFoundError(
        f"no job {wanted} in {cluster}",
        hint="`squeue` lists those that wait and run; without accounting one that ended is soon forgotten",
    )


def _place(seen: Observation) -> Place:
    """Return where Slurm's commands are run: a controller whose slurmctld is up, where there is one."""
    controllers = [each for each in seen.daemons if each.name == "slurmctld"]
    up = [each.node for each in controllers if each.state == "up"]
    controller = next(iter(up or [each.node for each in controllers]), f"{CONTROLLER}-0")
    login = next((each.node for each in seen.daemons if each.name == "sshd"), f"{LOGIN}-0")
    return Place(seen.name, controller, login)


def _log(layout: Layout, name: str, wanted: Callable[[str], bool], daemon: str = "") -> Iterator[str]:
    """Yield the last lines of a node's logs that are wanted, each with its daemon."""
    folder = Path(layout.log(name))
    proper = {path.stem: path for path in sorted(folder.glob("*.log"))}
    spare = {path.stem: path for path in sorted(folder.glob("*.out")) if path.stem not in proper}
    for stem, path in {**proper, **spare}.items():
        if not daemon or stem == daemon:
            for line in log_lines.last(_tail(path), wanted):
                yield f"{name} {stem} | {line}"


def _tail(path: Path) -> list[str]:
    """Return the last lines of a file, whole ones only."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL))
            lines = file.read(TAIL).decode(errors="replace").splitlines()
    except OSError:
        return []
    return lines[1:] if size > TAIL else lines
