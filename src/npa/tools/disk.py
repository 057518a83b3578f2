"""Files of ours: whole or not at all, locks, and how much room there is."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from npa.errors import RefusedError


def write(path: Path, text: str, *, mode: int = 0o644, uid: int = 0, gid: int = 0) -> None:
    """Replace a file in one step, so that a reader sees the old or the new one, and never less."""
    write_bytes(path, text.encode(), mode=mode, uid=uid, gid=gid)


def write_bytes(path: Path, content: bytes, *, mode: int = 0o644, uid: int = 0, gid: int = 0) -> None:
    """As `write`, for bytes."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            os.fchmod(fd, mode)
            os.fchown(fd, uid, gid)
            file.flush()
            os.fsync(fd)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise


def text(path: Path) -> str | None:
    """Return a file's text; None only where there is no such file."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def load_json(path: Path) -> dict[str, Any] | None:
    """Return a JSON object of ours; None only where there is no such file. Raises RefusedError if damaged."""
    found = text(path)
    if found is None:
        return None
    try:
        decoded = json.loads(found)
    except ValueError as error:
        decoded = error
    if not isinstance(decoded, dict):
        raise RefusedError(
            f"{path} is not a record of npa: {decoded!r:.80}", hint="restore it, or move it away by hand"
        )
    return decoded


@contextlib.contextmanager
def lock(path: Path, busy: str, *, patience: float = 0.0) -> Iterator[None]:
    """Hold an exclusive lock; raises RefusedError with `busy` when somebody else does (flock(2)).

    `patience` is how many seconds to wait for it.
    """
    with lent_lock(path, busy, patience=patience):
        yield


@contextlib.contextmanager
def lent_lock(path: Path, busy: str, *, patience: float = 0.0) -> Iterator[int]:
    """Hold a lock as `lock` does, and yield its descriptor: a program that inherits it holds it, too.

    The file goes away with the lock, and a lock on a file that has gone is taken anew.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + patience
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            if time.monotonic() >= deadline:
                raise RefusedError(busy, hint="wait for it to end, then try again") from None
            time.sleep(0.05)
            continue
        with contextlib.suppress(FileNotFoundError):
            if os.stat(path).st_ino == os.fstat(fd).st_ino:
                break
        os.close(fd)
    try:
        yield fd
    finally:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        os.close(fd)


def held(path: Path) -> bool:
    """Say whether somebody holds a lock right now."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def free_bytes(path: Path) -> int:
    """Return the bytes an unprivileged writer may still use where `path` is or would be made."""
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free


def remove_tree(path: Path) -> None:
    """Remove a folder and all in it, if it is there; never crosses into another mount.

    Raises RefusedError where something is still mounted below it.
    """
    inside = [point for point in mount_points() if Path(point).is_relative_to(path)]
    if inside:
        raise RefusedError(
            f"{path} still has mounts in it: {', '.join(inside[:3])}",
            hint=f"unmount them: umount {inside[0]}",
        )
    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        return
    except OSError as error:
        # cut short by Ctrl-C, rmtree closes a folder twice, and that error hides the other
        hidden: BaseException | None = error
        while hidden and not isinstance(hidden, KeyboardInterrupt):
            hidden = hidden.__context__
        raise hidden or error from None


def mount_points() -> list[str]:
    """Return every mount point of this process's namespace (proc_pid_mountinfo(5), field 5)."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return [line.split(" ")[4].encode().decode("unicode_escape") for line in lines]


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last: a file replaced in it is still the new one after a power cut."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
