"""JSON Schemas of models and dataclasses, each in one piece: clients of tools follow no references."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, WithJsonSchema


def of(kind: Any) -> dict[str, Any]:
    """Return the schema of a type, without references and without titles."""
    raw = TypeAdapter(kind).json_schema(mode="validation")
    found: dict[str, Any] = _plain(raw, raw.get("$defs", {}))
    return found


def encoded(kind: Any, version: str = "", **other: Any) -> WithJsonSchema:
    """Return what marks a JSON object as one that an encoder of ours made of a dataclass.

    `version` is the word in its `schema_version`; `other` are properties that the encoder writes in another
    way than the dataclass has them.
    """
    found = of(kind)
    properties = {**found.get("properties", {}), **other}
    required = [*found.get("required", ())]
    if version:
        properties["schema_version"] = {"type": "string", "const": version}
        required = sorted({*required, "schema_version"})
    return WithJsonSchema({**found, "properties": properties, "required": required})


def _plain(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(each, definitions) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _plain({**definitions[node["$ref"].rpartition("/")[2]], **beside}, definitions)
    kept: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":  # a property may be called `title`
            kept[key] = {name: _plain(each, definitions) for name, each in value.items()}
        elif key not in ("$defs", "title", "x-rule"):
            kept[key] = _plain(value, definitions)
    rule = node.get("x-rule", "")
    if rule:
        kept["description"] = f"{kept.get('description', '')} ({rule})"
    return kept
