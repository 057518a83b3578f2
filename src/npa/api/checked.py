"""A spec's text to a spec that Slurm would take, too; what is wrong is told where it stands in the text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from npa import api
from npa.errors import SpecError

if TYPE_CHECKING:
    from npa.slurm.lint import Finding
    from npa.spec.model import SoperatorSpec


def spec(text: str | bytes, source: str = "") -> SoperatorSpec:
    """Return the spec that a text says; raise SpecError with everything that is wrong with it."""
    from npa.spec import load

    found = load.parse(text, source)
    refuse_settings(found, text.decode("utf-8-sig") if isinstance(text, bytes) else text, source)
    return found


def refuse_settings(spec: SoperatorSpec, text: str, source: str) -> None:
    """Raise SpecError for settings that Slurm would not take, each where it stands in the spec."""
    if spec.slurm.settings:
        from npa.slurm.lint import errors

        wrong = errors(api.lint_spec(spec))
        if wrong:
            raise SpecError([each.problem(where) for each, where in located(wrong, text, source)])


def located(found: tuple[Finding, ...], text: str, source: str) -> list[tuple[Finding, str]]:
    """Return findings with the name of their file; those about the spec's settings with their line in it."""
    from npa.spec import document

    places = document.read(text).places
    placed = []
    for each in found:
        if each.file:
            placed.append((each, f"{source} -> {each.file}"))
            continue
        place = places.get(each.at)
        line, column = place.key if place else (0, 0)
        placed.append((replace(each, line=line, column=column), source))
    return placed
