"""Nodes as namespaces on this machine: start them, run commands in them, end them."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from npa.errors import ToolError
from npa.render.local.layout import Layout
from npa.render.local.model import Node, Process
from npa.tools import run as runner

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
JAIL = "/mnt/jail"


@dataclass(frozen=True, slots=True)
class Started:
    """What the launcher started, by this machine's PIDs; errors by node, "" for the lab itself."""

    lab: int
    nodes: Mapping[str, int]
    errors: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Restart:
    """A daemon to start again in a running node."""

    node: str
    pid: int  # of the node's first process
    process: Process


@dataclass(frozen=True, slots=True)
class Reconnect:
    """A running node that gets a new link."""

    node: str
    pid: int  # of the node's first process
    address: str


class Containers:
    """The nodes of one cluster: one lab of namespaces over one root file system."""

    def __init__(self, rootfs: Path, layout: Layout, run: runner.Run = runner.run) -> None:
        self._rootfs = rootfs
        self._layout = layout
        self._run = run

    def launch(
        self,
        lab: int | str,
        cgroups: Mapping[str, str],
        nodes: Sequence[tuple[str, Node]] = (),
        daemons: Sequence[Restart] = (),
        links: Sequence[Reconnect] = (),
        *,
        timeout: float = 120,
    ) -> Started:
        """Start or connect nodes and daemons in a lab: a PID, or the title of one to start first.

        Nodes come with their titles, which ps(1) shows and by which they are found again. `timeout` is in
        seconds.
        """
        layout = self._layout
        overlay = {
            "lower": str(self._rootfs),
            "upper": f"{layout.state}/jail/upper",
            "work": f"{layout.state}/jail/work",
            "target": layout.jail,
        }
        request = {
            "rootfs": str(self._rootfs),
            "lab_root": layout.lab_root,
            "mount_point": layout.mount_point,
            "lab": {"title": lab, "overlay": overlay} if isinstance(lab, str) else {"pid": lab},
            "cgroups": dict(cgroups),
            "nodes": [
                {**asdict(node), "title": title, "log": layout.log(node.name)} for title, node in nodes
            ],
            "daemons": [
                {
                    "node": each.node,
                    "pid": each.pid,
                    "log": layout.log(each.node),
                    "process": asdict(each.process),
                }
                for each in daemons
            ],
            "links": [asdict(each) for each in links],
        }
        argv = [sys.executable, "-m", "npa.tools.launch"]
        answer = json.loads(self._run(argv, stdin=json.dumps(request), timeout=timeout))
        return Started(answer.get("lab", 0), answer["nodes"], answer["errors"])


def run_inside(
    pid: int, argv: Sequence[str], *, jail: bool = False, stdin: str = "", timeout: float = 30
) -> str:
    """Run a command as root in a node and return its stdout; raises ToolError."""
    return runner.run(inside(pid, argv, jail=jail), stdin=stdin, timeout=timeout)


def inside(pid: int, argv: Sequence[str], *, jail: bool, network: bool = True, term: str = "") -> list[str]:
    """Return the command line that runs `argv` in the node whose first process is `pid`.

    `jail` runs it in the users' root, else in the daemons'. Without `network` it keeps this machine's own
    network, so that a package can be fetched.
    """
    spaces = ["-m", "-u", "-i", "-p", "-C", *(["-n"] if network else [])]
    home = "/root" if jail else "/"
    env = [
        "env",
        "-i",
        "-C",
        home,
        f"PATH={PATH}",
        "LANG=C.UTF-8",
        "HOME=/root",
        "USER=root",
        *([f"TERM={term}"] if term else []),
    ]
    # the jail is entered by chroot and `env -C` inside it: the working directory has to exist there
    root = ["chroot", JAIL] if jail else []
    return ["nsenter", "-t", str(pid), *spaces, "-r", "-w", "--", *root, *env, *argv]


def end(pid: int) -> None:
    """End a lab or a node at once: a PID namespace ends with its first process (pid_namespaces(7))."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def signal_process(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process that may be gone already."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
    except PermissionError as error:
        raise ToolError(("kill", str(pid)), 1, str(error)) from error
