"""Pages from Python: the same as the command line's, as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.fleet import World
from tests.unit.fleet.test_page import deployed

from npa import NpaError
from npa.sdk import fleet, soperator


def test_the_page_of_a_fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deployed(tmp_path / "fleets", World())
    monkeypatch.setenv("NPA_FLEET_DIR", str(tmp_path / "fleets"))
    monkeypatch.setenv("NPA_STATE_DIR", str(tmp_path / "state"))

    assert fleet.report("lab", clusters=["al*"]).count("<article") == 1


def test_a_cluster_that_nobody_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPA_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))

    # without root this machine can hold none, and that is said instead
    with pytest.raises(NpaError, match=r"no cluster 'quick'|root"):
        soperator.report("quick")
