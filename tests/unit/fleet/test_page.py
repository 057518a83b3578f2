"""The page of a fleet: every recorded cluster is on it, and one that cannot be read hides no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.fleet import World, fleet, outside
from tests.golden.page.sample import FACTS

from npa.errors import NotFoundError, UnknownError
from npa.fleet import page, plan, verbs
from npa.fleet.backends import Options
from npa.fleet.member import Claim
from npa.fleet.outside import Outside
from npa.fleet.select import Selection
from npa.page.facts import Facts

ALL, OPTIONS = Selection(), Options()


def deployed(folder: Path, world: World) -> Outside:
    given = outside(folder, world)
    verbs.deploy(
        plan.deploy(fleet("alpha", "bravo", "charlie"), ALL, OPTIONS, given), OPTIONS, given
    ).result()
    return given


def read(claim: Claim, _: int) -> Facts:
    if claim.cluster == "bravo":
        raise UnknownError("no answer from bravo")
    return replace(FACTS, name=claim.cluster)


def test_one_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    html = page.html("lab", ALL, deployed(tmp_path, World()), read=read)

    assert html.count("<article") == 3
    assert html.count("Plans that were applied") == 2
    assert "no answer from bravo" in html


def test_of_one_that_is_gone_nothing_is_read(tmp_path: Path) -> None:
    world = World()
    given = deployed(tmp_path, world)
    del world.clusters["bravo"]

    html = page.html("lab", ALL, given, read=read)

    assert "no answer from bravo" not in html
    assert "recorded, and not there" in html


def test_a_selection_is_all_that_is_shown(tmp_path: Path) -> None:
    html = page.html("lab", Selection((), ("al*",)), deployed(tmp_path, World()), read=read)

    assert html.count("<article") == 1


def test_a_record_that_cannot_be_read_is_on_it(tmp_path: Path) -> None:
    given = deployed(tmp_path, World())
    next(tmp_path.rglob("bravo*.json")).write_text("{")

    assert "its record: " in page.html("lab", ALL, given, read=read)


def test_a_fleet_that_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        page.html("lab", ALL, outside(tmp_path, World()), read=read)
