from __future__ import annotations

from typing import Any

import pytest
import typer

from npa.cli.app import AREAS, build
from npa.cli.main import main

EVERY: Any = typer.main.get_command(build())
CALLED = [(area, each.name) for area, found in AREAS.items() for each in found.commands]


def options(command: Any) -> list[tuple[str, ...]]:
    return [tuple(each.opts) for each in command.params]


@pytest.mark.parametrize(("area", "name"), CALLED)
def test_a_command_that_is_called_alone_is_what_it_is_among_all(area: str, name: str) -> None:
    alone: Any = typer.main.get_command(build((area, name)))
    found, expected = alone.commands[area].commands[name], EVERY.commands[area].commands[name]

    assert options(found) == options(expected)
    assert (found.help, type(found)) == (expected.help, type(expected))


@pytest.mark.parametrize("words", [[], ["soperator"], ["fleet"], ["tool"], ["operator"]])
def test_a_group_lists_all_its_commands_whatever_is_imported(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--help"]) == 0

    told = capsys.readouterr().out
    group = EVERY.commands[words[0]] if words else EVERY
    for name, command in group.commands.items():
        assert command.hidden or f"  {name} " in told


def test_a_misspelt_command_is_met_with_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["soperator", "stauts"]) == 2

    assert "'status'" in capsys.readouterr().err
