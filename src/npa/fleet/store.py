"""The inventory on disk: one file for each cluster and each network of a fleet, whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from npa.errors import NotFoundError, RefusedError, UsageError
from npa.fleet import network, record
from npa.fleet.network import Network
from npa.fleet.record import Record
from npa.tools import disk

CLUSTERS, NETWORKS = "clusters", "networks"

Write = Callable[[Path, str], None]
Remove = Callable[[Path], None]


def root(env: Mapping[str, str] = os.environ) -> Path:
    """Return where all inventories are; NPA_FLEET_DIR moves them."""
    moved = env.get("NPA_FLEET_DIR")
    return Path(moved).expanduser() if moved else Path(env.get("HOME") or "~").expanduser() / ".npa/fleet"


def now() -> str:
    """Return the time as records have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def write(path: Path, text: str) -> None:
    """Write a file of the inventory so that a power cut leaves the old or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    disk.write(path, text, mode=0o600, uid=-1, gid=-1)
    disk.sync_folder(path.parent)


def remove(path: Path) -> None:
    """Remove a file of the inventory for good."""
    if path.exists():
        path.unlink()
        disk.sync_folder(path.parent)


class Store:
    """The inventory of one fleet."""

    def __init__(
        self, name: str, base: Path | None = None, save: Write = write, remove: Remove = remove
    ) -> None:
        self.name = name
        self._base = base or root()
        self._folder = self._base / name
        self._write, self._remove = save, remove

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self._folder

    def locked(self) -> AbstractContextManager[None]:
        """Keep every other run of this fleet out; raises RefusedError where one is at work."""
        self._base.mkdir(parents=True, exist_ok=True, mode=0o700)
        return disk.lock(self._lock, f"another command is changing fleet {self.name}")

    @property
    def busy(self) -> bool:
        """Whether a run of this fleet is at work."""
        return disk.held(self._lock)

    def exists(self) -> bool:
        """Say whether anything of this fleet is written down."""
        return any(self._files(CLUSTERS)) or any(self._files(NETWORKS))

    def record(self, cluster: str) -> Record | None:
        """Return what is written down of a cluster; raises RefusedError for a file that cannot be read."""
        return _read(self._path(CLUSTERS, cluster))

    def records(self) -> tuple[tuple[Record, ...], tuple[tuple[str, str], ...]]:
        """Return every record by cluster, and of each file that cannot be read its name and what is wrong."""
        found, wrong = [], []
        for path in self._files(CLUSTERS):
            try:
                each = _read(path)
            except RefusedError as error:
                wrong.append((path.stem, str(error)))
                continue
            if each:
                found.append(each)
        return tuple(found), tuple(wrong)

    def save(self, each: Record) -> None:
        """Write a record."""
        self._write(self._path(CLUSTERS, each.claim.cluster), _text(record.encode(each)))

    def forget(self, cluster: str) -> None:
        """Remove the record of a cluster that is gone."""
        self._remove(self._path(CLUSTERS, cluster))

    def network(self, project: str) -> Network | None:
        """Return what is written down of a project's network."""
        path = self._path(NETWORKS, project)
        found = disk.load_json(path)
        return network.decode(found, str(path)) if found is not None else None

    def networks(self) -> tuple[Network, ...]:
        """Return every network that this fleet made or began to."""
        found = (self.network(path.stem) for path in self._files(NETWORKS))
        return tuple(each for each in found if each)

    def save_network(self, each: Network) -> None:
        """Write a network down."""
        self._write(self._path(NETWORKS, each.project), _text(network.encode(each)))

    def forget_network(self, project: str) -> None:
        """Remove what is written down of a network that is gone."""
        self._remove(self._path(NETWORKS, project))

    def tidy(self) -> None:
        """Remove folders that hold nothing any more."""
        for each in (self._folder / CLUSTERS, self._folder / NETWORKS, self._folder):
            with contextlib.suppress(OSError):
                each.rmdir()

    @property
    def _lock(self) -> Path:
        return self._base / f".{self.name}.lock"

    def _path(self, kind: str, name: str) -> Path:
        return self._folder / kind / f"{name}.json"

    def _files(self, kind: str) -> Iterator[Path]:
        yield from sorted(self._folder.glob(f"{kind}/[!.]*.json"))


def fleets(base: Path | None = None) -> tuple[str, ...]:
    """Return the names of the fleets that this machine knows."""
    return tuple(sorted(path.name for path in (base or root()).glob("[!.]*/") if path.is_dir()))


def owner(target: str, cluster: str, base: Path | None = None, *, but: str = "") -> str:
    """Return the fleet, `but` one, that has a cluster of this name on a target; "" where none has.

    Raises RefusedError where a record cannot be read: it may be the one.
    """
    for name in fleets(base):
        found = Store(name, base).record(cluster) if name != but else None
        if found and found.claim.target == target:
            return name
    return ""


def chosen(name: str | None, base: Path | None = None) -> str:
    """Return which fleet is meant: the named one, else the only one there is."""
    known = fleets(base)
    if name:
        return name
    if not known:
        raise NotFoundError("no fleet on this machine", hint="make one: npa fleet deploy --spec fleet.yaml")
    if len(known) > 1:
        raise UsageError(f"which fleet? there are {', '.join(known)}", hint="name one")
    return known[0]


def _read(path: Path) -> Record | None:
    found = disk.load_json(path)
    if found is None:
        return None
    decoded = record.decode(found, str(path))
    if decoded.claim.cluster != path.stem:
        raise RefusedError(
            f"{path} is the record of {decoded.claim.cluster}", hint="restore it; nothing is assumed"
        )
    return decoded


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1) + "\n"
