"""Gives a cluster a new key: whoever reads the old one is ended first, so that no two daemons ever differ.

The daemons read their keys once, when they start (slurm.conf(5), AuthInfo and AuthAltParameters). With all of
them ended the file is replaced in one step, and a deploy starts what is missing: cut short anywhere, every
daemon that runs has the same key, and `deploy` brings back the rest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from npa.errors import NotFoundError, UnknownError
from npa.plan.model import Plan, Step
from npa.render.local.layout import Layout
from npa.render.local.nodes import SLURM_UID
from npa.render.local.world import Running, World
from npa.targets.base import Listener, told_of
from npa.targets.local import stop
from npa.tools import disk

KeyName = Literal["auth", "jwt"]


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a cluster, and who reads it."""

    file: str
    size: int  # bytes
    what: str
    readers: frozenset[str]  # daemons; empty: everything, the steps of running jobs too


KEYS: Mapping[KeyName, Key] = {
    "auth": Key("slurm.key", 1024, "by which daemons and clients know one another", frozenset()),
    "jwt": Key(
        "jwt_hs256.key",
        32,
        "which signs tokens; every token that was given out ends",
        frozenset({"slurmctld", "slurmdbd", "slurmrestd"}),
    ),
}


def plan(name: str, key: Key, world: World, layout: Layout, *, force: bool) -> Plan:
    """Return the steps; raises NotFoundError without a cluster, UnknownError where jobs may be."""
    if world.record is None:
        raise NotFoundError(f"no cluster {name!r} on this machine", hint="see `npa soperator list`")
    steps = []
    if world.lab and key.readers:
        nodes = tuple(node for node, found in world.nodes.items() if _readers(key, found))
        steps.append(Step("stop", ", ".join(sorted(key.readers)), "they read it", "stop:readers", nodes))
    elif world.lab:
        steps.append(_stop_all(name, world, force=force))
    path = f"{layout.daemons_etc}/{key.file}"
    steps.append(Step("write", path, f"a new key, {key.what}", "write:key"))
    if world.lab:
        steps.append(Step("start", f"cluster {name}", "what was stopped", "start:again"))
    return Plan(name, "local", tuple(steps))


def _stop_all(name: str, world: World, *, force: bool) -> Step:
    if world.slurm is None and not force:
        raise UnknownError(
            f"cannot tell whether jobs run on {name}: {world.slurm_problem}",
            hint="bring slurmctld back with `npa soperator deploy`, or end all with `--force`",
        )
    jobs = world.slurm.running if world.slurm else ()
    why = "every daemon, client and step of a job has read it"
    kills = force and bool(jobs)
    return Step("stop", f"lab {name}", why, "stop:lab", tuple(world.nodes), jobs, kills_jobs=kills)


def end_readers(key: Key, world: World) -> None:
    """End whoever has read the key."""
    if not key.readers:
        if world.agent:
            stop.end_daemon(world.agent)
        if world.lab:
            stop.end_lab(world.lab)
        return
    for found in world.nodes.values():
        for pid in _readers(key, found):
            stop.end_daemon(pid)


def _readers(key: Key, found: Running) -> tuple[int, ...]:
    """Return who has read the key on a node; one that is halted would go on with the old one."""
    there = {**found.daemons, **found.stopped}
    return tuple(there[daemon] for daemon in sorted(key.readers & set(there)))


def write(key: Key, layout: Layout) -> bytes:
    """Replace the key in one step; returns the old one."""
    path = Path(layout.daemons_etc, key.file)
    before = path.read_bytes()
    put(key, layout, os.urandom(key.size))
    return before


def put(key: Key, layout: Layout, content: bytes) -> None:
    """Write the key as its readers want it."""
    path = Path(layout.daemons_etc, key.file)
    disk.write_bytes(path, content, mode=0o600, uid=SLURM_UID, gid=SLURM_UID)


def end_and_write(key: Key, layout: Layout, world: World, agreed: Plan, heard: Listener) -> bytes:
    """End the readers and replace the key; returns the old one."""
    stopping = "stop:readers" if key.readers else "stop:lab"
    with told_of(agreed, stopping, heard):
        end_readers(key, world)
    with told_of(agreed, "write:key", heard):
        return write(key, layout)
