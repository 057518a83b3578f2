"""Text to settings with their places, exactly as Slurm reads it (parse_config.c), traps and all.

Unlike `slurm.conf`, which keeps a file's lines for writing, this follows what Slurm makes of them: it takes
`#` for a comment between quotes too, joins lines at a backslash, drops every other backslash, and reads one
setting a line except after `NodeName` and its like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from npa.slurm import keys
from npa.slurm.lint.finding import Finding, Severity

# POSIX takes the longest match; a quoted value is the longer of the two wherever both match.
_PAIR = re.compile(
    r'[^\S\n]*([A-Za-z0-9_.]+)[^\S\n]*([-*+/]?)=[^\S\n]*(?:"([^"]*)"|([^\s"]\S*|"\S*))(?=\s|$)'
)
_INCLUDE = re.compile(r"include\s+(\S+)(.*)", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*(#)")
_JOINS = re.compile(r"(?<!\\)(?:\\\\)*(\\)\s*$")
_ESCAPE = re.compile(r"\\(.?)")
_SETTING = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]*)\s*=")


@dataclass(frozen=True, slots=True)
class Pair:
    """One `Key=value` and where both stand."""

    file: str
    key: str
    name: str  # the key in lower case, as keys have no case
    value: str
    line: int
    column: int  # of the key
    value_column: int
    operator: str = ""

    def says(
        self,
        message: str,
        hint: str = "",
        *,
        at: str = "",
        severity: Severity = "error",
        on_key: bool = False,
    ) -> Finding:
        """Return a finding about the value, or about the key."""
        column = self.column if on_key else self.value_column
        return Finding(self.file, self.line, column, at or self.key, message, hint, severity)


@dataclass(frozen=True, slots=True)
class Statement:
    """A setting, or a `NodeName=` and its like with the keys that follow."""

    pairs: tuple[Pair, ...]

    @property
    def head(self) -> Pair:
        """The first pair: what the statement is about."""
        return self.pairs[0]

    @property
    def tail(self) -> tuple[tuple[str, str], ...]:
        """What the line says after its head, wherever it stands."""
        return tuple([(pair.name, pair.value) for pair in self.pairs[1:]])

    def get(self, *names: str) -> Pair | None:
        """Return the last pair of any of these keys after the head, as that is the one Slurm takes."""
        wanted = [name.lower() for name in names]
        found = None
        for pair in self.pairs:
            if pair.name in wanted and pair is not self.pairs[0]:
                found = pair
        return found

    def text(self, *names: str, default: str = "") -> str:
        """Return the value of the last of these keys."""
        found = self.get(*names)
        return found.value if found else default


@dataclass(frozen=True, slots=True)
class Page:
    """A file as read: its statements, with those of included files in their place."""

    statements: tuple[Statement, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class _Logical:
    """A line as Slurm sees it, and where each part of it stands in the file."""

    text: str
    spots: tuple[tuple[int, int, int], ...]  # (offset in text, line, column)

    def place(self, offset: int) -> tuple[int, int]:
        if len(self.spots) == 1:
            return self.spots[0][1], offset + 1
        start, line, column = next(spot for spot in reversed(self.spots) if spot[0] <= offset)
        return line, column + offset - start


def read(file: str, texts: Mapping[str, str], kind: str = "") -> Page:
    """Read a file of `texts` and what it includes; `kind` is the file whose grammar it has."""
    heads = keys.HEADS.get(kind or file, {})
    statements: list[Statement] = []
    findings: list[Finding] = []
    _read(file, texts, heads, (), statements, findings)
    return Page(tuple(statements), tuple(findings))


def _read(
    file: str,
    texts: Mapping[str, str],
    heads: Mapping[str, str],
    outer: tuple[str, ...],
    statements: list[Statement],
    findings: list[Finding],
) -> None:
    for logical in _logical(file, texts[file], findings):
        found = _INCLUDE.match(logical.text)
        if found:
            line, column = logical.place(found.start(1))
            wrong = _include(found, texts, (*outer, file))
            if wrong:
                findings.append(Finding(file, line, column, "Include", *wrong))
            else:
                _read(found[1], texts, heads, (*outer, file), statements, findings)
            continue
        pairs = _pairs(file, logical, heads, findings)
        if pairs:
            statements.append(Statement(pairs))


def _include(
    found: re.Match[str], texts: Mapping[str, str], open_files: tuple[str, ...]
) -> tuple[str, str] | None:
    name = found[1]
    if found[2].strip():
        return f"{found[2].strip()!r} after the file's name", "put one file a line"
    if name.startswith("/") or ".." in name.split("/"):
        return f"{name!r} is outside of the folder", "put what it holds here"
    if name in open_files:
        return f"{name!r} includes itself", "remove the line"
    if name not in texts:
        return f"there is no file {name!r}", "Slurm waits a minute for it and stops; remove the line"
    return None


def _pairs(
    file: str, logical: _Logical, heads: Mapping[str, str], findings: list[Finding]
) -> tuple[Pair, ...]:
    pairs: list[Pair] = []
    position, text = 0, logical.text
    while found := _PAIR.match(text, position):
        line, column = logical.place(found.start(1))
        value = found[4] if found[3] is None else found[3]
        _, value_column = logical.place(found.start(4 if found[3] is None else 3))
        pairs.append(Pair(file, found[1], found[1].lower(), value, line, column, value_column, found[2]))
        position = found.end()
        if pairs[0].name not in heads:
            break
    rest = text[position:].strip()
    if rest:
        start = position + len(text[position:]) - len(text[position:].lstrip())
        findings.append(_unread(file, logical.place(start), rest, pairs[0].key if pairs else ""))
    return tuple(pairs)


def _unread(file: str, place: tuple[int, int], rest: str, before: str) -> Finding:
    shown = rest if len(rest) <= 40 else f"{rest[:40]}…"
    at = before or (rest.split("=")[0].split() or [rest])[0][:40]
    if _PAIR.match(rest):
        message, hint = f"`{shown}` on the line of {before}", "put each setting on a line of its own"
    elif rest.lower().startswith("include"):
        message, hint = "Slurm knows `Include` only at the beginning of a line", "remove the blanks before it"
    elif rest.endswith("=") or "=" not in rest:
        message = f"`{shown}` is no setting" if before else f"`{shown}` has no value"
        hint = "quote a value with blanks" if before else "write `Key=value`"
    else:
        message, hint = f"`{shown}` cannot be read", "write `Key=value`, and quote a value with blanks"
    return Finding(file, *place, at, message, hint)


def _logical(file: str, text: str, findings: list[Finding]) -> Iterator[_Logical]:
    """Yield the lines that say something, joined and without comments and backslashes."""
    joined, spots = "", [(0, 1, 1)]
    for number, raw in enumerate(text.split("\n"), 1):
        raw = raw.removesuffix("\r")
        code = raw
        if "#" in raw and (comment := _COMMENT.search(raw)):
            code = raw[: comment.start(1)]
            findings += _comment_traps(file, number, code, raw)
        if joined:
            findings += _join_traps(file, number, joined, raw)
        else:
            spots = []
        joins = _JOINS.search(code) if "\\" in code else None
        joined = _append(joined, spots, code[: joins.start(1)] if joins else code, number)
        if joins:
            continue
        if joined.strip():
            yield _Logical(joined, tuple(spots) or ((0, number, 1),))
        joined = ""
    if joined.strip():
        yield _Logical(joined, tuple(spots))


def _append(joined: str, spots: list[tuple[int, int, int]], code: str, number: int) -> str:
    """Return the line so far with more code, whose backslashes go."""
    position = 0
    spots.append((len(joined), number, 1))
    for escape in _ESCAPE.finditer(code) if "\\" in code else ():
        joined += code[position : escape.start()]
        spots.append((len(joined), number, escape.start() + 2))
        joined += escape[1]
        position = escape.end()
    return joined + code[position:]


def _comment_traps(file: str, number: int, code: str, raw: str) -> Iterator[Finding]:
    column = len(code) + 1
    if code.count('"') % 2:
        message = "`#` begins a comment, between quotes too: the value ends here"
        yield Finding(file, number, column, _key(code), message, "write `\\#`, or choose another value")
    elif code[-1:].strip() and "=" in code:
        severe: Severity = "error" if "pass" in _key(code).lower() else "warning"
        message = f"`{raw[len(code) :][:12]}` is a comment, not part of the value"
        yield Finding(file, number, column, _key(code), message, "put a blank before a comment", severe)


def _join_traps(file: str, number: int, joined: str, raw: str) -> Iterator[Finding]:
    following = _SETTING.match(raw)
    if following and joined[-1:].strip() and raw[:1].strip():
        key = following[1]
        message = f"the line above ends in a backslash, so that {key} becomes part of its value"
        yield Finding(file, number, 1, key, message, "remove the backslash")


def _key(code: str) -> str:
    found = _SETTING.match(code)
    return found[1] if found else ""
