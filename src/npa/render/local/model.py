"""What a node on this machine is made of: plain values that the launcher carries out in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Directory:
    """Make a directory (parents must exist), or give an existing one this mode and owner."""

    path: str
    mode: int = 0o755
    uid: int = 0
    gid: int = 0
    op: Literal["directory"] = "directory"


@dataclass(frozen=True, slots=True)
class Link:
    """Make a symbolic link."""

    path: str
    target: str
    op: Literal["link"] = "link"


@dataclass(frozen=True, slots=True)
class Device:
    """Make a character device node."""

    path: str
    major: int
    minor: int
    op: Literal["device"] = "device"


@dataclass(frozen=True, slots=True)
class Mount:
    """Mount a file system that the kernel makes."""

    kind: Literal["tmpfs", "proc", "sysfs", "devpts", "mqueue"]
    path: str
    options: str = ""
    read_only: bool = False
    op: Literal["mount"] = "mount"


@dataclass(frozen=True, slots=True)
class Bind:
    """Bind what is at `source`: a path of the machine, or of the node itself once it has its root."""

    source: str
    path: str
    read_only: bool = False
    recursive: bool = False
    op: Literal["bind"] = "bind"


@dataclass(frozen=True, slots=True)
class Cgroups:
    """Mount the node's own control groups below `path`."""

    path: str
    op: Literal["cgroups"] = "cgroups"


Setup = Directory | Link | Device | Mount | Bind | Cgroups


@dataclass(frozen=True, slots=True)
class Process:
    """A daemon of a node; its output goes to `<log folder of the node>/<name>.log`."""

    name: str  # as the kernel calls it (comm), so that it is found again
    argv: tuple[str, ...]
    uid: int = 0
    gid: int = 0
    env: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """One node: its name, address, how its root is put together, and its daemons."""

    name: str
    address: str
    shape: str  # what Slurm is told of a worker's machine; "" for the control plane
    setup: tuple[Setup, ...]
    # done with the node's root as `/`: what users may have made of paths in the jail leads nowhere else
    jail: tuple[Setup, ...]
    processes: tuple[Process, ...]
