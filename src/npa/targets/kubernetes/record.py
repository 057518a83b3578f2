"""Which clusters on Kubernetes this machine knows, and how each is reached: the rest is in the cluster."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from npa.errors import RefusedError
from npa.targets.base import Summary
from npa.tools import disk

SCHEMA = "npa.kubernetes.record/v1"


@dataclass(frozen=True, slots=True)
class Record:
    """Where a cluster is."""

    name: str
    kubeconfig: str  # a path; empty: $KUBECONFIG's
    context: str
    namespace: str
    endpoint: str  # of the API, to tell when a context leads elsewhere since
    created: str  # RFC 3339, UTC
    workers: int = 0
    slurm_version: str = ""


def folder() -> Path:
    """Return where this machine's records are; NPA_STATE_DIR moves them."""
    return Path(os.environ.get("NPA_STATE_DIR") or "/var/lib/npa") / "kubernetes"


def load(folder: Path, name: str) -> Record | None:
    """Return a record; None where there is no such file. Raises RefusedError for one that cannot be read."""
    path = folder / f"{name}.json"
    found = disk.load_json(path)
    if found is None:
        return None
    try:
        if found.pop("schema") != SCHEMA:
            raise ValueError("another schema")
        return Record(**found)
    except (KeyError, TypeError, ValueError) as error:
        what = f"{path} is not a record of this version of npa: {error!r}"
        raise RefusedError(what, hint="use the version that wrote it, or remove the file") from error


def save(folder: Path, record: Record) -> None:
    """Write a record, whole or not at all."""
    text = json.dumps({"schema": SCHEMA, **asdict(record)}, indent=1) + "\n"
    disk.write(folder / f"{record.name}.json", text, mode=0o600)


def remove(folder: Path, name: str) -> None:
    """Forget a cluster."""
    (folder / f"{name}.json").unlink(missing_ok=True)


def every(folder: Path) -> Iterator[Record]:
    """Return all of them, by name."""
    for path in sorted(folder.glob("*.json")):
        found = load(folder, path.stem)
        if found is not None:
            yield found


def summaries(folder: Path) -> Iterator[Summary]:
    """Return a line about each of them; whether it is still there would have to be asked."""
    for found in every(folder):
        yield Summary(found.name, "kubernetes", "recorded", found.workers, found.slurm_version, found.created)
