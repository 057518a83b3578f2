"""What holds for the project as a whole."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from npa.crds import nodeset, slurmcluster
from npa.fleet import load as fleets
from npa.spec import load

TOP = Path(__file__).parents[3]
MODULE_LINES = 300  # one idea a module


def _tracked(*patterns: str) -> list[Path]:
    """Return the project's own files."""
    listed = subprocess.run(
        ["git", "ls-files", "--", *patterns], cwd=TOP, capture_output=True, text=True, check=True
    )
    return [path for line in listed.stdout.splitlines() if (path := TOP / line).exists()]


def _documents() -> list[Path]:
    return _tracked("*.md")


def _links(document: Path) -> Iterator[str]:
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    yield from re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", text)


def _anchors(document: Path) -> set[str]:
    """Return the fragments that headings of a document can be linked by."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_help_lists_every_target() -> None:
    makefile = (TOP / "Makefile").read_text(encoding="utf-8")
    phony = re.findall(r"^\.PHONY: (.*)$", makefile, flags=re.MULTILINE)
    targets = {target for line in phony for target in line.split()} - {"packages"}  # part of setup

    shown = subprocess.run(["make", "help"], cwd=TOP, capture_output=True, text=True, check=True).stdout

    assert {line.split()[1] for line in shown.splitlines() if line.startswith("  make ")} == targets


@pytest.mark.parametrize("document", _documents(), ids=lambda path: str(path.relative_to(TOP)))
def test_every_link_leads_somewhere(document: Path) -> None:
    broken = []
    for link in _links(document):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            broken.append(link)

    assert broken == []


def test_every_document_is_reached_from_the_readme() -> None:
    seen: set[Path] = set()
    ahead = [TOP / "README.md"]
    while ahead:
        document = ahead.pop()
        if document in seen or document.suffix != ".md" or not document.exists():
            continue
        seen.add(document)
        ahead += [(document.parent / link.partition("#")[0]).resolve() for link in _links(document) if link]

    unreached = set(_tracked("docs/*.md", "examples/*.md")) - seen

    assert sorted(str(path.relative_to(TOP)) for path in unreached) == []


def test_a_module_is_one_idea() -> None:
    long = {
        str(path.relative_to(TOP)): count
        for path in _tracked("src/*.py")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > MODULE_LINES
    }

    assert long == {}


def test_the_files_name_no_machine_and_no_registry() -> None:
    # put together here, so that this file is not one that names them
    words = ["/wor" + "k/", "deb.debian" + ".org", "pypi" + ".org", "registry.npm" + "js"]
    pattern = re.compile("|".join(map(re.escape, words)))
    named = [
        f"{path.relative_to(TOP)}:{number}"
        for path in _tracked()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]

    assert named == []


def test_nothing_is_left_to_do() -> None:
    words = re.compile(r"\b(TODO|FIXME|XXX)\b")
    left = [str(path.relative_to(TOP)) for path in _tracked("src") if words.search(path.read_text("utf-8"))]

    assert left == []


def test_examples_are_what_npa_takes_and_have_a_readme() -> None:
    kinds = {"SlurmCluster": slurmcluster.parse, "NodeSet": nodeset.parse}
    for folder in (path for path in (TOP / "examples").iterdir() if path.is_dir()):
        spec, fleet = folder / "cluster.yaml", folder / "fleet.yaml"
        if fleet.exists():
            assert fleets.parse(fleet.read_text(encoding="utf-8"), str(fleet)).members
        elif folder.name == "kubernetes":
            for each in yaml.safe_load_all(spec.read_text(encoding="utf-8")):
                assert each["kind"] not in kinds or kinds[each["kind"]](each).name
        else:
            assert load.parse(spec.read_text(encoding="utf-8"), str(spec)).name
        assert (folder / "README.md").exists()
