"""Puts a node's root together, from inside its new namespaces, as `render.local.model` lists it."""

from __future__ import annotations

import os
import socket
from typing import Any

from npa.tools import cgroup, iproute, linux

CGROUP_MOUNT = "/sys/fs/cgroup"


def assemble(root: str, rootfs: str, steps: list[dict[str, Any]]) -> None:
    """Put a node's root together below `root`, an empty directory. Raises OSError."""
    linux.mount("", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    linux.bind(rootfs, root, read_only=True)
    for step in steps:
        _OPERATIONS[step["op"]](root, step)


def assemble_jail(steps: list[dict[str, Any]]) -> None:
    """Put the node's own mounts into the jail, with the node's root as ours. Raises OSError.

    A mount point that users have removed is made again.
    """
    for step in steps:
        if step["op"] != "directory" and not os.path.lexists(step["path"]):
            os.makedirs(step["path"])
        _OPERATIONS[step["op"]]("", step)


def finish_cgroups(root: str) -> None:
    """Hand the node's controllers down, once the process that started us has left the group."""
    if os.path.exists(f"{root}{CGROUP_MOUNT}/init/cgroup.procs"):
        cgroup.delegate_v2(root + CGROUP_MOUNT)


def network(name: str, address: str, gateway: str, gateway_mac: str) -> None:
    """Name the node and bring its one link up; the current root is the node's own."""
    socket.sethostname(name)
    # a vanished node answers nothing: give up connecting after some seconds instead of two minutes (tcp(7))
    with open("/proc/sys/net/ipv4/tcp_syn_retries", "w", encoding="utf-8") as file:
        file.write("2")
    lines = [
        "link set lo up",
        f"addr add {address}/32 dev eth0",
        "link set eth0 up",
        f"neigh add {gateway} lladdr {gateway_mac} dev eth0 nud permanent",
        f"route add {gateway} dev eth0",
        f"route add default via {gateway}",
    ]
    iproute.batch("/", lines)


def _directory(root: str, step: dict[str, Any]) -> None:
    path = root + step["path"]
    if not os.path.isdir(path):
        os.mkdir(path)
    os.chmod(path, step["mode"])
    os.chown(path, step["uid"], step["gid"])


def _link(root: str, step: dict[str, Any]) -> None:
    os.symlink(step["target"], root + step["path"])


def _device(root: str, step: dict[str, Any]) -> None:
    path = root + step["path"]
    os.mknod(path, 0o020666, os.makedev(step["major"], step["minor"]))
    os.chmod(path, 0o666)


def _mount(root: str, step: dict[str, Any]) -> None:
    flags = linux.MS_RDONLY if step["read_only"] else 0
    linux.mount(step["kind"], root + step["path"], step["kind"], flags, step["options"])


def _bind(root: str, step: dict[str, Any]) -> None:
    linux.bind(step["source"], root + step["path"], read_only=step["read_only"], recursive=step["recursive"])


def _cgroups(root: str, step: dict[str, Any]) -> None:
    """Mount the hierarchies; in our cgroup namespace each shows the node's group as its root."""
    path = root + step["path"]
    if cgroup.version() == "v2":
        linux.mount("cgroup2", path, "cgroup2")
        return
    linux.mount("tmpfs", path, "tmpfs", options="mode=755")
    for hierarchy in cgroup.hierarchies():
        joined = ",".join(hierarchy)
        os.mkdir(f"{path}/{joined}")
        linux.mount("cgroup", f"{path}/{joined}", "cgroup", options=joined)
        for controller in hierarchy[1:] and hierarchy:
            os.symlink(joined, f"{path}/{controller}")


_OPERATIONS = {
    "directory": _directory,
    "link": _link,
    "device": _device,
    "mount": _mount,
    "bind": _bind,
    "cgroups": _cgroups,
}
