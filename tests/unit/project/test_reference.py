from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from scripts import reference, tools

from npa.agent import registry
from npa.cli.app import build
from npa.spec import load

SKILL = tools.SKILL.read_text(encoding="utf-8")


PAGES = ("spec.md", "cli.md", "exit-codes.md", "tools.md", "kubernetes-fields.md")


@pytest.mark.parametrize("page", PAGES)
def test_the_reference_is_what_the_code_says(page: str) -> None:
    written = (reference.REFERENCE / page).read_text(encoding="utf-8")

    assert written == reference.render()[page], "run `make docs`"


def test_the_generated_parts_of_the_skill_are_what_the_code_says() -> None:
    assert tools.skill(SKILL) == SKILL, "run `make docs`"


def test_a_part_that_is_missing_in_the_skill_is_told() -> None:
    with pytest.raises(ValueError, match="0 parts 'fields'"):
        tools.skill(SKILL.replace("begin fields", "begin nothing"))


def test_the_skill_begins_with_what_it_is_for() -> None:
    head = SKILL.split("---\n")[1]

    assert re.search(r"^name: soperator$", head, re.MULTILINE)
    assert 80 < len(re.findall(r"^description: (.*)$", head, re.MULTILINE)[0]) < 1024


def test_the_spec_in_the_skill_is_valid() -> None:
    (spec,) = re.findall(r"```yaml\n(.*?)```", SKILL, re.DOTALL)

    assert load.parse(spec, "SKILL.md").name == "lab"


def _commands(command: Any, path: str = "npa") -> Iterator[str]:
    yield path
    for name, child in getattr(command, "commands", {}).items():
        yield from _commands(child, f"{path} {name}")


def test_the_skill_names_only_commands_and_tools_that_are_there() -> None:
    text = " ".join(SKILL.split())
    known = set(_commands(typer.main.get_command(build())))
    named = {f"npa {first}{second}" for first, second in re.findall(r"npa (soperator|tool)( [a-z-]+)", text)}
    called = set(re.findall(r"infra\.[a-z.-]+[a-z]", text))

    assert named <= known
    assert len(named) > 15
    assert called <= {each.name for each in registry.tools()}
