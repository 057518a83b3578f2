"""What the command line says, as values: the spec, a duration, which cluster."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from npa.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from npa.spec.model import SoperatorSpec

STDIN = "-"
MAX_BYTES = 8 << 20  # a spec has a kilobyte, a plan of ten thousand nodes a megabyte

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def load(path: str) -> tuple[SoperatorSpec, str]:
    """Return the spec in a file, or on stdin for `-`, and its text."""
    from npa.api import checked

    content = read(path)
    source = "<stdin>" if path == STDIN else path
    return checked.spec(content, source), content.decode("utf-8-sig")


def read(path: str) -> bytes:
    """Return the bytes of a file, or of stdin for `-`; raise UsageError where that cannot be."""
    try:
        if path != STDIN:
            with Path(path).open("rb") as file:
                content = file.read(MAX_BYTES + 1)
        elif sys.stdin is None:
            raise UsageError("stdin is closed", hint="name a file with `--spec`")
        else:
            content = sys.stdin.buffer.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        why = (getattr(error, "strerror", "") or str(error)).lower()
        raise UsageError(f"{path}: {why}", hint="name a file that can be read, or `-` for stdin") from None
    if len(content) > MAX_BYTES:
        raise UsageError(f"{path}: longer than {MAX_BYTES >> 20} MiB", hint="is it the right file?")
    return content


def write(path: Path, text: str, mode: int = 0o600) -> None:
    """Replace a file of the user's in one step; without a mode it is readable by nobody else."""
    if not path.name:
        raise UsageError(f"{path}: is a directory", hint="name a file that can be written")
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as file:
            file.write(text)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UsageError(
            f"{path}: {(error.strerror or str(error)).lower()}", hint="name a file that can be written"
        ) from None


def seconds(text: str) -> float:
    """Return the seconds of `30s`, `10m`, `1h`, `1h30m`; raise UsageError for anything else."""
    if not re.fullmatch(r"([0-9]{1,6}[smhd])+", text):
        raise UsageError(f"{text!r} is no duration", hint="write it as `30s`, `10m`, `1h` or `1h30m`")
    return float(sum(int(n) * _UNITS[unit] for n, unit in re.findall(r"([0-9]+)([smhd])", text)))


def cluster(argument: str | None, option: str | None, known: Iterable[str]) -> str:
    """Return which cluster is meant: the one that is named, else the only one there is.

    `known` is looked at only where nothing is named.
    """
    if argument and option and argument != option:
        raise UsageError(f"two names: {argument!r} and {option!r}", hint="give one")
    named = argument or option
    if named:
        return named
    names = sorted(known)
    if not names:
        raise NotFoundError(
            "no cluster on this machine",
            hint="make one: `npa soperator deploy --target local --spec cluster.yaml`",
        )
    if len(names) > 1:
        raise UsageError(f"which cluster? there are {', '.join(names)}", hint="say it with `--name NAME`")
    return names[0]
