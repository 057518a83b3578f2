"""Ways into a running cluster on Kubernetes: commands, logins, logs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence

from npa.errors import NotFoundError, ToolMissingError
from npa.render.kube import contract, names
from npa.render.objects import NODE_SET, POD, dig, name_of
from npa.slurm.lookup import Found
from npa.targets.kubernetes import reading
from npa.targets.kubernetes.record import Record
from npa.tools import run
from npa.tools.kube import Kube

_CONTAINERS = {"controller": "slurmctld", "login": "sshd", "accounting": "accounting", "rest": "slurmrestd"}
_WITHOUT_USERS = frozenset({"controller", "accounting", "rest"})  # nodes that run nothing in the jail
HOUR = 3600.0


def execute(kube: Kube, known: Record, node: str, argv: Sequence[str], *, root: str) -> int:
    """Run a command on a node; with a terminal through kubectl, where it is there."""
    pod, part = _pod(kube, known, node)
    inside = root == "jail" or (not root and part not in _WITHOUT_USERS)
    told = ["chroot", contract.JAIL, *argv] if inside else list(argv)
    if sys.stdin.isatty() and shutil.which("kubectl"):
        return run.interactive([*_kubectl(known), "exec", "-it", pod, "--", *told])
    done = kube.exec(pod, known.namespace, told, container=_container(kube, known, pod), timeout=HOUR)
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.code


def login(known: Record, user: str, argv: Sequence[str]) -> int:
    """Open a session of a user on the first login node, in the jail."""
    if shutil.which("kubectl") is None:
        raise ToolMissingError(
            "kubectl", hint="install kubectl, or use ssh to the address of the login Service"
        )
    pod = f"{names.workload(known.name, 'login')}-0"
    terminal = ["-it"] if sys.stdin.isatty() else ["-i"]
    command = ["-c", " ".join(argv)] if argv else []
    session = ["chroot", contract.JAIL, "su", "-", user, *command]
    return run.interactive([*_kubectl(known), "exec", *terminal, pod, "-c", "sshd", "--", *session])


def logs(kube: Kube, known: Record, node: str, *, lines: int, follow: bool) -> Iterator[str]:
    """Return the lines of a node's log, through kubectl where it is followed."""
    pod, _ = _pod(kube, known, node)
    argv = [*_kubectl(known), "logs", pod, "--all-containers", f"--tail={lines}"]
    if shutil.which("kubectl") is None:
        raise ToolMissingError("kubectl", hint="install kubectl")
    if follow:
        run.interactive([*argv, "--follow"])
        return
    yield from run.run(argv).splitlines()


def _kubectl(known: Record) -> list[str]:
    config = [f"--kubeconfig={known.kubeconfig}"] if known.kubeconfig else []
    context = [f"--context={known.context}"] if known.context else []
    return ["kubectl", *config, *context, f"--namespace={known.namespace}"]


def _pod(kube: Kube, known: Record, node: str) -> tuple[str, str]:
    """Return the pod of a node, and which part of the cluster it is; raises NotFoundError."""
    part, _, ordinal = node.rpartition("-")
    if part in _CONTAINERS:
        pods = reading.known(kube.list(POD, known.namespace)) or ()
        wanted = {"app.kubernetes.io/instance": known.name, "app.kubernetes.io/component": part}
        mine = sorted(
            name_of(each)
            for each in pods
            if wanted.items() <= dict(dig(each, "metadata", "labels") or {}).items()
        )
        if ordinal.isdecimal() and int(ordinal) < len(mine):
            return mine[int(ordinal)], part
    elif isinstance(kube.get(POD, node, known.namespace), Found) and _is_worker(kube, known, part):
        return node, "worker"
    raise NotFoundError(
        f"no node {node!r} in cluster {known.name}", hint=f"npa soperator status {known.name}"
    )


def _is_worker(kube: Kube, known: Record, nodeset: str) -> bool:
    found = reading.known(kube.get(NODE_SET, nodeset, known.namespace))
    return bool(dig(found, "spec", "clusterName") == known.name)


def _container(kube: Kube, known: Record, pod: str) -> str:
    found = reading.known(kube.get(POD, pod, known.namespace))
    listed = dig(found, "spec", "containers") or ()
    return str(listed[0].get("name", "")) if listed else ""
