"""Defaults under a cluster's own words, with the place of every value in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from npa.errors import Problem
from npa.spec.document import Document, Place


@dataclass(slots=True)
class Part:
    """A document put together from several places of a file; `origins` maps its paths to the file's."""

    home: str  # where what is missing belongs
    said: dict[str, str] = field(default_factory=dict)  # where the fleet says what it owns
    value: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)

    def put(self, key: str, value: Any, at: str) -> None:
        """Set a value that stands at a path of the file."""
        self.value[key] = value
        self.origins.update(_walk(value, key, at))

    def document(self, places: Mapping[str, Place]) -> Document:
        """Return it as a document whose places are the file's."""
        found = {path: place for path, at in self.origins.items() if (place := places.get(at))}
        return Document(self.value, found)

    def located(self, problem: Problem) -> Problem:
        """Return a problem of the document as one of the file; a path of the file itself stays."""
        if problem.at.startswith((f"{self.home}.", "defaults.")):
            return problem
        path = outer = problem.at
        while outer not in self.origins and outer:
            outer = outer[: max(outer.rfind("."), outer.rfind("["), 0)]
        at = self.origins[outer] if outer else self.home
        return replace(problem, at=at + _rest(path, outer))


def overlay(base: Mapping[str, Any], over: Mapping[str, Any], base_at: str, over_at: str, root: str) -> Part:
    """Lay one mapping over another: mappings merge, everything else is replaced as a whole.

    `root` is the path of the file whose line stands for the result itself.
    """
    part = Part(over_at, origins={"": root})
    part.value = _merged(base, over, base_at, over_at, "", part.origins)
    return part


def _merged(
    base: Mapping[str, Any],
    over: Mapping[str, Any],
    base_at: str,
    over_at: str,
    path: str,
    origins: dict[str, str],
) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key in (*base, *(each for each in over if each not in base)):
        here, under, above = _join(path, key), _join(base_at, key), _join(over_at, key)
        if key in base and key in over and isinstance(base[key], dict) and isinstance(over[key], dict):
            origins[here] = above
            value[key] = _merged(base[key], over[key], under, above, here, origins)
        else:
            value[key], at = (over[key], above) if key in over else (base[key], under)
            origins.update(_walk(value[key], here, at))
    return value


def _walk(value: Any, path: str, at: str) -> Iterator[tuple[str, str]]:
    yield path, at
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _walk(each, _join(path, key), _join(at, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _walk(each, f"{path}[{index}]", f"{at}[{index}]")


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _rest(path: str, outer: str) -> str:
    rest = path.removeprefix(outer)
    return f".{rest}" if rest and rest[0] not in ".[" else rest
