"""Command blocks of a Markdown document, and whether what they print is what the document shows.

A fenced block of `bash` is run, unless the line before it is `<!-- not run: REASON -->`. A block of `text`
right after it, or after a line `<!-- prints -->`, shows its output: each line must be there, in order,
numbers aside. `…` in a shown line stands for anything, and a line of `…` alone for lines that are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

_FENCE = re.compile(r"^```(\w*)\s*$")
_NOT_RUN = re.compile(r"^<!-- not run: (\S.*) -->$")


@dataclass(frozen=True, slots=True)
class Block:
    """Commands of a document, with the output that it shows."""

    line: int  # of the opening fence, from 1
    commands: str
    not_run: str = ""  # why not; empty where they are
    shown: str = ""


def parse(text: str) -> tuple[Block, ...]:
    """Return the `bash` blocks of a document, in order."""
    blocks: list[Block] = []
    before = ""  # the last line with anything on it
    for line, language, body, after in _pieces(text):
        if language == "bash":
            skipped = _NOT_RUN.match(before)
            blocks.append(Block(line, body, skipped.group(1) if skipped else ""))
        elif language == "text" and blocks and before in ("```", "<!-- prints -->"):
            blocks[-1] = replace(blocks[-1], shown=body)
        before = after
    return tuple(blocks)


def missing(shown: str, output: str) -> str | None:
    """Return the first shown line that the output lacks, None where it has them all in order."""
    lines = iter([_plain(line) for line in output.splitlines()])
    for wanted in filter(None, map(_plain, shown.splitlines())):
        pattern = re.compile(".*".join(re.escape(part) for part in wanted.split("…")))
        if wanted != "…" and not any(pattern.fullmatch(line) for line in lines):
            return wanted
    return None


def _pieces(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield (line, language, body, last line) of each fenced block; "" for other lines."""
    lines = enumerate(text.splitlines(), 1)
    for number, line in lines:
        fence = _FENCE.match(line)
        if fence is None:
            if line.strip():
                yield number, "", "", line.strip()
            continue
        body = []
        for _, inside in lines:
            if inside.rstrip() == "```":
                break
            body.append(inside)
        yield number, fence.group(1) or "plain", "\n".join(body) + "\n", "```"


def _plain(line: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"\d+", "0", line)).strip()
