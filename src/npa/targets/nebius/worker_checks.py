"""What every worker is asked before users are: whether they can start containers on it."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from npa.errors import NpaError
from npa.render.nebius import containers
from npa.render.nebius.fix_model import SLURM_NAMESPACE
from npa.targets.nebius import controller
from npa.targets.nebius.ports import Executes

_SIDE_BY_SIDE = 16
_TIMEOUT = 30.0


def plugins(kube: Executes, workers: Sequence[str]) -> tuple[str, ...]:
    """Return what differs between the job plugins of the login node and of a worker, or why it is unknown."""
    if not workers:
        return ()
    try:
        here = kube.exec(controller.LOGIN, SLURM_NAMESPACE, containers.plugstack_probe(), timeout=_TIMEOUT)
        there = kube.exec(
            workers[0], SLURM_NAMESPACE, containers.plugstack_probe(), container="slurmd", timeout=_TIMEOUT
        )
    except NpaError as error:
        return (f"whether login node and workers have the same job plugins is unknown: {error}",)
    said = containers.plugstack(here.stdout, there.stdout)
    return (f"plugstack.conf: {said}",) if said else ()


def user_namespaces(kube: Executes, workers: Sequence[str]) -> tuple[str, ...]:
    """Return, for each worker that keeps users from starting containers or cannot be asked, why."""

    def ask(worker: str) -> str:
        try:
            done = kube.exec(
                worker, SLURM_NAMESPACE, containers.probe(), container="slurmd", timeout=_TIMEOUT
            )
        except NpaError as error:
            return f"{worker}: whether users may make user namespaces is unknown: {error}"
        return containers.user_namespaces(worker, done.stdout)

    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        return tuple(said for said in pool.map(ask, workers) if said)
