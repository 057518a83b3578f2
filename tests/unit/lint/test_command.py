from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.golden.lint.cases import CASES

from npa.cli.main import main

SPEC = """\
name: lab
workers:
  - {name: cpu, size: 2, platform: cpu-d3, preset: 16vcpu-64gb}
slurm:
  settings:
    KillWeit: 30
    MaxArraySize: 10G
"""


def _folder(tmp_path: Path, case: str) -> Path:
    for name, text in CASES[case].texts().items():
        (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    return tmp_path


def test_c32_a_folder_is_read_with_what_it_includes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _folder(tmp_path, "c32-sound-include")

    assert main(["soperator", "lint", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder}: sound\n"


def test_c29_an_error_says_file_line_and_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _folder(tmp_path, "c29-partition-of-misspelt-pool")

    assert main(["soperator", "lint", str(folder / "slurm.conf")]) == 2
    assert capsys.readouterr().out.splitlines() == [
        f"error: {folder}/slurm.conf:24:27: PartitionName train: Nodes: there is no node gpus",
        "hint: did you mean `gpu`",
        f"{folder}/slurm.conf: 1 error",
    ]


def test_a_warning_leaves_it_sound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _folder(tmp_path, "c29-no-default")

    assert main(["soperator", "lint", str(folder), "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is True
    assert [each["severity"] for each in document["findings"]] == ["warning"]


def test_c34_bytes_that_are_no_text_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["soperator", "lint", str(_folder(tmp_path, "c34-not-utf-8"))]) == 2
    assert "byte 0xff is not UTF-8" in capsys.readouterr().out


@pytest.mark.parametrize("verb", [["lint"], ["validate", "-f"], ["plan", "--target", "local", "-f"]])
def test_c32_a_spec_is_told_at_its_own_lines(
    verb: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "cluster.yaml"
    spec.write_text(SPEC)

    assert main(["soperator", *verb, str(spec)]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"error: {spec}:6:5: slurm.settings.KillWeit: unknown key",
        "hint: did you mean `KillWait`",
        f"error: {spec}:7:5: slurm.settings.MaxArraySize: '10G' is not a number",
        "hint: write it in MiB: 10240",
    ]


def test_c32_custom_settings_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    extra = tmp_path / "extra.conf"
    extra.write_text("KillWait=40\nnodename=x\n")

    assert main(["soperator", "lint", str(extra), "--custom"]) == 2
    assert f"error: {extra}:2:1: nodename: is managed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{tmp}/none"], "no such file"),
        (["{tmp}"], "has none of Slurm's files"),
        (["{tmp}", "--machine", "16"], "is no machine"),
        (["{tmp}", "--slurm", "23.02"], "no Slurm"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["soperator", "lint", *(each.format(tmp=tmp_path) for each in arguments)])

    assert code == 2
    assert said in capsys.readouterr().err
