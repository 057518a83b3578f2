from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from npa.cli import request
from npa.errors import NotFoundError, UsageError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0s", 0), ("30s", 30), ("10m", 600), ("1h", 3600), ("1h30m", 5400), ("2d", 172_800)],
)
def test_a_duration_is_seconds(text: str, seconds: float) -> None:
    assert request.seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "1", "h", "-1s", "1.5h", "1 h", "1x", "1h ", "9999999s", "\u0661s"])
def test_anything_else_is_no_duration(text: str) -> None:
    with pytest.raises(UsageError, match="no duration"):
        request.seconds(text)


def untouched() -> Iterator[str]:
    pytest.fail("looked although a name was given")
    yield ""


@pytest.mark.parametrize(("argument", "option"), [("lab", None), (None, "lab"), ("lab", "lab")])
def test_a_cluster_that_is_named_is_meant(argument: str | None, option: str | None) -> None:
    assert request.cluster(argument, option, untouched()) == "lab"


def test_the_only_cluster_is_meant() -> None:
    assert request.cluster(None, None, ["lab"]) == "lab"


def test_of_several_clusters_none_is_guessed() -> None:
    with pytest.raises(UsageError, match="a, b"):
        request.cluster(None, None, ["b", "a"])


def test_no_cluster_names_the_way_to_one() -> None:
    with pytest.raises(NotFoundError) as missing:
        request.cluster(None, None, [])

    assert "npa soperator deploy" in missing.value.hint


def test_two_names_cannot_be_meant() -> None:
    with pytest.raises(UsageError, match="two names"):
        request.cluster("a", "b", untouched())


@pytest.mark.parametrize("path", ["missing.yaml", ".", "a\0b", ""])
def test_a_file_that_cannot_be_read_is_a_usage_error(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(UsageError):
        request.read(path)


def test_an_endless_file_is_refused() -> None:
    with pytest.raises(UsageError, match="longer than"):
        request.read("/dev/zero")


def test_a_plan_is_written_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text("old")

    request.write(path, "new")

    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("path", ["missing/plan.json", "", "/", "/proc/plan.json"])
def test_a_file_that_cannot_be_written_is_a_usage_error(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(UsageError):
        request.write(Path(path), "new")

    assert not list(tmp_path.iterdir())
