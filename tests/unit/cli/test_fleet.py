from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.fleet import fleet

from npa.cli import fleet as commands
from npa.cli import fleet_progress, fleet_text
from npa.cli.main import main
from npa.fleet.crew import FleetEvent
from npa.fleet.member import Claim
from npa.fleet.record import Record
from npa.fleet.result import Outcome, Result
from npa.fleet.store import Store

CLOUD = """\
name: lab
tenant_id: tenant-1
region: eu-north1
defaults:
  soperator:
    workers: [{name: cpu, size: 2}]
projects:
  - name: team
    project_id: project-1
    clusters: [{name: alpha}, {name: bravo}]
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("NPA_FLEET_DIR", str(tmp_path / "fleets"))
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "fleet.yaml"
    path.write_text(CLOUD)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    code = main(["fleet", *args])
    out, err = capsys.readouterr()
    return code, out, err


def document(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, dict[str, Any]]:
    code, out, _ = run(capsys, *args, "--output", "json")
    decoded: dict[str, Any] = json.loads(out)
    return code, decoded


def test_a_fleet_in_the_cloud_is_planned_without_a_provider(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, made = document(capsys, "plan", "-f", file)

    assert code == 0
    assert made["schema_version"] == "npa.fleet.plan/v1"
    assert (made["project_count"], made["cluster_count"]) == (1, 2)
    assert [each["plan"]["provider_mutation"] for each in made["clusters"]] == [False, False]
    assert [each["steps"] for each in made["clusters"]] == [None, None]


def test_the_plan_for_people_says_what_nobody_was_asked(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "plan", "-f", file, "--details")

    assert code == 0
    assert "pool cpu: 2 x 8vcpu-32gb, on-demand" in out
    assert out.splitlines()[-1] == f"next: npa fleet deploy --spec {file}"
    assert "--check" in err


def test_a_valid_file_is_said_to_be_one(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "validate", "-f", file)

    assert (code, out.splitlines()[0]) == (0, f"{file}: valid: fleet lab, 1 project, 2 clusters")
    assert document(capsys, "validate", "-f", file)[1]["clusters"][1] == {
        "project": "team",
        "cluster": "bravo",
        "target": "nebius",
    }


def test_problems_have_their_place_in_the_file(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(file).write_text(CLOUD.replace("size: 2", "sise: 2"))
    code, out, err = run(capsys, "plan", "-f", file, "-o", "json")

    assert code == 2
    assert f"error: {file}:6:27: defaults.soperator.workers[0].sise: unknown key `sise`" in err
    assert json.loads(out)["error"]["code"] == "invalid-spec"


@pytest.mark.parametrize(
    ("args", "code", "word"),
    [
        (("deploy",), 2, "usage"),
        (("deploy", "-f", "FILE", "--cluster", "z*"), 2, "usage"),
        (("deploy", "-f", "FILE", "--plan", "p"), 2, "usage"),
        (("status",), 1, "not-found"),
        (("status", "other", "-f", "FILE"), 2, "usage"),
        (("destroy",), 1, "not-found"),
        (("deploy", "-f", "/nowhere"), 2, "usage"),
        (("deploy", "-f", "FILE", "-j", "0"), 2, "usage"),
    ],
)
def test_what_cannot_be_meant_is_one_document(
    file: str, capsys: pytest.CaptureFixture[str], args: tuple[str, ...], code: int, word: str
) -> None:
    found, made = document(capsys, *(file if each == "FILE" else each for each in args))

    assert (found, made["error"]["code"]) == (code, word)


def test_status_of_what_is_recorded_and_of_what_is_only_asked_for(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = Claim("lab", "team", "alpha", "soperator", "nebius")
    Store("lab", tmp_path / "fleets").save(Record(claim, "changing", "a", "a"))
    code, made = document(capsys, "status", "-f", file)

    assert code == 4
    told = {each["cluster"]: (each["status"], each["message"]) for each in made["clusters"]}
    assert told == {
        "alpha": ("absent", "recorded, and not there; a deploy did not end"),
        "bravo": ("absent", "not deployed yet"),
    }
    assert document(capsys, "list")[1]["fleets"] == [{"name": "lab", "clusters": ["alpha"]}]
    code, ended = document(capsys, "destroy", "lab", "--yes")
    assert (code, ended["counts"]) == (0, {"absent": 1})
    assert document(capsys, "list")[1]["fleets"] == []


@pytest.mark.usefixtures("file")
def test_nobody_is_asked_where_there_is_no_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = Claim("lab", "team", "alpha", "soperator", "nebius")
    Store("lab", tmp_path / "fleets").save(Record(claim, "changing", "a", "a"))
    code, _, err = run(capsys, "destroy", "lab")

    assert code == 3
    assert "--yes" in err
    assert Store("lab", tmp_path / "fleets").record("alpha")


@pytest.mark.parametrize("command", [commands.plan, commands.deploy])
def test_a_fleet_takes_what_kubernetes_needs(command: Callable[..., None]) -> None:
    taken = set(inspect.signature(command).parameters)

    assert "jail_path" in taken
    assert "namespace" not in taken, "the fleet says which"


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "schema")

    assert (code, json.loads(out)["properties"]["projects"]["minItems"]) == (0, 1)


def outcome(status: str, message: str = "", hint: str = "") -> Outcome:
    return Outcome(Claim("lab", "team", "alpha", "soperator", "local"), status, False, message, hint, 1.5)


def test_lines_say_what_happens_and_when() -> None:
    told: list[str] = []
    times = iter([0.0, 0.0, 1.0, 2.0, 3.0])
    heard = fleet_progress.Lines(told.append, lambda: next(times))
    heard(FleetEvent("began", "team", "alpha"))
    heard(FleetEvent("started", "team", "alpha", "start lab"))
    heard(FleetEvent("progress", "team", "alpha", "half", fraction=0.5))
    heard(FleetEvent("done", "team", "alpha", "start lab"))
    heard(FleetEvent("ended", "team", "alpha", seconds=1.5, outcome=outcome("failed", "no")))

    assert told == [
        "[0.0s] team/alpha: begins",
        "[1.0s] team/alpha: start lab",
        "[2.0s] team/alpha: failed: no (1.5s)",
    ]


def test_the_table_shows_those_first_that_somebody_should_look_at() -> None:
    from rich.console import Console

    rows = [fleet_progress.Row(each.claim) for each in fleet(*(f"c-{n:02}a" for n in range(20))).members]
    rows[3].hear(FleetEvent("began", "team", "c-03a"), 1.0)
    rows[3].hear(FleetEvent("started", "team", "c-03a", "start [bold]lab"), 1.0)
    rows[7].hear(
        FleetEvent("ended", "team", "c-07a", seconds=2.0, outcome=outcome("failed", "no " * 90)), 1.0
    )
    console = Console(width=100, height=9, force_terminal=False)
    with console.capture() as shown:
        console.print(fleet_progress.picture(rows, 4.0, console.height, console.width))
    lines = [line.split() for line in shown.get().splitlines() if "c-" in line]

    assert lines[0] == ["team", "c-03a", "local", "start", "[bold]lab", "3s"]
    assert lines[1][:4] == ["team", "c-07a", "local", "failed:"]
    assert lines[1][-1] == "2s", "a long message hides nothing else"
    assert len(lines) == 5
    assert "1 of 20 ended" in shown.get()


def test_the_result_has_every_failure_in_full() -> None:
    text = fleet_text.result_text(
        Result("lab", "deploy", (outcome("failed", "x" * 300, "look"),), next_command="npa fleet status lab")
    )

    assert f"team/alpha: {'x' * 300}" in text
    assert "  hint: look" in text
    assert text.splitlines()[-2:] == ["fleet lab: 1 failed", "next: npa fleet status lab"]
