"""Commands that run something on a node: exec, ssh, proxy."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from npa.cli import look, request
from npa.cli.options import ClusterName, Node

SHELL = ("/bin/bash", "-l")


def exec_(
    context: typer.Context,
    node: Node,
    cluster: ClusterName = None,
    root: Annotated[
        Literal["jail", "daemons"] | None,
        typer.Option("--root", help="Which files it sees; the jail on login and worker nodes by default."),
    ] = None,
    host_network: Annotated[
        bool, typer.Option("--host-network", help="Keep this machine's own network, to fetch packages.")
    ] = False,
) -> None:
    """Run a command on a node as root, or a shell where none is given; exits as the command does.

    \b
    npa soperator exec login-0 -- sinfo
    npa soperator exec gpu-0 --root daemons -- pgrep -a slurmd
    """
    from npa import api

    name = request.cluster(cluster, None, look.known())
    network = "host" if host_network else "cluster"
    command = tuple(context.args) or SHELL
    raise typer.Exit(api.execute(name, node, command, root=root or "", network=network))


def ssh(
    context: typer.Context,
    user: Annotated[str, typer.Argument(metavar="USER", help="Who logs in.")] = "root",
    cluster: ClusterName = None,
) -> None:
    """Log in to the login node, or run one command there; exits as ssh does.

    \b
    npa soperator ssh
    npa soperator ssh alice -- sbatch train.sh
    """
    from npa import api

    name = request.cluster(cluster, None, look.known())
    raise typer.Exit(api.ssh(name, user, tuple(context.args)))


def proxy(
    node: Node,
    port: Annotated[int, typer.Argument(min=1, max=65_535)],
    cluster: ClusterName = None,
) -> None:
    """Connect stdin and stdout to a port of a node, for ssh's ProxyCommand."""
    from npa import api

    name = request.cluster(cluster, None, look.known())
    api.proxy(name, node, port)
