"""The commands and their order in `--help`; only what is called is imported."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

import npa

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@dataclass(frozen=True, slots=True)
class Command:
    """A command, and where its function is."""

    name: str
    function: str  # `module:name`, in this package
    about: str  # one line; a command without one is not listed
    passes: bool = False  # hands what follows `--` to another program

    def load(self) -> Callable[..., None]:
        """Import the function."""
        module, _, name = self.function.partition(":")
        found: Callable[..., None] = getattr(importlib.import_module(f"npa.cli.{module}"), name)
        return found


@dataclass(frozen=True, slots=True)
class Area:
    """A group of commands."""

    about: str
    commands: tuple[Command, ...]


_ROOT = Area(
    """Slurm for AI clusters from one file: on Nebius, on any Kubernetes, or on this machine.

    Begin with `npa soperator --help`.
    """,
    (
        Command("serve", "tool:serve", "Serve the tools over HTTP."),
        Command("mcp", "tool:mcp", "Serve the tools over the Model Context Protocol."),
    ),
)
_SOPERATOR = Area(
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
    """,
    (
        Command("validate", "spec:validate", "Check a spec and name everything wrong with it."),
        Command("plan", "change:plan", "Show what a deploy would do, and why."),
        Command("deploy", "change:deploy", "Make the cluster what the spec asks for."),
        Command("ssh", "node:ssh", "Log in to the login node.", passes=True),
        Command("status", "look:status", "Show how well a cluster is."),
        Command("destroy", "remove:destroy", "Remove a cluster and all its data."),
        Command("list", "look:list_", "List the clusters that this machine knows."),
        Command("doctor", "look:doctor", "Say whether this machine has what Nebius needs."),
        Command("exec", "node:exec_", "Run a command on a node.", passes=True),
        Command("logs", "look:logs", "Show what the daemons of a node logged."),
        Command("watch", "watching:watch", "Keep a cluster right until stopped."),
        Command("rotate", "rotating:rotate", "Give a cluster a new key."),
        Command("explain-node", "explain_why:node", "Say why a node is drained, down or fine."),
        Command("explain-job", "explain_why:job", "Say why a job waits, runs or failed."),
        Command("report", "page:cluster", "Write a page about a cluster, to look at."),
        Command("lint", "lint:lint", "Check Slurm's files before Slurm reads them."),
        Command("explain", "spec:explain", "Say what a field of the spec means."),
        Command("schema", "spec:schema", "Print the spec's JSON Schema."),
        Command("proxy", "node:proxy", ""),
    ),
)
_FLEET = Area(
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
    """,
    (
        Command("validate", "fleet_look:validate", "Check a fleet's file and name everything wrong with it."),
        Command("plan", "fleet:plan", "Show what a deploy would do to each cluster."),
        Command("deploy", "fleet:deploy", "Make the clusters what the file asks for."),
        Command("status", "fleet_look:status", "Show how well each cluster is."),
        Command("destroy", "fleet:destroy", "Remove clusters and all their data."),
        Command("list", "fleet_look:list_", "List the fleets that this machine knows."),
        Command("report", "page:fleet", "Write a page about all clusters, to look at."),
        Command("schema", "fleet_look:schema", "Print the JSON Schema of a fleet's file."),
    ),
)
_TOOL = Area(
    """Call npa from programs: tools with JSON schemas, the same over HTTP and MCP.""",
    (
        Command("list", "tool:list_", "List the tools."),
        Command("describe", "tool:describe", "Print what a tool takes and answers."),
        Command("run", "tool:run", "Call a tool; JSON in, JSON out."),
    ),
)
_OPERATOR = Area(
    """Run the operator that keeps Slurm clusters right on Kubernetes, or install it.

    \b
    npa operator install             put it into the cluster of your kubeconfig
    npa operator status              is it there, and well?
    npa operator run                 run it here, against that cluster
    """,
    (
        Command("install", "operator:install", "Put the operator into a Kubernetes cluster."),
        Command("uninstall", "operator:uninstall", "Take it out again."),
        Command("status", "operator:status", "Say whether it is there and well."),
        Command("manifests", "operator:manifests", "Print what `install` applies."),
        Command("run", "operator:run", "Run the operator until stopped."),
        Command("exporter", "exporting:exporter", "Show Prometheus the nodes and jobs of a cluster."),
        Command("images", "images:images", "Make the images that it and its clusters run."),
    ),
)
AREAS = {"soperator": _SOPERATOR, "fleet": _FLEET, "tool": _TOOL, "operator": _OPERATOR}


def build(words: Sequence[str] | None = None) -> typer.Typer:
    """Return the commands; with the words of a command line, those that it does not call are names alone."""
    called = None if words is None else list(words)
    app = _group(_ROOT.about)
    app.callback()(_npa)
    for name, area in AREAS.items():
        group = _group(area.about)
        group.callback()(_group_alone)
        if called is None or called[:1] == [name]:
            _add(group, area, called and called[1:2])
        app.add_typer(group, name=name)
    _add(app, _ROOT, called and called[:1])
    return app


def _add(group: typer.Typer, area: Area, called: list[str] | None) -> None:
    for each in area.commands:
        needed = called is None or called == [each.name]
        options: dict[str, Any] = {"short_help": each.about, "hidden": not each.about}
        if each.passes and needed:
            from npa.cli.passing import PassingCommand

            options["cls"] = PassingCommand
        group.command(each.name, **options)(each.load() if needed else _not_called)


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


def _not_called() -> None:
    raise AssertionError("a command that is called is imported")
