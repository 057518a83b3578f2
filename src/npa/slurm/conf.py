"""One line of a Slurm configuration file as a value: the only way text reaches a file.

Slurm's grammar (parse_config.c) is small and full of traps: `#` starts a comment even between quotes, a
backslash joins lines or vanishes, a quote cannot be escaped, and what follows a blank is another setting. A
text that would fall into one of them is refused when the line is made, so a rendered file has exactly the
lines that were meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

HEADER = "Written by npa; changes made here are overwritten"

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PAIR = re.compile(r'\s*([A-Za-z][A-Za-z0-9_.]*)\s*=\s*(?:"([^"]*)"|([^\s"]\S*))(?=\s|$)')
_INCLUDE = re.compile(r"\s*include\s+(\S+)\s*", re.IGNORECASE)
_TRAPS = {'"': "a double quote", "#": "`#`, which starts a comment", "\\": "a backslash"}


class ConfError(ValueError):
    """A text that cannot stand in a configuration file; `character` is what is wrong with it."""

    def __init__(self, key: str, character: str, what: str) -> None:
        self.key, self.character = key, character
        super().__init__(f"{key}: {what}")


@dataclass(frozen=True, slots=True)
class Line:
    """One line: settings, a comment, an include, or none of them (an empty line)."""

    pairs: tuple[tuple[str, str], ...] = ()
    comment: str = ""
    include: str = ""
    unread: str = ""  # text in a foreign file that Slurm's grammar does not know; never rendered by us
    number: int = field(default=0, compare=False)  # of the line in the file it was read from, from 1

    def __post_init__(self) -> None:
        for key, value in self.pairs:
            _check(key, value)
        _refuse_unprintable("comment", self.comment)
        check_value("include", self.include)

    def __str__(self) -> str:
        parts = [f"{key}={_quoted(value)}" for key, value in self.pairs]
        parts += [f"Include {self.include}"] * bool(self.include) + [self.unread] * bool(self.unread)
        parts += [f"# {self.comment}"] * bool(self.comment)
        return " ".join(parts)

    @property
    def key(self) -> str:
        """The first key in lower case, as keys have no case; "" where the line sets nothing."""
        return self.pairs[0][0].lower() if self.pairs else ""

    def get(self, key: str, default: str = "") -> str:
        """Return the value of a key, whatever its case."""
        return next((value for name, value in self.pairs if name.lower() == key.lower()), default)


def line(*pairs: tuple[str, object]) -> Line:
    """Return the line that sets these keys."""
    return Line(tuple((key, str(value)) for key, value in pairs))


def comment(text: str) -> Line:
    """Return a line with a comment alone."""
    check_value("comment", text)  # a backslash at its end would swallow the next line
    return Line(comment=text.strip())


def word(what: str, text: str) -> str:
    """Return the text if it can stand alone between blanks; for files of another grammar."""
    check_value(what, text)
    blank = next((character for character in text if character.isspace()), "")
    if blank or not text:
        raise ConfError(what, blank, "a blank in a word" if text else "an empty word")
    return text


def check_key(key: str) -> None:
    """Refuse what is no key, and `include`, which Slurm reads as a directive."""
    if not _KEY.fullmatch(key) or key.lower() == "include":
        wrong = next((character for character in key if not _KEY.fullmatch(f"a{character}")), "")
        raise ConfError(key, wrong, f"{key!r} is not a key of a Slurm configuration file")


def check_value(key: str, value: str) -> None:
    """Refuse a value that Slurm would read as something else."""
    _refuse_unprintable(key, value)
    if _TRAPS.keys().isdisjoint(value):
        return
    for character in value:
        if character in _TRAPS:
            raise ConfError(key, character, f"value {value!r} contains {_TRAPS[character]}")


@lru_cache(maxsize=8192)  # clusters have most lines in common
def _check(key: str, value: str) -> None:
    check_key(key)
    check_value(key, value)


def text(lines: Iterable[Line]) -> str:
    """Return the lines as a file."""
    return "".join(f"{item}\n" for item in lines)


@lru_cache(maxsize=128)  # the same file is looked at again and again while nothing changes
def parse(content: str) -> tuple[Line, ...]:
    """Return every line of a file; what cannot be read is kept as `unread`, so that nothing is lost.

    Continued lines become one. Includes are kept, not followed.
    """
    lines: list[Line] = []
    start, joined = 0, ""
    for number, raw in enumerate(content.replace("\r\n", "\n").split("\n"), 1):
        start = start or number
        code, remark = _uncommented(raw)
        if code.endswith("\\") and not remark:
            joined += code[:-1]
            continue
        lines.append(_read(joined + code, remark, start))
        start, joined = 0, ""
    if joined:
        lines.append(_read(joined, "", start))
    if lines and lines[-1] == Line():
        lines.pop()  # what follows the last line break is no line
    return tuple(lines)


def keys(content: str) -> frozenset[str]:
    """Return the keys that a file's lines begin with, in lower case."""
    return frozenset(line.key for line in parse(content) if line.key)


def _read(code: str, remark: str, number: int) -> Line:
    remark = "".join(character if character.isprintable() else " " for character in remark).strip()
    found = _INCLUDE.fullmatch(code)
    try:
        if found:
            return Line(include=found[1], comment=remark, number=number)
        return Line(_pairs(code), comment=remark, number=number)
    except ConfError:
        return Line(unread=code.strip(), comment=remark, number=number)


def _pairs(code: str) -> tuple[tuple[str, str], ...]:
    pairs, position = [], 0
    while found := _PAIR.match(code, position):
        pairs.append((found[1], found[2] if found[2] is not None else found[3]))
        position = found.end()
    if code[position:].strip():
        raise ConfError(code, "", "not key=value")
    return tuple(pairs)


def _uncommented(raw: str) -> tuple[str, str]:
    r"""Split a line at its first `#` that is not written `\#`."""
    found = re.search(r"(?<!\\)#", raw)
    return (raw[: found.start()], raw[found.end() :]) if found else (raw, "")


def _quoted(value: str) -> str:
    return f'"{value}"' if not value or " " in value else value


def _refuse_unprintable(key: str, value: str) -> None:
    if value.isprintable():
        return
    for character in value:
        if not character.isprintable():
            raise ConfError(key, character, f"value {value!r} contains the control character {character!r}")
