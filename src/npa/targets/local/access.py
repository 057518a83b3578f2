"""Ways into a running cluster: commands, logins, a port, logs."""

from __future__ import annotations

import os
import select
import shlex
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from npa.cluster.model import ACCOUNTING, CONTROLLER, REST
from npa.errors import NotFoundError, NpaError
from npa.render.local.layout import Layout
from npa.spec import nearest
from npa.tools import container, linux, run

_POLL = 0.3  # seconds between looks at logs that are followed
# the command line with whatever Python runs us, wherever its script is installed
_NPA = (sys.executable, "-c", "import sys; from npa.cli.main import main; sys.exit(main())")
_WITHOUT_USERS = (CONTROLLER, ACCOUNTING, REST)  # nodes that run nothing in the jail


def execute(running: Mapping[str, int], node: str, argv: Sequence[str], *, root: str, network: str) -> int:
    """Run a command on a node with our own terminal; returns its exit code."""
    pid = _pid(running, node)
    jail = root == "jail" or (not root and node.rpartition("-")[0] not in _WITHOUT_USERS)
    term = os.environ.get("TERM", "")
    return run.interactive(container.inside(pid, argv, jail=jail, network=network != "host", term=term))


def ssh(name: str, layout: Layout, running: Mapping[str, int], user: str, argv: Sequence[str]) -> int:
    """Log in to the first login node with the machine's ssh; returns its exit code."""
    node = next((each for each in running if each.startswith("login-")), "login-0")
    _pid(running, node)
    proxy_argv = [*_NPA, "soperator", "proxy", "--cluster", name, node, "22"]
    # ssh expands % in this option
    command = shlex.join(proxy_argv).replace("%", "%%")
    options = {
        "ProxyCommand": command,
        "IdentityFile": f"{layout.ssh_etc}/npa_ed25519",
        "IdentitiesOnly": "yes",
        "HostKeyAlias": f"npa-{name}",
        "UserKnownHostsFile": f"{layout.ssh_etc}/known_hosts",
        "StrictHostKeyChecking": "yes",
        "LogLevel": "ERROR",
    }
    flags = [part for key, value in options.items() for part in ("-o", f"{key}={value}")]
    return run.interactive(["ssh", "-F", "none", *flags, f"{user}@{node}", *argv])


def proxy(running: Mapping[str, int], node: str, port: int) -> None:
    """Relay stdin and stdout to a TCP port of a node until either side ends."""
    space = os.open(f"/proc/{_pid(running, node)}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    linux.setns(space, linux.CLONE_NEWNET)
    try:
        peer = socket.create_connection(("127.0.0.1", port), timeout=10)
    except OSError as error:
        raise NpaError(f"{node} does not answer on port {port}: {error.strerror or error}") from error
    peer.settimeout(None)
    with peer:
        _relay(peer)


def _relay(peer: socket.socket) -> None:
    sources: list[int] = [0, peer.fileno()]
    while peer.fileno() in sources:
        for source in select.select(sources, [], [])[0]:
            if source == 0:
                data = os.read(0, 65536)
                if data:
                    peer.sendall(data)
                else:
                    peer.shutdown(socket.SHUT_WR)
                    sources.remove(0)
                continue
            data = peer.recv(65536)
            if not data:
                return
            while data:
                data = data[os.write(1, data) :]


def logs(layout: Layout, node: str, *, lines: int, follow: bool) -> Iterator[str]:
    """Return the last lines of each daemon's log, then, with `follow`, what is added to any of them."""
    folder = Path(layout.log(node))
    if not folder.is_dir():
        known = sorted(path.name for path in folder.parent.iterdir()) if folder.parent.is_dir() else []
        raise NotFoundError(f"no logs of a node {node!r}", hint=nearest.hint(node, known))
    opened = {path: path.open(encoding="utf-8", errors="replace") for path in _log_files(folder)}
    try:
        for path, file in opened.items():
            for line in deque(file, maxlen=lines):
                yield _line(path, line)
        while follow:
            added = [_line(path, line) for path, file in opened.items() for line in _added(file)]
            yield from added
            if not added:
                time.sleep(_POLL)
    finally:
        for file in opened.values():
            file.close()


def _log_files(folder: Path) -> list[Path]:
    """Return a log per daemon: the one it names itself, else what it wrote to its terminal."""
    proper = {path.stem: path for path in sorted(folder.glob("*.log"))}
    return [*proper.values(), *(path for path in sorted(folder.glob("*.out")) if path.stem not in proper)]


def _line(path: Path, line: str) -> str:
    return f"{path.stem} | {line.rstrip()}"


def _added(file: TextIO) -> list[str]:
    return file.readlines()


def _pid(running: Mapping[str, int], node: str) -> int:
    if node not in running:
        raise NotFoundError(
            f"node {node!r} is not running",
            hint=nearest.hint(node, running) if running else "start the cluster: npa soperator deploy",
        )
    return running[node]
