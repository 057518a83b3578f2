"""System calls that Python 3.11 does not offer: namespaces and mounts. Errors are OSError."""

from __future__ import annotations

import ctypes
import os
import platform

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def unshare(flags: int) -> None:
    """unshare(2)."""
    _check(_libc.unshare(flags), "unshare")


def setns(fd: int, kind: int = 0) -> None:
    """setns(2); `kind` 0 takes whatever namespace the descriptor is."""
    _check(_libc.setns(fd, kind), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """mount(2); empty strings stand for NULL."""
    _check(
        _libc.mount(
            source.encode() or None, target.encode(), kind.encode() or None, flags, options.encode() or None
        ),
        target,
    )


def bind(source: str, target: str, *, read_only: bool = False, recursive: bool = False) -> None:
    """Bind-mount a file or directory; `read_only` needs a second call (mount(2), MS_REMOUNT|MS_BIND)."""
    mount(source, target, flags=MS_BIND | (MS_REC if recursive else 0))
    if read_only:
        mount("", target, flags=MS_BIND | MS_REMOUNT | MS_RDONLY)


def umount(target: str, flags: int = 0) -> None:
    """umount2(2)."""
    _check(_libc.umount2(target.encode(), flags), target)


def pivot_root(new_root: str) -> None:
    """Make `new_root`, a mount point, the root and detach the old one (pivot_root(2), NOTES)."""
    os.chdir(new_root)
    _check(_libc.syscall(_PIVOT_ROOT[platform.machine()], b".", b"."), new_root)
    umount(".", MNT_DETACH)
    os.chdir("/")
