"""`ip` of the daemons' root, run in whatever namespaces the caller is in. For the launcher only."""

from __future__ import annotations

import contextlib
import os

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def batch(rootfs: str, lines: list[str]) -> None:
    """Run `ip -batch`; raises OSError when a line fails."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(read, 0)
            os.close(write)
            os.chroot(rootfs)
            os.execve("/usr/sbin/ip", ["ip", "-batch", "-"], {"PATH": PATH})
        finally:
            os._exit(127)  # never back into the caller, of which this is a copy
    os.close(read)
    # one that ended early says why by its exit status
    with contextlib.suppress(BrokenPipeError), os.fdopen(write, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    _, status = os.waitpid(child, 0)
    if status:
        raise OSError(0, f"`ip -batch` exited {os.waitstatus_to_exitcode(status)}")
