"""Where words go: data to stdout, all else to stderr, and nothing that could steer a terminal."""

from __future__ import annotations

import json
import re
import sys
from typing import Any, TextIO

# Job names, reasons and a spec's strings are other people's text: no control character of theirs, and none
# that turns the direction of writing, reaches a terminal.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def data(text: str) -> None:
    """Print the result of a command."""
    _print(text, sys.stdout)


def document(value: dict[str, Any]) -> None:
    """Print the result of a command as its one JSON document."""
    if sys.stdout:
        print(json.dumps(value, indent=2), file=sys.stdout, flush=True)


def progress(text: str) -> None:
    """Print what is not a result: progress, notes, errors."""
    _print(text, sys.stderr)


def asked(question: str) -> bool:
    """Ask a person; anything but yes is no."""
    sys.stderr.write(f"{clean(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def has_person() -> bool:
    """Say whether somebody can be asked."""
    return bool(sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty())


def clean(text: str) -> str:
    """Return text with control characters spelled out."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def _print(text: str, stream: TextIO | None) -> None:
    if stream:
        print(clean(text.removesuffix("\n")), file=stream, flush=True)
