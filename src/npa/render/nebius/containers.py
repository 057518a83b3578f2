"""What keeps Enroot and Pyxis from starting a container, found before a user does; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

SYSCTL = "kernel.apparmor_restrict_unprivileged_userns"
_KEY = "/proc/sys/" + SYSCTL.replace(".", "/")
_SAID = re.compile(r"NPA_USERNS sysctl=(absent|[0-9]+) unshare=(ok|denied)")

# As a user without privileges: root may make namespaces whatever the sysctl says.
_SCRIPT = f"""
if [ -e {_KEY} ]; then value=$(cat {_KEY}); else value=absent; fi
if setpriv --reuid=65534 --regid=65534 --clear-groups unshare --user true 2>/dev/null
then made=ok; else made=denied; fi
echo "NPA_USERNS sysctl=$value unshare=$made"
"""


def probe() -> tuple[str, ...]:
    """Return the command that a worker is asked with."""
    return ("sh", "-c", _SCRIPT)


def user_namespaces(node: str, output: str) -> str:
    """Return what keeps users of a worker from starting containers; "" where nothing does.

    A kernel without the key has no such gate.
    """
    match = _SAID.search(output)
    if match is None:
        return f"{node}: whether users may make user namespaces is unknown"
    if match[2] == "ok":
        return ""
    if match[1] not in ("absent", "0"):
        return f"{node}: {SYSCTL} is {match[1]}: users cannot start containers; it has to be 0"
    return f"{node}: users may not make user namespaces, though {SYSCTL} is {match[1]}"


def plugstack_probe() -> tuple[str, ...]:
    """Return the command that prints which plugins a node's jobs have."""
    return ("sh", "-c", "cat /etc/slurm/plugstack.conf /etc/slurm/plugstack.conf.d/*.conf 2>/dev/null; true")


def plugstack(login: str, worker: str) -> str:
    """Return what differs between the plugins of login and worker; "" where a job's options mean the same."""
    here, there = (set(_lines(text)) for text in (login, worker))
    if missing := sorted(there - here):
        return f"the login node lacks what workers have, so its options are unknown there: {missing[0]}"
    if extra := sorted(here - there):
        return f"workers lack what the login node has: {extra[0]}"
    return ""


def image(path: str) -> str:
    """Return what is wrong with how an image is written; "" where it means what it looks like."""
    if path.endswith(".sqsh") and "/" not in path:
        return f"{path!r} is taken for an image of a registry; write ./{path}"
    host, slash, rest = path.partition("/")
    if slash and "#" not in path and re.fullmatch(r"[A-Za-z0-9.-]+:[0-9]+", host):
        return f"{path!r}: a registry with a port is set off by `#`; write {host}#/{rest}"
    return ""


def _lines(text: str) -> Sequence[str]:
    stripped = (line.split("#", 1)[0].strip() for line in text.splitlines())
    return [" ".join(line.split()) for line in stripped if line]
