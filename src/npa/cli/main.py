"""The entry point: arguments in, exit code out; every failure ends here, in one form."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

import npa

BROKEN_PIPE = 141  # as a shell reports a program that SIGPIPE ended


def main(argv: Sequence[str] | None = None) -> int:
    """Run npa with these arguments, or the process's own, and return the exit code."""
    ours, passed = _split(list(sys.argv[1:] if argv is None else argv))
    if ours == ["--version"]:
        print(f"npa {npa.__version__}")  # at once: typer is most of the start
        return 0
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):  # closed, or a test's
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    # Pydantic would look through every installed package for plugins: 15 ms of a start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    debug = "--debug" in ours or os.environ.get("NPA_DEBUG", "") not in ("", "0")
    arguments = [each for each in ours if each != "--debug"] + passed
    try:
        return _run(arguments, debug)
    except BrokenPipeError:
        _silence()
        return BROKEN_PIPE


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    """Part our own arguments from those after `--`, which are somebody else's."""
    end = argv.index("--") if "--" in argv else len(argv)
    return argv[:end], argv[end:]


def _run(arguments: list[str], debug: bool) -> int:
    try:
        code = _invoke(arguments)
        if sys.stdout:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (Exception, KeyboardInterrupt) as error:
        from npa.cli import failure

        return failure.tell(error, as_json=_wants_json(arguments), debug=debug)
    return code


def _invoke(arguments: list[str]) -> int:
    import typer

    from npa.cli.app import build

    ours, _ = _split(arguments)
    words = [each for each in ours if not each.startswith("-")]  # no option before a command takes a value
    command = typer.main.get_command(build(words))
    # Not `command.main`: it prints usage errors by itself, and on stderr even where JSON was asked for.
    try:
        with command.make_context("npa", arguments) as context:
            command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    return 0


def _wants_json(arguments: list[str]) -> bool:
    """Say whether JSON was asked for, of arguments that may not have been understood."""
    ours, _ = _split(arguments)
    if ours[:1] == ["tool"] and ours[1:2] in (["run"], ["describe"]):
        return True  # these answer in JSON and in nothing else
    pairs = zip(ours, [*ours[1:], ""], strict=True)
    return bool({"--output=json", "-ojson"} & set(ours)) or any(
        flag in ("--output", "-o") and value == "json" for flag, value in pairs
    )


def _silence() -> None:
    """Keep the interpreter from writing to a closed pipe when it ends."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
