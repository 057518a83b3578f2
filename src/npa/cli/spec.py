"""Commands about the spec alone, which need no cluster and no network: validate, schema, explain."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from npa.cli import request, screen
from npa.cli.options import OutputKind, SpecPaths
from npa.errors import Problem, SpecError, UsageError

if TYPE_CHECKING:
    from npa.spec.explain import Explanation
    from npa.spec.model import SoperatorSpec

VALIDATION_VERSION = "npa.soperator.validation/v1"
EXPLANATION_VERSION = "npa.soperator.explanation/v1"


def validate(spec: SpecPaths, output: OutputKind = "text") -> None:
    """Check specs without a network and name everything wrong, each with its line and what to do.

    Of several files the clusters' names must differ, too.

    \b
    npa soperator validate --spec cluster.yaml
    """
    specs = _load_all(spec)
    if output == "json":
        screen.document(
            {
                "schema_version": VALIDATION_VERSION,
                "ok": True,
                "specs": [_facts(path, s) for path, s in specs],
            }
        )
        return
    for path, each in specs:
        pools, workers = len(each.workers), each.worker_count
        screen.data(f"{path}: valid: cluster {each.name}, {_many(pools, 'pool')}, {_many(workers, 'worker')}")
    screen.data(f"next: npa soperator plan --spec {specs[0][0]}")


def schema() -> None:
    """Print the spec's JSON Schema, for editors. Rules between fields are what `validate` adds.

    \b
    npa soperator schema > npa.schema.json
    """
    from npa.spec import explain

    screen.document(explain.json_schema())


def explain(
    path: Annotated[str, typer.Argument(metavar="PATH", help="Field, as in `workers.fabric`.")] = "",
    output: OutputKind = "text",
) -> None:
    """Say what a field of the spec means, its default and its rule.

    \b
    npa soperator explain workers.fabric
    npa soperator explain
    """
    from npa.spec import explain

    found = explain.explain(path)
    if output == "json":
        screen.document({"schema_version": EXPLANATION_VERSION, **asdict(found)})
    else:
        screen.data(_explained(found))


def _load_all(paths: list[str]) -> list[tuple[str, SoperatorSpec]]:
    """Load every file before failing, so that all problems of all files are told in one run."""
    if paths.count(request.STDIN) > 1:
        raise UsageError("stdin can be one spec only", hint="give `-` once")
    problems: list[Problem] = []
    specs: list[tuple[str, SoperatorSpec]] = []
    for path in paths:
        try:
            specs.append((path, request.load(path)[0]))
        except SpecError as error:
            problems += error.problems
    problems += _shared_names(specs)
    if problems:
        raise SpecError(problems)
    return specs


def _shared_names(specs: list[tuple[str, SoperatorSpec]]) -> list[Problem]:
    first: dict[str, str] = {}
    problems = []
    for path, each in specs:
        if each.name in first:
            message = f"{each.name!r} is the name of the cluster in {first[each.name]} too"
            problems.append(Problem(0, 0, "name", message, "give each cluster its own name", path))
        first.setdefault(each.name, path)
    return problems


def _facts(path: str, spec: SoperatorSpec) -> dict[str, object]:
    pools = [pool.name for pool in spec.workers]
    return {"source": path, "name": spec.name, "pools": pools, "workers": spec.worker_count}


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _explained(found: Explanation) -> str:
    lines = [f"{found.path or 'spec'}: {found.meaning}", f"  type: {found.type}"]
    if found.required:
        lines.append("  required")
    elif found.default:
        lines.append(f"  default: {found.default}")
    if found.rule:
        lines.append(f"  rule: {found.rule}")
    if found.children:
        lines.append("  fields:")
        lines += [f"    {child}" for child in found.children]
    return "\n".join(lines)
