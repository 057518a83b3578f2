"""The command `lint`: Slurm's files, or a spec's, before Slurm reads them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from npa.cli import request, screen
from npa.cli.options import OutputKind
from npa.errors import UsageError

if TYPE_CHECKING:
    from npa.cluster.model import Machine
    from npa.slurm.lint import Finding

LINT_VERSION = "npa.soperator.lint/v1"
NOT_SOUND = 2
_INCLUDE = re.compile(r"^include[ \t]+([^\s#]+)", re.IGNORECASE | re.MULTILINE)
_MACHINE = re.compile(r"([0-9]{1,6}):([0-9]+[KMGT]?)", re.IGNORECASE)


def lint(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH", help="A spec, a slurm.conf, a folder of Slurm's files; `-` reads a spec."
        ),
    ],
    custom: Annotated[
        bool, typer.Option("--custom", help="PATH has settings to be added to a cluster's slurm.conf.")
    ] = False,
    machine: Annotated[
        str | None,
        typer.Option("--machine", metavar="CPUS:MEMORY", help="What a node really has, as in `16:64G`."),
    ] = None,
    slurm: Annotated[
        str, typer.Option("--slurm", metavar="VERSION", help="Slurm that reads the files: 26.05 or 24.11.")
    ] = "",
    output: OutputKind = "text",
) -> None:
    """Name what Slurm would not take, or take for something else, each with its line and what to do.

    Exits 2 where there is an error; warnings do not count.

    \b
    npa soperator lint cluster.yaml
    npa soperator lint /etc/slurm --machine 16:64G
    npa soperator lint extra.conf --custom
    """
    from npa import api
    from npa.api import checked

    version, has = _version(slurm), _machine(machine)
    place = Path(path)
    if custom:
        files = {place.name: _text(path)}
        found = api.lint(files, version=version, custom=True)
    elif path == request.STDIN or (place.suffix in (".yaml", ".yml") and place.name != "topology.yaml"):
        spec, text = request.load(path)
        source = "<stdin>" if path == request.STDIN else path
        _tell(path, checked.located(api.lint_spec(spec), text, source), output)
        return
    else:
        found = api.lint(_files(place), version=version, machine=has)
    folder = place if place.is_dir() else place.parent
    _tell(path, [(each, str(folder / each.file)) for each in found], output)


def _files(place: Path) -> dict[str, str]:
    """Return the texts of a folder, or of one file and what it includes."""
    from npa.slurm.lint import KNOWN, MAIN

    if not place.is_dir():
        name = place.name if place.name in KNOWN else MAIN
        return {name: _text(str(place)), **_included(place.parent, _text(str(place)), {name})}
    files: dict[str, str] = {}
    for name in KNOWN:
        if (place / name).is_file():
            files[name] = _text(str(place / name))
    if not files:
        raise UsageError(f"{place}: has none of Slurm's files", hint=f"name a folder with {MAIN}, or a file")
    for text in list(files.values()):
        files |= _included(place, text, set(files))
    return files


def _included(folder: Path, text: str, seen: set[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in _INCLUDE.findall(text):
        inside = not name.startswith("/") and ".." not in Path(name).parts
        if inside and name not in seen and (folder / name).is_file():
            seen.add(name)
            found[name] = _text(str(folder / name))
            found |= _included(folder, found[name], seen)
    return found


def _text(path: str) -> str:
    return request.read(path).decode("utf-8", "surrogateescape")


def _version(text: str) -> str:
    from npa.spec import catalog

    if text and text not in catalog.SLURM_VERSIONS:
        raise UsageError(f"no Slurm {text!r}", hint=f"choose one of {', '.join(catalog.SLURM_VERSIONS)}")
    return text or catalog.SLURM_VERSIONS[0]


def _machine(text: str | None) -> Machine | None:
    from npa.cluster.model import Machine
    from npa.slurm import quantity

    if text is None:
        return None
    found = _MACHINE.fullmatch(text)
    memory = quantity.parse_memory(found[2]) if found else None
    if found is None or memory is None:
        raise UsageError(f"{text!r} is no machine", hint="write `CPUS:MEMORY`, as in `16:64G`")
    return Machine(cpus=int(found[1]), memory_mib=memory.mib)


def _tell(path: str, found: list[tuple[Finding, str]], output: str) -> None:
    wrong = sum(each.severity == "error" for each, _ in found)
    if output == "json":
        screen.document(
            {
                "schema_version": LINT_VERSION,
                "ok": not wrong,
                "path": path,
                "findings": [_document(each, source) for each, source in found],
            }
        )
    else:
        for each, source in found:
            screen.data(f"{each.severity}: {each.problem(source)}")
            if each.hint:
                screen.data(f"hint: {each.hint}")
        screen.data(f"{path}: {_summary(wrong, len(found) - wrong)}")
    raise typer.Exit(NOT_SOUND if wrong else 0)


def _summary(errors: int, warnings: int) -> str:
    parts = [
        f"{count} {word}{'s' * (count != 1)}"
        for count, word in ((errors, "error"), (warnings, "warning"))
        if count
    ]
    return ", ".join(parts) if errors else ", ".join(["sound", *parts])


def _document(finding: Finding, source: str) -> dict[str, object]:
    return {
        "severity": finding.severity,
        "source": source,
        "line": finding.line,
        "column": finding.column,
        "at": finding.at,
        "message": finding.message,
        "hint": finding.hint,
        "text": str(finding.problem(source)),
    }
