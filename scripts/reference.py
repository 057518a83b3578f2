"""Writes docs/reference from the code: the spec, the command line, the exit codes."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from textwrap import indent
from typing import Any

import typer

from npa import errors
from npa.agent import errors as agent_errors
from npa.cli.app import build
from npa.crds import reference as kubernetes_fields
from npa.fleet import errors as fleet_errors
from npa.spec import explain
from npa.targets.nebius import result

TOP = Path(__file__).parents[1]
REFERENCE = TOP / "docs" / "reference"
SOURCE = "<!-- written by `make docs` -->\n"
EXIT_CODES = (
    ("0", "done; for `status`, all is well"),
    ("1", "a program, the kernel or Slurm said no"),
    ("2", "the command line or the spec is not right; nothing was touched"),
    ("3", "understood and refused; nothing was touched"),
    ("4", "the cluster is there and not well"),
    ("5", "of a fleet: some clusters are as asked, and others failed"),
    ("130", "interrupted with Ctrl-C; run the same command again to go on"),
)


def render() -> dict[str, str]:
    """Return the pages by file name."""
    from scripts import tools

    return {
        "spec.md": spec_page(),
        "cli.md": cli_page(),
        "exit-codes.md": exit_codes_page(),
        "tools.md": tools.page(),
        "kubernetes-fields.md": kubernetes_fields.page(SOURCE),
    }


def spec_page() -> str:
    """Return every field of the spec, section by section."""
    lines = [
        SOURCE,
        "# The spec\n",
        "Unknown keys, values of another type and duplicate keys are refused. `npa soperator explain PATH`",
        "says the same on the command line, and `npa soperator schema` prints a JSON Schema for editors.\n",
        *_fields(""),
    ]
    return "\n".join(lines) + "\n"


def _fields(path: str) -> Iterator[str]:
    """Yield the table of one mapping's fields, then those of the mappings in it."""
    found = explain.explain(path)
    if path:
        yield f"## `{path}`\n"
        yield f"{found.meaning[:1].upper()}{found.meaning[1:]}.\n"
    yield "| field | type | default | meaning | rule |"
    yield "|---|---|---|---|---|"
    children = [explain.explain(child) for child in found.children]
    for child in children:
        name = child.path.rpartition(".")[2]
        default = "required" if child.required else f"`{child.default}`" if child.default else ""
        yield row(
            f"[`{name}`](#{_anchor(child.path)})" if child.children else f"`{name}`",
            child.type,
            default,
            child.meaning,
            child.rule,
        )
    yield ""
    for child in children:
        if child.children:
            yield from _fields(child.path)


def _anchor(path: str) -> str:
    return re.sub(r"[^\w-]", "", path)


def row(*cells: str) -> str:
    """Return a line of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def cli_page() -> str:
    """Return every command with its arguments and options."""
    lines = [SOURCE, "# The command line\n", *_commands(typer.main.get_command(build()), "npa", None)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _commands(command: Any, name: str, parent: Any) -> Iterator[str]:
    """Yield a command's own part of the page, then those of the commands in it.

    Typer has click's classes under names of its own, so they are not named here.
    """
    context = command.make_context(name, [], parent=parent, resilient_parsing=True)
    if parent is not None:
        yield f"## `{context.command_path}`\n"
    yield f"    {context.command_path} {' '.join(command.collect_usage_pieces(context))}\n"
    yield f"{_prose(command.help)}\n"
    options = [record for each in command.get_params(context) if (record := each.get_help_record(context))]
    if options:
        yield "| argument or option | meaning |"
        yield "|---|---|"
        yield from (row(f"`{option}`", meaning) for option, meaning in options)
        yield ""
    for each, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield from _commands(child, each, context)


def _prose(text: str) -> str:
    """Return a help text as Markdown: what follows `\\b` is kept as it is written."""
    paragraphs = []
    for paragraph in cleandoc(text).split("\n\n"):
        told, mark, kept = paragraph.partition("\b\n")
        examples = (
            bool(mark) and not told.strip() and all(line.startswith("npa ") for line in kept.splitlines())
        )
        paragraphs.append(
            indent(kept, "    ") if examples else f"```text\n{kept}\n```" if mark else paragraph
        )
    return "\n\n".join(paragraphs)


def exit_codes_page() -> str:
    """Return what each exit code means, and the errors that lead to it."""
    lines = [
        SOURCE,
        "# Exit codes\n",
        *exit_codes(),
        "",
        "`exec` and `ssh` end with the code of the command that they run.\n",
        "## Errors in JSON\n",
        "With `--output json` a failure is one JSON document too; `code` is one of these words.\n",
        "| `code` | exit code | meaning |",
        "|---|---|---|",
        *(row(f"`{word}`", str(each.exit_code), _first_line(each)) for word, each in _words().items()),
    ]
    return "\n".join(lines) + "\n"


def exit_codes() -> Iterator[str]:
    """Yield the table of what each exit code means."""
    yield "| code | meaning |"
    yield "|---|---|"
    yield from (row(*each) for each in EXIT_CODES)


def _words() -> dict[str, type[errors.NpaError]]:
    """Return the first error of each word; those of one target are errors of their own modules."""
    assert result.SoperatorStateCaptureError.code, "imported, so that it is among them"
    assert agent_errors.BusyError.code, "this too"
    assert fleet_errors.FleetRefusedError.code, "and this"
    words: dict[str, type[errors.NpaError]] = {}
    for each in _errors():
        words.setdefault(each.code, each)
    return words


def _errors(top: type[errors.NpaError] = errors.NpaError) -> Iterator[type[errors.NpaError]]:
    yield top
    # in the order of their modules and not in that of their imports, which is another in every program
    for each in sorted(
        top.__subclasses__(), key=lambda one: (one.__module__ != errors.__name__, one.__module__)
    ):
        yield from _errors(each)


def _first_line(error: type[errors.NpaError]) -> str:
    return (error.__doc__ or "").splitlines()[0].rstrip(".")


def main() -> None:
    """Write the pages, and the generated parts of the skill."""
    from scripts import tools

    tools.SKILL.write_text(tools.skill(tools.SKILL.read_text(encoding="utf-8")), encoding="utf-8")
    for name, text in render().items():
        (REFERENCE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(TOP))  # for what it imports of this folder
    main()
