"""Control groups of the nodes: version 1 hierarchies (also hybrid) or the version 2 tree.

Everything is made below the caller's own group, so nothing escapes the caller's limits, and every path made
is returned, so that it can be removed again.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Mapping
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


def limits_swap(found: Version, root: Path = ROOT, swaps: Path = Path("/proc/swaps")) -> bool | None:
    """Say whether a limit of swap can be set; None on a machine without swap, which needs none."""
    if len(swaps.read_text().splitlines()) < 2:
        return None
    if found == "v1":
        return (root / "memory" / "memory.memsw.limit_in_bytes").exists()
    return found == "v2" and any(root.glob("*/memory.swap.max"))


def hierarchies(root: Path = ROOT) -> dict[tuple[str, ...], str]:
    """Return the caller's own group in each version 1 hierarchy, by the controllers mounted together."""
    found = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, joined, path = line.split(":", 2)
        controllers = tuple(joined.split(","))
        if controllers[0] in V1_CONTROLLERS and (root / controllers[0]).is_dir():
            found[controllers] = path
    return found


def lab_groups(name: str, root: Path = ROOT) -> dict[str, str]:
    """Return where the group that holds all nodes of one cluster belongs, without making it.

    The path for each hierarchy by its first controller, "" for the version 2 tree; empty without cgroups.
    """
    found = version(root)
    if found == "none":
        return {}
    if found == "v2":
        return {"": str(root / name)}
    return {
        controllers[0]: str(root / controllers[0] / own.lstrip("/") / name)
        for controllers, own in hierarchies(root).items()
    }


def create_lab(groups: Mapping[str, str]) -> None:
    """Make the groups that `lab_groups` named."""
    for controller, path in groups.items():
        lab = Path(path)
        lab.mkdir(exist_ok=True)
        if (lab / "cpuset.cpus").exists() and controller:
            _copy_cpuset(lab)
        if not controller:
            for parent in (lab.parent, lab):
                _hand_down(parent)


def create_node(lab: Mapping[str, str], node: str) -> list[str]:
    """Make a node's groups below the lab's; returns their paths."""
    made = []
    for controller, path in lab.items():
        group = Path(path) / node
        group.mkdir(exist_ok=True)
        if (group / "cpuset.cpus").exists() and controller:
            _copy_cpuset(group)
        if not controller:
            (group / "init").mkdir(exist_ok=True)
        made.append(str(group))
    return made


def enter(groups: list[str]) -> None:
    """Move the calling process into these groups."""
    for group in groups:
        Path(group, "cgroup.procs").write_text("0")


def joinable(lab: Mapping[str, str], node: str) -> list[str]:
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


def remove(paths: Iterable[str]) -> list[str]:
    """Remove these groups and all below them; returns those that still hold processes."""
    left = []
    for path in paths:
        for folder, _, _ in os.walk(path, topdown=False):
            try:
                os.rmdir(folder)
            except FileNotFoundError:
                continue
            except OSError as error:
                if error.errno != errno.EBUSY:
                    raise
                left.append(folder)
    return left


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
