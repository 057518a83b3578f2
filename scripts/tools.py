"""The page of the tools, and the generated parts of the skill; all of it is read from the models."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer
from scripts import reference

from npa.agent import openapi, registry
from npa.agent.tool import Tool
from npa.cli.app import build
from npa.spec import explain

SKILL = Path(__file__).parents[1] / "skills" / "soperator" / "SKILL.md"
EFFECTS = {
    "reads": "only looks",
    "changes": "changes something",
    "destroys": "changes a cluster, and may end jobs or delete data: needs the digest of the plan",
}


def page() -> str:
    """Return every tool with what goes in and comes out."""
    lines = [
        reference.SOURCE,
        "# Tools\n",
        "The same tools, with the same schemas, for `npa tool run`, over HTTP and over MCP;",
        "[Let programs run clusters](../howto/agents.md) says how. `npa tool describe TOOL` prints the whole",
        "of the schemas.\n",
    ]
    for each in registry.tools():
        lines += _section(each)
    return "\n".join(lines).rstrip() + "\n"


def _section(tool: Tool[Any]) -> Iterator[str]:
    yield f"## `{tool.name}`\n"
    yield f"{tool.summary} It {EFFECTS[tool.effect]}.\n"
    yield f"HTTP: `POST {openapi.path(tool)}`" + (
        f", `GET {openapi.path_by_name(tool)}`\n" if openapi.by_name(tool) else "\n"
    )
    required = tool.input_schema.get("required", [])
    if tool.input_schema["properties"]:
        yield "| input | type | default | meaning |"
        yield "|---|---|---|---|"
        for name, field in tool.input_schema["properties"].items():
            default = "required" if name in required else f"`{json.dumps(field.get('default'))}`"
            yield reference.row(f"`{name}`", _type(field), default, _sentence(field.get("description", "")))
        yield ""
    yield "| answer | type | meaning |"
    yield "|---|---|---|"
    for name, field in tool.output_schema["properties"].items():
        yield reference.row(f"`{name}`", _type(field), _sentence(field.get("description", "")))
    yield ""


def _type(field: dict[str, Any]) -> str:
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{each}`" for each in field["enum"])
    if "anyOf" in field:
        return " or ".join(_type(each) for each in field["anyOf"])
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}))}s"
    return str(field.get("type", "any"))


def _sentence(text: str) -> str:
    return " ".join(text.split())


def skill(text: str) -> str:
    """Return the skill with its generated parts as the code says them."""
    for name, part in PARTS.items():
        pattern = re.compile(rf"(<!-- begin {name}: [^\n]*-->\n).*?(<!-- end {name} -->)", re.DOTALL)
        generated = "\n".join(part())
        text, count = pattern.subn(lambda found: f"{found[1]}{generated}\n{found[2]}", text)  # noqa: B023
        if count != 1:
            raise ValueError(f"{SKILL} has {count} parts {name!r}")
    return text


def _fields() -> Iterator[str]:
    yield "| field | type | default | meaning |"
    yield "|---|---|---|---|"
    for path in ("", "workers"):
        for child in explain.explain(path).children:
            found = explain.explain(child)
            default = "required" if found.required else f"`{found.default}`" if found.default else ""
            rule = f" ({found.rule})" if found.rule else ""
            yield reference.row(f"`{found.path}`", found.type, default, f"{found.meaning}{rule}")


def _commands() -> Iterator[str]:
    yield "| command | what it does |"
    yield "|---|---|"
    top: Any = typer.main.get_command(build())
    for group in ("soperator", "tool"):
        for name, command in top.commands[group].commands.items():
            if not command.hidden:
                yield reference.row(f"`npa {group} {name}`", str(command.short_help))
    for name in ("serve", "mcp"):
        yield reference.row(f"`npa {name}`", str(top.commands[name].short_help))


def _tools() -> Iterator[str]:
    yield "| tool | effect | what it does |"
    yield "|---|---|---|"
    for each in registry.tools():
        if each.name.startswith("infra.soperator."):
            yield reference.row(f"`{each.name}`", each.effect, each.summary)


PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "fields": _fields,
    "commands": _commands,
    "exit codes": reference.exit_codes,
    "tools": _tools,
}
