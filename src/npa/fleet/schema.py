"""The JSON Schema of a fleet's file, for editors; the part of each cluster is the soperator spec's own."""

from __future__ import annotations

from typing import Any

from npa.fleet.model import FleetSpec
from npa.spec import explain

# Said by the fleet, so not in a cluster's own part.
OWNED = ("apiVersion", "target", "region", "tenant_id", "project_id", "subnet_id")


def json_schema() -> dict[str, Any]:
    """Return the schema; rules between fields are not in it."""
    schema = explain.json_schema(FleetSpec)
    payload = explain.json_schema()
    definitions = {**payload.pop("$defs"), **schema["$defs"]}
    payload.pop("$schema")
    payload.pop("required", None)  # defaults may have it
    payload["title"] = "SoperatorPayload"
    payload["properties"] = {key: value for key, value in payload["properties"].items() if key not in OWNED}
    definitions["SoperatorPayload"] = payload
    for model in ("ClusterSpec", "DefaultsSpec"):
        described = definitions[model]["properties"]["soperator"]
        definitions[model]["properties"]["soperator"] = {
            "$ref": "#/$defs/SoperatorPayload",
            "description": described["description"],
        }
        definitions[model].pop("additionalProperties", None)  # another backend's part has its name
    schema["$defs"] = definitions
    return schema
