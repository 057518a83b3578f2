"""Leaves nothing of a cluster: no process, mount, network, control group or file of it."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from npa.errors import NotFoundError, NpaError, UnknownError
from npa.plan.model import Plan, Step
from npa.render.local.layout import Layout
from npa.render.local.world import World
from npa.targets.base import Listener, told
from npa.targets.local import gather, stop
from npa.tools import cgroup, disk


def plan(name: str, world: World, layout: Layout, *, force: bool) -> Plan:
    """Return what is to be removed; raises NotFoundError where there is nothing of that name."""
    there = Path(layout.state).exists()
    if not there and not world.lab:
        raise NotFoundError(f"no cluster {name!r} on this machine", hint="see `npa soperator list`")
    if world.lab and world.slurm is None and not force and _ran_jobs(world):
        raise UnknownError(
            f"cannot tell whether jobs run on {name}: {world.slurm_problem}",
            hint="bring slurmctld back with `npa soperator deploy`, or end all with `--force`",
        )
    steps = []
    if world.agent:
        steps.append(Step("stop", "power agent", "it would start nodes again", "stop:agent"))
    if world.lab:
        nodes = tuple(world.nodes)
        jobs = world.slurm.running if world.slurm else ()
        steps.append(
            Step(
                "stop",
                f"lab {name}",
                f"{len(nodes)} nodes",
                "stop:lab",
                nodes,
                jobs,
                kills_jobs=force and bool(jobs),
            )
        )
    if there:
        steps.append(Step("remove", layout.state, "jail, database, keys and logs", "remove:state"))
    unknown = world.lab and world.slurm is None
    notes = (f"running jobs are unknown: {world.slurm_problem}",) if unknown else ()
    return Plan(name, "local", tuple(steps), notes=(*notes, "the cached image stays"))


def _ran_jobs(world: World) -> bool:
    """Say whether jobs may be there: none are before slurmctld has read its files for the first time."""
    return world.record is None or "slurmctld" in world.record.loaded


def apply(layout: Layout, world: World, agreed: Plan, heard: Listener) -> None:
    """Do the steps; raises NpaError or RefusedError while anything is left. Safe to repeat."""
    for step in agreed.steps:
        with told(step, heard):
            if step.key == "stop:agent":
                stop.end_daemon(world.agent)
            elif step.key == "stop:lab":
                stop.end_lab(world.lab)
            else:
                _remove(layout, world)


def _remove(layout: Layout, world: World) -> None:
    found = world.record.cgroups if world.record else cgroup.lab_groups(gather.group_name(layout))
    groups = tuple(found.values())
    deadline = time.monotonic() + stop.KILLED
    # a group can be removed once the kernel has let go of its last process
    while left := cgroup.remove(groups):
        if time.monotonic() > deadline:
            raise NpaError(f"control group {left[0]} cannot be removed", hint="run the same command again")
        time.sleep(stop.POLL)
    state = Path(layout.state)
    disk.remove_tree(state)
    for parent in (state.parent, state.parent.parent):
        # of the last cluster nothing stays, not even an empty folder
        with contextlib.suppress(OSError):
            parent.rmdir()
