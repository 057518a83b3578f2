"""The tools by name, and how one is called: input checked, work done, a document and an exit code out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from npa.agent import fleet, inputs, outputs, soperator
from npa.agent.errors import InputError
from npa.agent.tool import DEGRADED, Heard, Tool
from npa.errors import NotFoundError, Problem
from npa.spec import nearest
from npa.spec.base import Model

NO_PATHS = "files of the machine that runs this cannot be named; put the text of the spec into `spec`"
_PATHS = ("path", "file", "dir", "directory", "folder")
_WANTED = {
    "string_type": "must be a string",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "spec_type": "must be the text of a spec, or the spec as an object",
    "literal_error": "is not one of the words that are taken",
    "string_pattern_mismatch": "is not written as it has to be",
}

SOPERATOR: tuple[Tool[Any], ...] = (
    Tool(
        "infra.soperator.validate",
        "Check a spec without a network and name everything wrong with it.",
        inputs.SpecInput,
        outputs.Validation,
        soperator.validate,
    ),
    Tool(
        "infra.soperator.plan",
        "Show what a deploy would do, step by step with reasons, and the digest that agrees to it.",
        inputs.PlanInput,
        outputs.Planned,
        soperator.plan,
    ),
    Tool(
        "infra.soperator.deploy",
        "Make a cluster what the spec asks for: exactly the plan whose digest is named, or nothing.",
        inputs.DeployInput,
        outputs.Deployed,
        soperator.deploy,
        effect="destroys",  # a plan may shrink a pool
        claims=soperator.changes,
    ),
    Tool(
        "infra.soperator.status",
        "Say how well a cluster is: daemons, nodes, jobs, and what can be scheduled.",
        inputs.NameInput,
        outputs.Status,
        soperator.status,
    ),
    Tool(
        "infra.soperator.destroy",
        "Remove a cluster and all its data: exactly the plan whose digest is named, or nothing.",
        inputs.DestroyInput,
        outputs.Destroyed,
        soperator.destroy,
        effect="destroys",
        claims=soperator.changes,
    ),
    Tool(
        "infra.soperator.list",
        "List the clusters that this machine knows.",
        inputs.NoInput,
        outputs.Listed,
        soperator.clusters,
    ),
    Tool(
        "infra.soperator.explain",
        "Say what a field of the spec means, its default and its rule.",
        inputs.FieldInput,
        outputs.Explained,
        soperator.field,
    ),
    Tool(
        "infra.soperator.schema",
        "Return the JSON Schema of a spec.",
        inputs.NoInput,
        outputs.Schema,
        soperator.schema,
    ),
    Tool(
        "infra.soperator.explain-node",
        "Say why a node is drained, down or fine.",
        inputs.NodeInput,
        outputs.WhyNode,
        soperator.why_node,
    ),
    Tool(
        "infra.soperator.explain-job",
        "Say why a job waits, runs or failed.",
        inputs.JobInput,
        outputs.WhyJob,
        soperator.why_job,
    ),
)


def tools() -> tuple[Tool[Any], ...]:
    """Return every tool, in the order in which they are listed."""
    return (*SOPERATOR, *fleet.TOOLS)


def find(name: str, known: Iterable[Tool[Any]]) -> Tool[Any]:
    """Return a tool by its name; raise NotFoundError, with the name that was most likely meant."""
    by_name = {each.name: each for each in known}
    if name not in by_name:
        raise NotFoundError(
            f"no tool {name[:80]!r}", hint=nearest.hint(name, by_name) or "see `npa tool list`"
        )
    return by_name[name]


def read(tool: Tool[Any], payload: object) -> Model:
    """Return a tool's input; raise InputError with everything that is wrong with it."""
    if not isinstance(payload, Mapping):
        raise InputError(
            [Problem(0, 0, "", "the input must be a JSON object", f"see `npa tool describe {tool.name}`")]
        )
    try:
        json.dumps(payload, ensure_ascii=False).encode()
    except (ValueError, TypeError, RecursionError):
        # A lone surrogate fits into JSON, and into no file and no other program.
        raise InputError([Problem(0, 0, "", "a string in it is not text", "write it as UTF-8")]) from None
    try:
        read: Model = tool.input.model_validate(dict(payload))
    except ValidationError as error:
        raise InputError(_problems(tool, error)) from None
    return read


def call(tool: Tool[Any], asked: Model, heard: Heard) -> tuple[dict[str, Any], int]:
    """Return a tool's answer and its exit code; raises what the api raises."""
    answer = tool.run(asked, heard)
    document = answer.model_dump(mode="json")
    ok = document["ok"]
    first = {"schema_version": document["schema_version"], "ok": ok}
    return {**first, **document}, 0 if ok else DEGRADED


def _problems(tool: Tool[Any], error: ValidationError) -> list[Problem]:
    found: dict[tuple[str, str], Problem] = {}
    for each in error.errors(include_url=False, include_input=False):
        at = ".".join(str(part) for part in each["loc"])
        problem = _problem(tool, at, each["type"], each["msg"])
        found.setdefault((at, problem.message), problem)
    return sorted(found.values())


def _problem(tool: Tool[Any], at: str, kind: str, said: str) -> Problem:
    names = tool.input.model_fields
    if kind == "extra_forbidden":
        if any(at.lower().endswith(word) for word in _PATHS):
            return Problem(0, 0, at[:80], "names a file", NO_PATHS)
        return Problem(0, 0, at[:80], "unknown field", nearest.hint(at, names))
    if kind == "missing":
        return Problem(0, 0, at, "is required", f"see `npa tool describe {tool.name}`")
    field = names.get(at.split(".")[0])
    meaning = field.description or "" if field else ""
    return Problem(0, 0, at[:80], _WANTED.get(kind) or said[:1].lower() + said[1:], meaning)
