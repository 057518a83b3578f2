"""YAML text to plain values, with the place of every one.

Values are read from the parser's events and not from PyYAML's constructors: those turn `on`, `1.30` and `012`
into something else in silence, keep the last of two equal keys, follow aliases and recurse without end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from npa.errors import Problem
from npa.spec.scalar import MAX_INT, TAG, Odd, scalar

MAX_CHARS = 1 << 20
MAX_DEPTH = 20  # the deepest field of a spec is at 5

_HAS_LIBYAML = hasattr(yaml, "CSafeLoader")
_LOADER: Any = yaml.CSafeLoader if _HAS_LIBYAML else yaml.SafeLoader
_INDENT = re.compile(r"^[ \t]*(?:-[ \t]+)*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value is, where its key is, and how it was written."""

    line: int
    column: int
    key: tuple[int, int]
    text: str = ""


@dataclass(slots=True)
class Document:
    """A document as plain values; `places` maps a dotted path to where it stands."""

    value: Any = None
    places: dict[str, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class _Open:
    """A mapping or list whose end has not come yet."""

    path: str
    value: dict[str, Any] | list[Any]
    key: str | None = None
    key_at: tuple[int, int] = (0, 0)
    skip: bool = False  # the next value belongs to a key that was refused


class _StopError(Exception):
    """The rest of the text cannot be read; the problem is recorded."""


class _Builder:
    """Puts the events of one document together; a stack of its own in place of recursion."""

    def __init__(self, source: str) -> None:
        self.document = Document()
        self._source = source
        self._stack: list[_Open] = []
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        """Take the next event of the stream."""
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self._note(event, "", "a second document begins here", "keep one cluster in a file")
                raise _StopError
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._open(event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._stack.pop()

    def _note(self, event: yaml.Event, at: str, message: str, hint: str = "") -> None:
        line, column = _at(event)
        self.document.problems.append(Problem(line, column, at, message, hint, self._source))

    def _in_key(self) -> bool:
        top = self._stack[-1] if self._stack else None
        return top is not None and isinstance(top.value, dict) and top.key is None and not top.skip

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if self._in_key():
            self._key(event)
            return
        value, wrong = scalar(event)
        if wrong:
            self._note(event, self._path(), *wrong)
        self._put(event, value, event.value if event.implicit[0] else "")

    def _key(self, event: yaml.ScalarEvent) -> None:
        top, name = self._stack[-1], event.value
        at = _join(top.path, name)
        assert isinstance(top.value, dict)
        if name == "<<" and event.implicit[0]:
            self._refuse_key(event, top.path, "merge keys are not read", "write the values out")
        elif not isinstance(scalar(event)[0], str):
            self._refuse_key(
                event, top.path, f"key `{name[:60]}` is not a word", f"quote it: {_quoted(name)}"
            )
        elif name in top.value:
            line, _ = self.document.places[at].key
            self._refuse_key(event, at, f"`{name[:60]}` is already on line {line}", "keep one of the two")
        else:
            top.key, top.key_at = name, _at(event)

    def _refuse_key(self, event: yaml.Event, at: str, message: str, hint: str) -> None:
        self._note(event, at, message, hint)
        self._stack[-1].skip = True

    def _alias(self, event: yaml.AliasEvent) -> None:
        # Aliases make a small text a large or an endless value, and no spec needs one.
        hint = "write the value out"
        if self._in_key():
            self._refuse_key(event, self._stack[-1].path, "aliases are not read", hint)
            return
        self._note(event, self._path(), "aliases are not read", hint)
        self._put(event, Odd(f"*{event.anchor}", "the alias"))

    def _open(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        if len(self._stack) >= MAX_DEPTH:
            self._note(event, "", f"nested more than {MAX_DEPTH} deep")
            raise _StopError
        value: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        if event.tag not in (None, "!", f"{TAG}map", f"{TAG}seq"):
            self._note(event, self._path(), f"tag `{event.tag}` is not read", "remove the tag")
        if self._in_key():
            self._refuse_key(event, self._stack[-1].path, "a key must be a word", "name the field")
            # What is inside the key goes nowhere; the value that follows it is still to be skipped.
            self._stack.append(_Open("?", value))
            return
        self._stack.append(_Open(self._put(event, value), value))

    def _path(self) -> str:
        if not self._stack:
            return ""
        top = self._stack[-1]
        if isinstance(top.value, list):
            return f"{top.path}[{len(top.value)}]"
        return _join(top.path, top.key or "?")

    def _put(self, event: yaml.Event, value: Any, text: str = "") -> str:
        """Put a value where the stack says that it belongs; return its path."""
        path = self._path()
        top = self._stack[-1] if self._stack else None
        at = _at(event)
        if top is None:
            self.document.value = value
        elif isinstance(top.value, list):
            top.value.append(value)
        elif top.skip:
            top.skip = False
            return "?"
        elif top.key is not None:
            top.value[top.key] = value
        in_mapping = top is not None and top.key is not None
        self.document.places.setdefault(path, Place(*at, top.key_at if top and in_mapping else at, text))
        if top is not None:
            top.key = None
        return path


def read(text: str, source: str = "") -> Document:
    """Read one YAML document; what is wrong with it is in `problems`, and nothing is raised."""
    builder = _Builder(source)
    problems = builder.document.problems
    text = _INDENT.sub(_spaces, text.removeprefix("\ufeff"))
    if not _HAS_LIBYAML:
        text = text.expandtabs(8)  # PyYAML's own scanner takes no tab anywhere between words
    if len(text) > MAX_CHARS:
        problems.append(Problem(0, 0, "", f"longer than {MAX_CHARS} characters", "", source))
        return builder.document
    try:
        # A lone surrogate is in no encoded file, and the C parser would fail on it with another error.
        text.encode()
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except _StopError:
        pass
    except UnicodeEncodeError as error:
        line, column = _position(text, error.start)
        problems.append(Problem(line, column, "", _not_text(text[error.start]), "remove it", source))
    except yaml.YAMLError as error:
        problems[:] = [_syntax(error, text, source)]
        builder.document.value = None
    return builder.document


def take(mapping: Mapping[str, Any]) -> Document:
    """Take a mapping in memory for a document without places; its containers are copied."""
    document = Document()
    document.value = _copy(mapping, "", document, 0)
    return document


def _copy(value: Any, path: str, document: Document, depth: int) -> Any:
    if depth > MAX_DEPTH:
        document.problems.append(Problem(0, 0, path, f"nested more than {MAX_DEPTH} deep"))
        return None
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                document.problems.append(Problem(0, 0, path, f"key `{str(key)[:60]}` is not a string"))
        return {
            key: _copy(each, _join(path, key), document, depth + 1)
            for key, each in value.items()
            if isinstance(key, str)
        }
    if isinstance(value, list | tuple):
        return [_copy(each, f"{path}[{index}]", document, depth + 1) for index, each in enumerate(value)]
    if isinstance(value, int) and abs(value) >= MAX_INT:
        return Odd("", "a number too large")
    return value


def _at(event: yaml.Event) -> tuple[int, int]:
    mark: Any = event.start_mark
    return mark.line + 1, mark.column + 1


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _quoted(text: str) -> str:
    return '"' + text[:60].replace("\\", "\\\\").replace('"', '\\"') + '"'


def _spaces(match: re.Match[str]) -> str:
    # YAML forbids tabs here; editors write them nevertheless, and a tab stop of 8 is what everybody shows.
    return match[0].expandtabs(8)


def _position(text: str, index: int) -> tuple[int, int]:
    before = text[:index]
    return before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1


def _not_text(character: str) -> str:
    return f"character U+{ord(character):04X} cannot be in a file"


def _syntax(error: yaml.YAMLError, text: str, source: str) -> Problem:
    if isinstance(error, yaml.reader.ReaderError):
        # The C parser counts bytes here, the Python one characters; the character itself is certain.
        character = error.character if isinstance(error.character, int) else 0xFFFD
        line, column = _position(text, max(text.find(chr(character)), 0))
        return Problem(line, column, "", _not_text(chr(character)), "remove it", source)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = getattr(error, "problem", None) or getattr(error, "context", None) or "cannot be read"
    line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
    return Problem(line, column, "", f"not YAML: {said}", "check quotes, colons and indentation here", source)
