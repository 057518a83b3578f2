"""Every known way to be wrong, in the checker's words. NPA_GOLDEN=rewrite writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.golden.lint.cases import CASES, Case, Policy

from npa.slurm import lint

GOLDEN = Path(__file__).parents[2] / "golden" / "lint" / "findings.txt"


def _told(case: Case) -> tuple[lint.Finding, ...]:
    return lint.check(case.texts(), version=case.releases[-1])


def _written() -> str:
    blocks = []
    for name, case in CASES.items():
        lines = [f"{each.severity}: {each.problem()} [{each.hint}]" for each in _told(case)]
        blocks.append("\n  ".join([name, *(lines or ["nothing"])]) + "\n")
    return "\n".join(blocks).encode("utf-8", "backslashreplace").decode()


def test_c29_to_c36_and_c66_are_told_in_these_words() -> None:
    written = _written()
    if os.environ.get("NPA_GOLDEN") == "rewrite":
        GOLDEN.write_text(written, encoding="utf-8")

    assert written == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("release", ["24.11", "26.05"])
def test_what_slurm_takes_is_sound_and_what_it_does_not_is_an_error(name: str, release: str) -> None:
    case = CASES[name]
    if release not in case.releases:
        pytest.skip(f"another case on {release}")

    wrong = lint.errors(lint.check(case.texts(), version=release))

    assert bool(wrong) == (case.reality is not None), wrong


def test_every_error_says_what_to_do_and_where() -> None:
    found = [each for case in CASES.values() for each in _told(case)]

    assert [each for each in found if not each.message or not each.hint] == []
    assert all(
        each.line > 0
        or "missing" in each.message
        or "no partition" in each.message
        or "ConfigMap" in each.message
        for each in found
    )


def test_few_are_refused_for_a_reason_that_slurm_has_not() -> None:
    assert [name for name, case in CASES.items() if isinstance(case.reality, Policy)] == ["c34-not-utf-8"]
