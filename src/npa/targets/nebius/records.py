"""What an installation keeps on disk besides Terraform's state: sidecar, journal, log, and its lock."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from npa.errors import IdentityError, NpaError, RefusedError
from npa.plan.history import History
from npa.plan.model import Event, Plan
from npa.render.nebius import journal as journals
from npa.render.nebius import sidecar as sidecars
from npa.render.nebius.journal import Entry, Journal
from npa.render.nebius.sidecar import Sidecar
from npa.slurm.lookup import Found, Lookup, Unknown
from npa.targets import history
from npa.tools import disk

_COMPLETE = re.compile(r"(\S.*): (?:Creation|Modifications|Destruction) complete after ")
LOG = ".npa-soperator.log"
HISTORY = ".npa-soperator-history.jsonl"  # the plans that were applied, each with how it ended
GATE = ".npa-soperator-gate.json"
ENDED = ".npa-soperator-destroyed.json"  # when everything was proven gone; a new deploy removes it


def load_sidecar(installation: Path) -> Sidecar | None:
    """Return the installation's record; None only where there is no such file.

    Raises IdentityError or OwnershipError for one that cannot be trusted: it is never taken for absent.
    """
    path = installation / sidecars.FILE
    try:
        text = _private_text(path)
        return None if text is None else sidecars.decode(json.loads(text))
    except (OSError, ValueError) as error:
        raise IdentityError(
            f"{path} cannot be read: {type(error).__name__}",
            hint="restore it from a backup; nothing is assumed in its place",
        ) from error


def save_sidecar(installation: Path, sidecar: Sidecar) -> None:
    """Replace the record in one step that outlasts a power cut; a failure leaves the one before."""
    _save(installation / sidecars.FILE, sidecars.encode(sidecar))


def forget_sidecar(installation: Path) -> None:
    """Remove the record, once a destroy has proven that nothing is left for it to say."""
    _forget(installation / sidecars.FILE)


def load_journal(installation: Path) -> Journal:
    """Return the journal; an empty one where there is none."""
    found = disk.load_json(installation / journals.FILE)
    return Journal() if found is None else journals.decode(found)


def forget_journal(installation: Path) -> None:
    """Remove the journal, so that the name starts anew."""
    _forget(installation / journals.FILE)


def load_ended(installation: Path) -> str:
    """Return when this installation was proven gone; "" where it was not, or lives again."""
    return str((disk.load_json(installation / ENDED) or {}).get("at", ""))


def save_ended(installation: Path) -> None:
    """Write down that everything is proven gone, so that a second destroy knows it."""
    _save(installation / ENDED, {"at": _now()})


def forget_ended(installation: Path) -> None:
    """Remove that, once the name lives again."""
    _forget(installation / ENDED)


def load_gate(installation: Path) -> str:
    """Return the run of a GPU check that may still have its job in Slurm; "" where there is none."""
    return str((disk.load_json(installation / GATE) or {}).get("run", ""))


def save_gate(installation: Path, run: str) -> None:
    """Write down the run of a GPU check before its job is made: whoever comes after us can cancel it."""
    _save(installation / GATE, {"run": run})


def forget_gate(installation: Path) -> None:
    """Remove that, once the queue has said that the job is gone."""
    _forget(installation / GATE)


@contextlib.contextmanager
def phase(installation: Path, verb: str, name: str) -> Iterator[None]:
    """Write down that a phase begins, and how it ends; what is interrupted stays begun."""
    _note(installation, verb, name, "begun")
    try:
        yield
    except NpaError as error:
        # The type alone: a message may hold what the provider said, and a journal is read by others.
        _note(installation, verb, name, "failed", type(error).__name__)
        raise
    _note(installation, verb, name, "done")


@contextlib.contextmanager
def applied(installation: Path, verb: str, plan: Plan) -> Iterator[Callable[[str], None]]:
    """Write down that a plan is applied, and how that ends; yields what hears Terraform's lines meanwhile.

    Of an error the type alone is kept, as in the journal.
    """
    done: set[str] = set()
    path = installation / HISTORY

    with history.written(path, verb, plan, lambda _: None, lambda error: type(error).__name__) as hear:

        def line(text: str) -> None:
            found = _COMPLETE.match(text.strip())
            if found and found[1] not in done:
                done.add(found[1])
                hear(Event("done", found[1], text))

        yield line


def load_history(installation: Path) -> Lookup[History]:
    """Return the plans that were applied; Unknown where the file cannot be read."""
    try:
        return Found(history.load(installation / HISTORY))
    except OSError as error:
        return Unknown(f"{HISTORY}: {(error.strerror or str(error)).lower()}")


def forget_history(installation: Path) -> None:
    """Remove it, so that the name starts anew."""
    _forget(installation / HISTORY)


@contextlib.contextmanager
def locked(root: Path, name: str, installation: Path | None = None) -> Iterator[None]:
    """Hold an installation for one change; raises RefusedError at once when another holds it.

    The name is held below the work root, and the folder too where it lies elsewhere (`--terraform-dir`).
    """
    busy = f"another npa is changing {name}"
    _private_folder(root)
    with contextlib.ExitStack() as stack:
        stack.enter_context(disk.lock(root / f".{name}.lock", busy))
        if installation is not None and not installation.is_relative_to(root):
            stack.enter_context(disk.lock(installation.parent / f".{name}.npa-lock", busy))
        yield


def log_file(installation: Path) -> Path:
    """Return the installation's log, made for its owner alone."""
    path = installation / LOG
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    path.chmod(0o600)
    return path


def _note(installation: Path, verb: str, name: str, outcome: journals.Outcome, detail: str = "") -> None:
    grown = load_journal(installation).with_entry(Entry(verb, name, outcome, _now(), detail))
    _save(installation / journals.FILE, journals.encode(grown))


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _save(path: Path, document: dict[str, Any]) -> None:
    disk.write(path, json.dumps(document, indent=2) + "\n", mode=0o600, uid=-1, gid=-1)
    disk.sync_folder(path.parent)


def _forget(path: Path) -> None:
    path.unlink(missing_ok=True)
    disk.sync_folder(path.parent)


def _private_text(path: Path) -> str | None:
    """Return a file that nobody but its owner can have written."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, encoding="utf-8") as file:
        if stat.S_IMODE(os.fstat(fd).st_mode) & (stat.S_IWGRP | stat.S_IWOTH):
            raise IdentityError(f"others can write {path}", hint=f"check it, then: chmod 600 {path}")
        return file.read()


def _private_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise RefusedError(f"{folder} cannot be made: {error.strerror}", hint="check its mode") from error
