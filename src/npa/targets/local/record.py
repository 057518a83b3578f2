"""The record of a cluster on disk."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from npa.cluster import codec
from npa.errors import RefusedError
from npa.render.local.world import Record
from npa.tools import disk

SCHEMA = "npa.local.record/v1"


def load(path: Path) -> Record | None:
    """Return the record; None where there is no file. Raises RefusedError for one that cannot be read."""
    found = disk.load_json(path)
    if found is None:
        return None
    try:
        return _decode(found)
    except (KeyError, TypeError, ValueError) as error:
        raise RefusedError(
            f"{path} is not a record of this version of npa: {error!r}",
            hint="use the version that wrote it, restore the file, or destroy the cluster with `--force`",
        ) from error


def save(path: Path, record: Record) -> None:
    """Write the record, whole or not at all."""
    document = {"schema": SCHEMA, **asdict(record), "cluster": codec.encode(record.cluster)}
    disk.write(path, json.dumps(document, indent=1) + "\n", mode=0o600)


def _decode(found: dict[str, Any]) -> Record:
    if found.pop("schema") != SCHEMA:
        raise ValueError("another schema")
    found["cluster"] = codec.decode(found["cluster"])
    return Record(**found)
