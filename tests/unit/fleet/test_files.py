"""What a fleet writes down: records and plan files."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.fleet import World, fleet, outside

from npa.errors import NotFoundError, RefusedError, UsageError
from npa.fleet import plan, planfile, record, store, verbs
from npa.fleet.backends import Options
from npa.fleet.member import Claim
from npa.fleet.record import Record
from npa.fleet.select import Selection
from npa.fleet.store import Store

CLAIM = Claim("lab", "team", "alpha", "soperator", "local")
RECORD = Record(CLAIM, "deployed", "2026-01-01T00:00:00+00:00", "2026-01-02T00:00:00+00:00", "id-1")
WORD = st.text(max_size=5)


@settings(deadline=None)
@given(WORD, WORD, WORD, st.sampled_from(["changing", "deployed", "failed", "destroying"]))
def test_a_record_is_read_as_it_was_written(identity: str, message: str, region: str, phase: Any) -> None:
    made = Record(CLAIM, phase, "a", "b", identity, message=message, region=region)

    assert record.decode(record.encode(made), "x") == made


@pytest.mark.parametrize(
    "change",
    [{"schema": "npa.fleet.record/v9"}, {"phase": "?"}, {"claim": None}, {"identity": 3}, {"more": "x"}],
    ids=str,
)
def test_a_record_of_another_kind_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(RefusedError, match="not a record") as refused:
        record.decode({**record.encode(RECORD), **change}, "x")
    assert refused.value.hint


def test_records_are_for_nobody_else_to_read(tmp_path: Path) -> None:
    kept = Store("lab", tmp_path)
    kept.save(RECORD)
    path = kept.folder / "clusters/alpha.json"

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert kept.record("alpha") == RECORD
    kept.forget("alpha")
    kept.tidy()
    assert not kept.folder.exists()


def test_a_record_under_another_name_is_refused(tmp_path: Path) -> None:
    kept = Store("lab", tmp_path)
    kept.save(RECORD)
    (kept.folder / "clusters/alpha.json").rename(kept.folder / "clusters/bravo.json")

    with pytest.raises(RefusedError, match="is the record of alpha"):
        kept.record("bravo")


def test_the_only_fleet_there_is_needs_no_name(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        store.chosen(None, tmp_path)
    Store("lab", tmp_path).save(RECORD)
    assert store.chosen(None, tmp_path) == "lab"
    Store("prod", tmp_path).save(RECORD)
    with pytest.raises(UsageError, match="lab, prod"):
        store.chosen(None, tmp_path)
    assert store.chosen("prod", tmp_path) == "prod"


def test_the_inventory_is_below_home_unless_it_is_moved(tmp_path: Path) -> None:
    assert store.root({"HOME": "/home/me"}) == Path("/home/me/.npa/fleet")
    assert store.root({"HOME": "/home/me", "NPA_FLEET_DIR": str(tmp_path)}) == tmp_path


def test_a_plan_file_is_for_exactly_the_world_that_it_was_made_in(tmp_path: Path) -> None:
    world = World()
    given_ = outside(tmp_path, world)
    selection, options = Selection(clusters=("a*",)), Options(force=True, wait_for_jobs=60.0)
    lab = fleet("alpha", "bravo")
    made = plan.deploy(lab, selection, options, given_)
    file = planfile.decode(planfile.encode(planfile.of("name: lab", selection, options, made)))

    assert (file.spec, file.selection, file.options) == ("name: lab", selection, options)
    planfile.require_same(file, plan.deploy(lab, selection, options, given_))

    verbs.deploy(made, options, given_).result()
    with pytest.raises(RefusedError, match="moved on since this plan was made: alpha"):
        planfile.require_same(file, plan.deploy(lab, selection, options, given_))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema_version": "npa.fleet.plan-file/v9"}'])
def test_what_is_no_plan_file_is_refused(text: str) -> None:
    with pytest.raises(RefusedError, match="no plan of a fleet"):
        planfile.decode(text)
