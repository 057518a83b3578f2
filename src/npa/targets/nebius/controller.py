"""Commands of Slurm's on a cluster's controller and login node."""

from __future__ import annotations

from collections.abc import Sequence

from npa.errors import KubeError, ToolError
from npa.render.nebius.fix_model import SLURM_NAMESPACE
from npa.slurm import lookup, replies
from npa.slurm.lookup import Found, Unknown
from npa.slurm.replies import Rows, SlurmNodeReply
from npa.targets.nebius.ports import Executes
from npa.tools.kube import Executed
from npa.tools.slurm import Execute, Slurm

CONTROLLER, CONTAINER, LOGIN = "controller-0", "slurmctld", "login-0"


def on_controller(kube: Executes, argv: Sequence[str], timeout: float = 30.0) -> Executed:
    """Run a command where slurmctld runs."""
    return kube.exec(CONTROLLER, SLURM_NAMESPACE, argv, container=CONTAINER, timeout=timeout)


def on_login(kube: Executes, argv: Sequence[str], timeout: float = 30.0) -> Executed:
    """Run a command on the login node."""
    return kube.exec(LOGIN, SLURM_NAMESPACE, argv, timeout=timeout)


def executes(kube: Executes, timeout: float = 30.0) -> Execute:
    """Return how `tools.slurm.Slurm` runs its commands there."""

    def execute(argv: Sequence[str]) -> str:
        done = on_controller(kube, argv, timeout)
        if done.code:
            raise ToolError(argv, done.code, done.stderr or done.stdout)
        return done.stdout

    return execute


def nodes(kube: Executes, timeout: float = 30.0) -> Found[Rows[SlurmNodeReply]] | Unknown:
    """Return Slurm's nodes, or why nobody can say."""
    try:
        return lookup.ask(lambda: replies.nodes(Slurm(executes(kube, timeout)).nodes()))
    except KubeError as error:
        return Unknown(error.reason)
