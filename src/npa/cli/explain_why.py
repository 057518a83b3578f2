"""Commands that say why: explain-node, explain-job."""

from __future__ import annotations

from typing import Annotated

import typer

from npa.cli import look, request, screen
from npa.cli.options import ClusterName, Node, OutputKind

Job = Annotated[
    str, typer.Argument(metavar="ID", help="Number of a job, as squeue prints it: `12`, `12_3`, `12+1`.")
]


def node(node: Node, cluster: ClusterName = None, output: OutputKind = "text") -> None:
    """Say why a node is drained, down or does not answer, who did that and what to do; or that it is fine.

    Exits 0 with an explanation, 1 where there is no such node.

    \b
    npa soperator explain-node cpu-1
    npa soperator explain-node gpu-0 --output json | jq .explanations[0].causes
    """
    from npa import api
    from npa.health import explain

    found = [api.explain_node(request.cluster(cluster, None, look.known()), node)]
    if output == "json":
        screen.document(explain.to_dict(explain.NODE_SCHEMA, found))
    else:
        screen.data(explain.text(found))


def job(job: Job, cluster: ClusterName = None, output: OutputKind = "text") -> None:
    """Say why a job waits, where it runs or how it ended, and what to do.

    Exits 0 with an explanation, 1 where there is no such job or nobody can tell.

    \b
    npa soperator explain-job 12
    npa soperator explain-job 12_3 --output json
    """
    from npa import api
    from npa.health import explain

    found = api.explain_job(request.cluster(cluster, None, look.known()), job)
    if output == "json":
        screen.document(explain.to_dict(explain.JOB_SCHEMA, found))
    else:
        screen.data(explain.text(found))
