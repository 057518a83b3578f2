"""Pages, byte for byte. NPA_GOLDEN=rewrite writes them anew."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from tests.golden.page.sample import FACTS, NOW

from npa.page import page
from npa.page.facts import Facts, Member
from npa.slurm.lookup import Absent, Unknown

HERE = Path(__file__).parent
BLIND = replace(
    FACTS,
    nodes=Unknown("slurmctld is not running"),
    jobs=Unknown("slurmctld is not running"),
    past=Unknown("`sacct` got no answer"),
    report=replace(FACTS.report, status="unknown", schedulable=None, jobs=None),
)


def compare(name: str, text: str) -> None:
    path = HERE / name
    # a line for each element, so that a difference can be read
    split = text.replace("><", ">\n<")
    if os.environ.get("NPA_GOLDEN") == "rewrite":
        path.write_text(split)

    assert split == path.read_text()


def test_a_cluster() -> None:
    compare("cluster.html", page.cluster(FACTS))


def test_a_cluster_that_nobody_can_read() -> None:
    compare("blind.html", page.cluster(BLIND))


def test_a_fleet() -> None:
    members = (
        Member("team-a", "quick", "local", "degraded", False, "a node is down", FACTS),
        Member("team-a", "plain", "local", "healthy", True, "", well(FACTS)),
        Member("team-b", "far", "nebius", "unknown", False, "the provider did not answer"),
    )
    compare("fleet.html", page.fleet("lab", members, NOW))


def well(facts: Facts) -> Facts:
    return replace(
        facts,
        name="plain",
        report=replace(facts.report, status="healthy", ok=True, findings=()),
        past=Absent(),
        history=Absent(),
        topology=None,
    )
