"""Pages in a real browser: what people see, and that nothing leaves the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.browser import looks
from tests.browser.chromium import Tab, tab
from tests.golden.page.sample import FACTS, NOW, TOPOLOGY, node

from npa.page import page
from npa.page.facts import Facts, Group, Member, Topology
from npa.page.states import KINDS
from npa.slurm.lookup import Found
from npa.slurm.replies import Rows

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Tab]:
    with tab() as opened:
        yield opened


def written(folder: Path, text: str) -> Path:
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_cluster(browser: Tab, tmp_path: Path) -> None:
    states = tuple(told for kind, told in KINDS.items() if kind != "held")

    looks.check(browser, written(tmp_path, page.cluster(FACTS)), (*states, "fan is loud", "JobHeldUser"))

    browser.open(tmp_path / "page.html", 1280)
    scrolls = "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth).length"
    assert browser.value(scrolls) == 0, "a table is wider than a usual window"


def test_a_fleet_and_its_links(browser: Tab, tmp_path: Path) -> None:
    members = (
        Member("team-a", "quick", "local", "degraded", False, "a node is down", FACTS),
        Member("team-b", "far", "nebius", "unknown", False, "the provider did not answer"),
    )
    looks.check(browser, written(tmp_path, page.fleet("lab", members, NOW)), ("team-a", "the provider did"))

    leads = "[...document.querySelectorAll('a')].map(a => !!document.querySelector(a.getAttribute('href')))"
    assert browser.value(leads) == [True, True]


def test_a_thousand_nodes_and_long_words(browser: Tab, tmp_path: Path) -> None:
    looks.check(browser, written(tmp_path, page.cluster(large())), ("4 powered off",))


def test_on_paper_nothing_is_cut_off(browser: Tab, tmp_path: Path) -> None:
    path = written(tmp_path, page.cluster(FACTS))
    browser.open(path, 760, media="print")

    inner = (
        "[...document.querySelectorAll('.scroll')].filter(e => getComputedStyle(e).overflowX != 'visible')"
    )
    assert browser.value(f"{inner}.length") == 0
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def large() -> Facts:
    nodes = [node(f"pool-with-a-long-name-{index}", "MIXED", 8, gpus=True) for index in range(1000)]
    nodes += [node(f"off-{index}", "IDLE+POWERED_DOWN", reason=("x" * 255, "y" * 80)) for index in range(4)]
    nodes += [node("one", "IDLE+DRAIN", reason=("w" * 255, "z" * 80))]
    names = tuple(each.name for each in nodes)
    topology: Topology = replace(
        TOPOLOGY,
        controllers=("controller-0",),
        pools=(Group("a-pool-with-quite-a-long-name" * 3, names, "160 CPUs" * 9),),
        partitions=(Group("p" * 120, names),),
        switches=tuple(Group(f"leaf-{index}" * 12, names[index::2]) for index in range(2)),
    )
    return replace(FACTS, name="n" * 63, topology=topology, nodes=Found(Rows(tuple(nodes))))
