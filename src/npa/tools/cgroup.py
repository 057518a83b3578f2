"""Control groups of the nodes: version 1 hierarchies (also hybrid) or the version 2 tree.

Everything is made below the caller's own group, so nothing escapes the caller's limits, and every path made
is returned, so that it can be removed again.
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import Literal

Version = Literal["v1", "v2", "none"]

ROOT = Path("/sys/fs/cgroup")
V1_CONTROLLERS = ("memory", "cpuset", "cpu", "cpuacct", "freezer", "devices", "pids", "blkio")
V2_CONTROLLERS = ("cpuset", "cpu", "memory", "pids", "io")


def version(root: Path = ROOT) -> Version:
    """Return the hierarchy that can hold memory limits, "none" where there is none to write to."""
    if os.access(root / "memory", os.W_OK):
        return "v1"
    with contextlib.suppress(OSError):
        if "memory" in (root / "cgroup.controllers").read_text().split() and os.access(root, os.W_OK):
            return "v2"
    return "none"


def hierarchies(root: Path = ROOT) -> dict[tuple[str, ...], str]:
    """Return the caller's group in each version 1 hierarchy: controllers mounted together -> path below it."""
    found = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, joined, path = line.split(":", 2)
        controllers = tuple(joined.split(","))
        if controllers[0] in V1_CONTROLLERS and (root / controllers[0]).is_dir():
            found[controllers] = path
    return found


def create_lab(name: str, root: Path = ROOT) -> dict[str, str]:
    """Make the group that holds all nodes of one cluster.

    Returns the path for each hierarchy by its first controller, "" for the version 2 tree.
    """
    found = version(root)
    if found == "none":
        return {}
    if found == "v2":
        lab = root / f"npa-{name}"
        lab.mkdir(exist_ok=True)
        for parent in (root, lab):
            _hand_down(parent)
        (lab / "launch").mkdir(exist_ok=True)
        return {"": str(lab)}
    made = {}
    for controllers, own in hierarchies(root).items():
        controller = controllers[0]
        lab = root / controller / own.lstrip("/") / f"npa-{name}"
        lab.mkdir(exist_ok=True)
        if "cpuset" in controllers:
            _copy_cpuset(lab)
        made[controller] = str(lab)
    return made


def create_node(lab: dict[str, str], node: str) -> list[str]:
    """Make a node's groups below the lab's; returns their paths."""
    made = []
    for controller, path in lab.items():
        group = Path(path) / node
        group.mkdir(exist_ok=True)
        if controller == "cpuset":
            _copy_cpuset(group)
        if controller == "":
            (group / "init").mkdir(exist_ok=True)
        made.append(str(group))
    return made


def enter(groups: list[str]) -> None:
    """Move the calling process into these groups."""
    for group in groups:
        Path(group, "cgroup.procs").write_text("0")


def joinable(lab: dict[str, str], node: str) -> list[str]:
    """Return the groups that a further process of a running node goes into."""
    return [f"{path}/{node}" if controller else f"{path}/{node}/init" for controller, path in lab.items()]


def delegate_v2(mount_point: str) -> None:
    """From a node's first process: step aside and hand its controllers down, so that slurmd may use them.

    A version 2 group with processes of its own cannot have controllers in its children
    (cgroups(7), "no internal processes" rule).
    """
    top = Path(mount_point)
    (top / "init" / "cgroup.procs").write_text("0")
    _hand_down(top)


def remove(paths: list[str]) -> None:
    """Remove these groups and all below them, which must be without processes."""
    for path in paths:
        for folder, _, _ in os.walk(path, topdown=False):
            with contextlib.suppress(FileNotFoundError):
                os.rmdir(folder)


def _hand_down(group: Path) -> None:
    for controller in V2_CONTROLLERS:
        try:
            (group / "cgroup.subtree_control").write_text(f"+{controller}")
        except OSError as error:
            # a controller that this kernel or the parent does not offer is not there to be handed down
            if error.errno not in (errno.ENOENT, errno.EINVAL):
                raise


def _copy_cpuset(group: Path) -> None:
    # a new version 1 cpuset is empty and takes no process until it is filled (cpuset(7))
    for name in ("cpuset.cpus", "cpuset.mems"):
        (group / name).write_text((group.parent / name).read_text())
