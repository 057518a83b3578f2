"""A fleet of three clusters in two projects, one of which fails on purpose, from nothing to nothing."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.e2e.local.harness import NPA, PATIENCE, Done, Npa, finished, traces, until

POOL = {"name": "cpu", "preset": "4vcpu-16gb", "size": 1}
# slurmctld has no script of this name and ends at once
BROKEN = {"slurm": {"settings": {"JobSubmitPlugins": "lua"}}}
NAMES = ("fl-alpha", "fl-bravo", "fl-charlie")


class Fleet:
    """`npa fleet` over the clusters of one state folder."""

    def __init__(self, npa: Npa) -> None:
        self.npa = npa
        self.env = {**npa.env, "NPA_FLEET_DIR": str(npa.state / "fleets")}
        self.file = npa.state / "fleet.yaml"
        self.records = npa.state / "fleets/e2e/clusters"

    def write(self, *, broken: bool) -> None:
        """Write the file."""
        research = [
            {"name": "fl-alpha"},
            {
                "name": "fl-bravo",
                "soperator": {"workers": [{**POOL, "size": 2}], **(BROKEN if broken else {})},
            },
        ]
        spec = {
            "name": "e2e",
            "target": "local",
            "defaults": {"soperator": {"workers": [POOL]}},
            "projects": [
                {"name": "research", "clusters": research},
                {"name": "teaching", "clusters": [{"name": "fl-charlie"}]},
            ],
        }
        self.file.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")

    def __call__(self, *args: str) -> Done:
        """Run a command to its end."""
        return finished((NPA, "fleet", *args), self.env, "", PATIENCE)

    def deploy(self, *args: str) -> Done:
        """Deploy, however it ends."""
        return self("deploy", "-f", str(self.file), "--yes", "-j", "3", "-o", "json", *args)

    def statuses(self, document: dict[str, Any]) -> dict[str, str]:
        """Return how each cluster ended."""
        return {each["cluster"]: each["status"] for each in document["clusters"]}


@pytest.fixture
def lab(npa: Npa) -> Iterator[Fleet]:
    fleet = Fleet(npa)
    fleet.write(broken=True)
    yield fleet
    fleet("destroy", "e2e", "--yes", "--force")


def test_a_fleet_from_nothing_to_nothing(lab: Fleet, npa: Npa) -> None:
    first = lab.deploy()
    assert first.code == 5, first
    assert lab.statuses(first.json) == {
        "fl-alpha": "healthy",
        "fl-bravo": "failed",
        "fl-charlie": "healthy",
    }
    assert first.json["counts"] == {"failed": 1, "healthy": 2}
    assert "job_submit" in first.json["clusters"][1]["message"]

    seen = lab("status", "e2e", "-o", "json")
    assert seen.code == 4, seen
    assert lab.statuses(seen.json) == {
        "fl-alpha": "healthy",
        "fl-bravo": "degraded",
        "fl-charlie": "healthy",
    }

    lab.write(broken=False)
    planned = lab("plan", "-f", str(lab.file), "-o", "json").json
    steps = {each["cluster"]: each["steps"] for each in planned["clusters"]}
    assert (steps["fl-alpha"], steps["fl-charlie"]) == (0, 0)
    assert steps["fl-bravo"] > 0
    again = lab.deploy()
    assert again.code == 0, again
    assert set(lab.statuses(again.json).values()) == {"healthy"}

    part = lab("destroy", "e2e", "--project", "research", "--yes", "-j", "2", "-o", "json")
    assert part.code == 0, part
    assert lab.statuses(part.json) == {"fl-alpha": "absent", "fl-bravo": "absent"}
    assert sorted(path.stem for path in lab.records.iterdir()) == ["fl-charlie"]
    assert npa("status", "fl-charlie").code == 0

    rest = lab("destroy", "--yes")
    assert rest.code == 0, rest
    assert not lab.records.exists()
    for name in NAMES:
        assert not npa.folder(name).exists()
        assert traces(f"{npa.state}/local/{name}") == []


def test_what_somebody_else_began_stops_the_fleet_before_it_begins(lab: Fleet, npa: Npa) -> None:
    npa.folder("fl-charlie").mkdir(parents=True)
    refused = lab.deploy()

    assert refused.code == 3, refused
    assert "did not make" in refused.json["error"]["lacks"][0]["message"]
    assert not npa.folder("fl-alpha").exists()
    assert not lab.records.exists()

    npa.folder("fl-charlie").rmdir()


def test_ctrl_c_stops_every_cluster_and_the_next_run_goes_on(lab: Fleet, npa: Npa) -> None:
    lab.write(broken=False)
    process = subprocess.Popen(
        (NPA, "fleet", "deploy", "-f", str(lab.file), "--yes", "-j", "3", "-o", "json"),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=dict(lab.env), start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    until(lambda: npa.folder("fl-alpha").exists(), "the first cluster is begun")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)

    assert process.returncode == 130, err
    document = json.loads(out)
    assert document["interrupted"]
    assert "interrupted" in lab.statuses(document).values()

    again = lab.deploy()
    assert again.code == 0, again
    assert lab("destroy", "e2e", "--yes").code == 0
    assert not Path(lab.records).exists()
