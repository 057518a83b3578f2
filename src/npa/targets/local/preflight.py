"""What this machine must have; everything that it lacks is said at once."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from npa.errors import PreflightError, ToolError
from npa.tools import disk, run

GIB = 1 << 30
IMAGE_BYTES = 2 * GIB  # unpacked root, packages and apt's lists while it is built
STATE_BYTES = GIB // 2  # database, logs, and what users first put into the jail
_NAMESPACES = ("mnt", "pid", "net", "uts", "ipc", "cgroup")
_BUILDERS = ("mmdebstrap", "gcc", "dpkg-deb", "chroot")

Lack = tuple[str, str]


def require_root() -> None:
    """Reading and changing a local cluster needs root of this machine. Raises PreflightError."""
    lacks = tuple(_machine())
    if lacks:
        raise PreflightError(lacks)


def require(state: Path, cache: Path, *, building: bool, starting: bool) -> None:
    """Raise PreflightError with everything that this machine lacks for what is about to be done."""
    lacks = list(_machine())
    if not lacks:
        lacks += [*_tools(building), *_room(state, cache, building)]
        lacks += _namespaces() if starting else ()
    if lacks:
        raise PreflightError(lacks)


def _machine() -> Iterator[Lack]:
    if platform.system() != "Linux":
        yield f"this is {platform.system()}", "run it on Linux, or in a Linux virtual machine"
    elif os.geteuid() != 0:
        yield "the local target needs root", "run the same command with sudo"
    elif platform.machine() not in ("x86_64", "aarch64"):
        yield f"processor {platform.machine()} is not supported", "use an x86_64 or aarch64 machine"


def _tools(building: bool) -> Iterator[Lack]:
    for program in ("nsenter", *(_BUILDERS if building else ())):
        if shutil.which(program) is None:
            yield f"{program} is not installed", f"apt-get install -y {run.PACKAGES.get(program, program)}"


@cache
def _namespaces() -> tuple[Lack, ...]:
    """Return why namespaces may not be made; asked once, since a kernel does not change its mind."""
    return tuple(_without_namespaces())


def _without_namespaces() -> Iterator[Lack]:
    missing = [name for name in _NAMESPACES if not Path(f"/proc/self/ns/{name}").exists()]
    if missing:
        yield f"the kernel has no {', '.join(missing)} namespaces", "use a kernel with namespaces"
        return
    try:
        run.run(["unshare", "-m", "-u", "-i", "-p", "-n", "-C", "--fork", "true"], timeout=20)
    except ToolError as error:
        last = error.stderr.strip().splitlines()[-1:] or ["no reason given"]
        yield (
            f"namespaces may not be made here: {last[0]}",
            "run on the machine itself or in a privileged container (CAP_SYS_ADMIN)",
        )


def _room(state: Path, cache: Path, building: bool) -> Iterator[Lack]:
    wanted = [(state, STATE_BYTES), *([(cache, IMAGE_BYTES)] if building else [])]
    for path, needed in wanted:
        free = disk.free_bytes(path)
        if free < needed:
            variable = "NPA_CACHE_DIR" if path == cache else "NPA_STATE_DIR"
            yield (
                f"{path} has {free / GIB:.1f} GiB free, {needed / GIB:.1f} GiB are needed",
                f"free some space, or set {variable} to a folder on a larger disk",
            )
