"""`report`: which file is written, and what is refused before anything is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.fakes.fleet import World
from tests.unit.fleet.test_page import deployed

from npa.cli.main import main


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    code = main([*args])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a fleet of which every cluster is gone: no root is needed to see that."""
    deployed(tmp_path / "fleets", World())
    monkeypatch.setenv("NPA_FLEET_DIR", str(tmp_path / "fleets"))
    monkeypatch.setenv("NPA_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_file_bears_the_fleet_s_name(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "fleet", "report", "lab")

    written = lab / "lab.html"
    assert code == 0
    assert out == (
        f"lab.html: written, {written.stat().st_size >> 10} KiB\nnext: open {written.as_uri()} in a browser\n"
    )
    assert written.read_text().startswith("<!doctype html>")


def test_json_names_the_file(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "fleet", "report", "lab", "--out", "page.html", "-o", "json")

    assert json.loads(out) == {
        "schema_version": "npa.fleet.report/v1",
        "ok": True,
        "file": str(lab / "page.html"),
    }


def test_a_page_may_go_to_stdout(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "fleet", "report", "--out", "-")

    assert (code, out.startswith("<!doctype html>"), out.endswith("</html>\n")) == (0, True, True)
    assert not list(lab.glob("*.html"))


@pytest.mark.parametrize("group", ["fleet", "soperator"])
def test_stdout_has_one_document(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, group, "report", "lab", "--out", "-", "--output", "json")

    assert code == 2
    assert "`--out -` prints the page" in err
