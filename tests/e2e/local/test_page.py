"""The page of a real cluster and of its fleet: what happened on it is on the page, and a browser shows it."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
import yaml
from tests.browser import looks
from tests.browser.chromium import tab
from tests.e2e.local.harness import CPU_POOL, NPA, PATIENCE, Cluster, Done, Npa, finished, kill, until

NAME, FLEET = "e2e-page", "paged"


@pytest.fixture(scope="module")
def place(npa: Npa) -> Iterator[Cluster]:
    """Deploy a fleet of one cluster, run a job on it, and take both nodes away."""
    soperator = {"accounting": True, "workers": [CPU_POOL]}
    spec = {
        "name": FLEET,
        "target": "local",
        "projects": [{"name": "team", "clusters": [{"name": NAME, "soperator": soperator}]}],
    }
    file = npa.state / "paged.yaml"
    file.write_text(yaml.safe_dump(spec), encoding="utf-8")
    assert fleet(npa, "deploy", "--spec", str(file), "--yes").code == 0
    cluster = Cluster(npa, NAME)
    cluster.login("srun --job-name=first true; sbatch --hold --job-name='<b>held</b>' --wrap true")
    cluster.submit("--job-name=long")
    for node, reason in (("cpu-0", "fan is <loud>"), ("cpu-1", "npa: pool cpu shrinks")):
        cluster.on(
            "controller-0", "scontrol", "update", f"nodename={node}", "state=drain", f"reason={reason}"
        )
    yield cluster
    assert fleet(npa, "destroy", FLEET, "--yes", "--force").code == 0
    assert not npa.folder(NAME).exists()


def fleet(npa: Npa, *args: str) -> Done:
    env = {**npa.env, "NPA_FLEET_DIR": str(npa.state / "fleets")}
    return finished((NPA, "fleet", *args), env, "", PATIENCE)


def test_what_happened_is_on_the_page(place: Cluster, tmp_path: Path) -> None:
    # slurmctld tells slurmdbd of a job in its own time
    until(
        lambda: "long" in place.on("login-0", "sacct", "-nX", "-o", "jobname", "--allusers"),
        "it is accounted",
    )
    path = tmp_path / "page.html"

    done = place.npa.ok("report", NAME, "--out", str(path))

    assert done.out.splitlines()[-1] == f"next: open {path.as_uri()} in a browser"
    text = path.read_text(encoding="utf-8")
    for words in (
        f">{NAME}</bdi>",
        "fan is &lt;loud&gt;",
        "<b>a person</b>",
        "npa: pool cpu shrinks",
        "npa gives it back with the next deploy",
        ">&lt;b&gt;held&lt;/b&gt;</bdi>",
        "its user held it",
        ">long</bdi>",
        "Who used it",
        "<td>deploy</td>",
        "create cluster e2e-page",
    ):
        assert words in text, words
    assert "could not be read" not in text
    assert "not known" not in unescape(text)


def test_a_browser_shows_it(place: Cluster, tmp_path: Path) -> None:
    one, all_of_it = tmp_path / "page.html", tmp_path / "fleet.html"
    with tab() as browser:
        place.npa.ok("report", NAME, "--out", str(one))
        assert fleet(place.npa, "report", FLEET, "--out", str(all_of_it)).code == 0

        looks.check(browser, one, ("drained", "fan is <loud>", "npa: pool cpu shrinks"))
        looks.check(browser, all_of_it, (FLEET, NAME, "drained", "fan is <loud>"))


def test_without_slurmctld_it_says_what_it_does_not_know(place: Cluster) -> None:
    pid = place.daemons()["controller-0", "slurmctld"]
    kill(pid)
    told = place.npa.ok("report", NAME, "--out", "-").out

    assert told.count("not known: slurmctld is not running") == 4
    assert "no job runs" not in told
