"""The commands and their order in `--help`; each imports what it needs once it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

import npa
from npa.cli import (
    change,
    explain_why,
    exporting,
    fleet,
    fleet_look,
    images,
    lint,
    look,
    node,
    operator,
    page,
    remove,
    rotating,
    spec,
    tool,
    watching,
)
from npa.cli.passing import PassingCommand

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def _group(about: str) -> typer.Typer:
    # Rich's markup costs a second start of the interpreter, and a pipe has no use for it.
    return typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=_CONTEXT,
        help=about,
        invoke_without_command=True,
    )


app = _group(
    """Slurm for AI clusters from one file: on Nebius, on any Kubernetes, or on this machine.

    Begin with `npa soperator --help`.
    """
)
soperator = _group(
    """Plan, deploy and look after Slurm clusters.

    \b
    The way of a cluster, with FILE as its spec:
      npa soperator validate -f FILE               is the file right?
      npa soperator plan -f FILE --target local    what would be done, and why
      npa soperator deploy -f FILE --target local  do it
      npa soperator ssh                            log in and run jobs
      npa soperator status                         how well is it?
      npa soperator destroy                        leave nothing behind

    Exit codes: 0 done, 1 a program failed, 2 invalid spec or usage, 3 refused and nothing touched,
    4 degraded, 130 interrupted.
    """
)
fleets = _group(
    """Plan, deploy and look after many clusters from one file.

    \b
    The way of a fleet, with FILE as its spec:
      npa fleet validate -f FILE   is the file right?
      npa fleet plan -f FILE       what would be done, and what stands against it
      npa fleet deploy -f FILE     do it, several clusters at a time
      npa fleet status             how well is each?
      npa fleet destroy            leave nothing behind

    Exit codes: 0 all clusters are as asked, 1 all failed, 2 invalid spec or usage, 3 refused and nothing
    touched, 4 some are not well, 5 some failed and others did not, 130 interrupted.
    """
)
app.add_typer(soperator, name="soperator")
app.add_typer(fleets, name="fleet")
tools = _group("""Call npa from programs: tools with JSON schemas, the same over HTTP and MCP.""")
app.add_typer(tools, name="tool")
operating = _group(
    """Run the operator that keeps Slurm clusters right on Kubernetes, or install it.

    \b
    npa operator install             put it into the cluster of your kubeconfig
    npa operator status              is it there, and well?
    npa operator run                 run it here, against that cluster
    """
)
app.add_typer(operating, name="operator")


@app.callback()
def _npa(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[  # noqa: ARG001 - main takes it from any place; here for the help
        bool, typer.Option("--debug", help="Show tracebacks; also NPA_DEBUG=1.")
    ] = False,
) -> None:
    if version:
        print(f"npa {npa.__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def _group_alone(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


for _each in (soperator, fleets, tools, operating):
    _each.callback()(_group_alone)


_COMMANDS: tuple[tuple[str, Callable[..., None], str], ...] = (
    ("validate", spec.validate, "Check a spec and name everything wrong with it."),
    ("plan", change.plan, "Show what a deploy would do, and why."),
    ("deploy", change.deploy, "Make the cluster what the spec asks for."),
    ("ssh", node.ssh, "Log in to the login node."),
    ("status", look.status, "Show how well a cluster is."),
    ("destroy", remove.destroy, "Remove a cluster and all its data."),
    ("list", look.list_, "List the clusters that this machine knows."),
    ("doctor", look.doctor, "Say whether this machine has what Nebius needs."),
    ("exec", node.exec_, "Run a command on a node."),
    ("logs", look.logs, "Show what the daemons of a node logged."),
    ("watch", watching.watch, "Keep a cluster right until stopped."),
    ("rotate", rotating.rotate, "Give a cluster a new key."),
    ("explain-node", explain_why.node, "Say why a node is drained, down or fine."),
    ("explain-job", explain_why.job, "Say why a job waits, runs or failed."),
    ("report", page.cluster, "Write a page about a cluster, to look at."),
    ("lint", lint.lint, "Check Slurm's files before Slurm reads them."),
    ("explain", spec.explain, "Say what a field of the spec means."),
    ("schema", spec.schema, "Print the spec's JSON Schema."),
    ("proxy", node.proxy, ""),
)
for _name, _run, _short in _COMMANDS:
    _passes = _name in ("exec", "ssh")
    soperator.command(_name, cls=PassingCommand if _passes else None, short_help=_short, hidden=not _short)(
        _run
    )
for _name, _run, _short in (
    ("list", tool.list_, "List the tools."),
    ("describe", tool.describe, "Print what a tool takes and answers."),
    ("run", tool.run, "Call a tool; JSON in, JSON out."),
):
    tools.command(_name, short_help=_short)(_run)
app.command("serve", short_help="Serve the tools over HTTP.")(tool.serve)
app.command("mcp", short_help="Serve the tools over the Model Context Protocol.")(tool.mcp)

for _name, _run, _short in (
    ("validate", fleet_look.validate, "Check a fleet's file and name everything wrong with it."),
    ("plan", fleet.plan, "Show what a deploy would do to each cluster."),
    ("deploy", fleet.deploy, "Make the clusters what the file asks for."),
    ("status", fleet_look.status, "Show how well each cluster is."),
    ("destroy", fleet.destroy, "Remove clusters and all their data."),
    ("list", fleet_look.list_, "List the fleets that this machine knows."),
    ("report", page.fleet, "Write a page about all clusters, to look at."),
    ("schema", fleet_look.schema, "Print the JSON Schema of a fleet's file."),
):
    fleets.command(_name, short_help=_short)(_run)
_OPERATING: tuple[tuple[str, Callable[..., None], str], ...] = (
    ("install", operator.install, "Put the operator into a Kubernetes cluster."),
    ("uninstall", operator.uninstall, "Take it out again."),
    ("status", operator.status, "Say whether it is there and well."),
    ("manifests", operator.manifests, "Print what `install` applies."),
    ("run", operator.run, "Run the operator until stopped."),
    ("exporter", exporting.exporter, "Show Prometheus the nodes and jobs of a cluster."),
    ("images", images.images, "Make the images that it and its clusters run."),
)
for _name, _run, _short in _OPERATING:
    operating.command(_name, short_help=_short)(_run)
