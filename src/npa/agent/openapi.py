"""The OpenAPI description of the tools, made from their models; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

import npa
from npa.agent import inputs, schema
from npa.agent.jobs import JobDocument
from npa.agent.tool import Tool

JSON = "application/json"
JOB = "Job"
ERROR = "Error"
ABOUT = (
    "Slurm clusters from one file. What looks answers at once; what changes becomes a job. To change "
    "anything, name the digest of the plan that was shown."
)
ERRORS = {
    "400": "the input or the spec is not right; nothing was touched",
    "401": "no token, or a wrong one",
    "404": "there is no such thing",
    "409": "understood and refused; nothing was touched",
    "413": "the body is too long",
    "415": "the body is not JSON",
    "500": "unexpected",
    "502": "a program, Slurm or the provider said no",
}


class ErrorBody(BaseModel):
    """What is wrong, and what to do."""

    model_config = ConfigDict(extra="allow")

    code: str
    message: str
    hint: str
    problems: list[dict[str, Any]]


class ErrorDocument(BaseModel):
    """A failure, the same document on every surface."""

    model_config = ConfigDict(extra="allow")

    schema_version: str
    ok: bool
    error: ErrorBody


def path(tool: Tool[Any]) -> str:
    """Return where a tool is called: `/infra/soperator/plan`."""
    return "/" + tool.name.replace(".", "/")


def by_name(tool: Tool[Any]) -> bool:
    """Say whether a tool looks at one cluster and needs nothing but its name."""
    required = [name for name, field in tool.input.model_fields.items() if field.is_required()]
    return tool.effect == "reads" and required == ["name"]


def path_by_name(tool: Tool[Any]) -> str:
    """Return where a tool that needs only a name is asked with GET."""
    return path(tool) + "/{name}"


def describe(tools: Sequence[Tool[Any]]) -> dict[str, Any]:
    """Return the whole description."""
    paths: dict[str, Any] = {path(each): {"post": _call(each)} for each in tools}
    paths |= {path_by_name(each): {"get": _look(each)} for each in tools if by_name(each)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "npa", "version": npa.__version__, "description": ABOUT},
        "security": [{"token": []}],
        "paths": paths | _others(),
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(tools),
        },
    }


def _schemas(tools: Sequence[Tool[Any]]) -> dict[str, Any]:
    found = {JOB: schema.of(JobDocument), ERROR: schema.of(ErrorDocument)}
    found[JOB]["properties"]["links"] = {"type": "object", "additionalProperties": {"type": "string"}}
    for each in tools:
        found[f"{_word(each)}.input"] = each.input_schema
        found[f"{_word(each)}.output"] = each.output_schema
    return found


def _call(tool: Tool[Any]) -> dict[str, Any]:
    answers = {"200": _answer("the answer", f"{_word(tool)}.output")}
    if tool.effect != "reads":
        answers["202"] = _answer("begun as a job", JOB)
    return {
        "operationId": _word(tool),
        "summary": tool.summary,
        "requestBody": {"required": True, "content": {JSON: {"schema": _ref(f"{_word(tool)}.input")}}},
        "responses": answers | _errors("400", "401", "404", "409", "413", "415", "500", "502"),
    }


def _look(tool: Tool[Any]) -> dict[str, Any]:
    name = {
        "name": "name",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": inputs.NAME},
    }
    return {
        "operationId": f"{_word(tool)}.get",
        "summary": tool.summary,
        "parameters": [name],
        "responses": {"200": _answer("the answer", f"{_word(tool)}.output")}
        | _errors("400", "401", "404", "409", "500", "502"),
    }


def _others() -> dict[str, Any]:
    job = {
        "name": "id",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": "^[0-9a-f]{12}$"},
    }
    listed = {
        "type": "object",
        "properties": {"jobs": {"type": "array", "items": _ref(JOB)}},
        "required": ["jobs"],
    }
    events = {"description": "the events; the last one is `end`", "content": {"text/event-stream": {}}}
    anything = {"type": "object"}
    return {
        "/tools": {
            "get": _get("tools", "List the tools with their schemas.", _content("the tools", anything))
        },
        "/jobs": {"get": _get("jobs", "List the jobs, the oldest first.", _content("the jobs", listed))},
        "/jobs/{id}": {
            "parameters": [job],
            "get": _get("job", "Say how far a job is, and what came of it.", _answer("the job", JOB), "404"),
            "delete": {
                "operationId": "stop",
                "summary": "Ask a job to stop before its next step.",
                "responses": {"202": _answer("the job", JOB)} | _errors("401", "404"),
            },
        },
        "/jobs/{id}/events": {
            "parameters": [job],
            "get": _get("events", "Follow the events of a job; `Last-Event-ID` goes on.", events, "404"),
        },
    }


def _get(operation: str, summary: str, answer: dict[str, Any], *errors: str) -> dict[str, Any]:
    return {
        "operationId": operation,
        "summary": summary,
        "responses": {"200": answer} | _errors("401", *errors),
    }


def _errors(*codes: str) -> dict[str, Any]:
    return {code: _answer(ERRORS[code], ERROR) for code in codes}


def _answer(description: str, name: str) -> dict[str, Any]:
    return _content(description, _ref(name))


def _content(description: str, found: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {JSON: {"schema": found}}}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _word(tool: Tool[Any]) -> str:
    return tool.name.removeprefix("infra.")
