"""A fleet with a cluster on this machine and one on a real API server, from nothing to nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.e2e.local.harness import NPA, PATIENCE, Done, finished, said, traces
from tests.kube import operating
from tests.kube.bed import Bed, until

LACKS_A_CLUSTER = os.geteuid() != 0 or shutil.which("mmdebstrap") is None
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(LACKS_A_CLUSTER, reason="a cluster on this machine needs root and mmdebstrap"),
]
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHhiZBx7xdUof85b9dakKE9c6xA4+IUDK9bnSiJYLrQy"
FILE: dict[str, Any] = {
    "name": "mixed",
    "region": "us-central1",
    "defaults": {
        "soperator": {
            "root_login_ssh_public_key": KEY,
            "workers": [{"name": "cpu", "platform": "cpu-d3", "preset": "4vcpu-16gb", "size": 1}],
        }
    },
    "projects": [
        {"name": "here", "target": "local", "clusters": [{"name": "mx-here"}]},
        {"name": "there", "target": "kubernetes", "clusters": [{"name": "mx-one"}, {"name": "mx-two"}]},
    ],
}
IMAGES = ("--slurm-image=registry.example/npa/slurm:1", "--jail-image=registry.example/npa/jail:1")
# the operator is a process beside the API server, and nothing runs pods
PLACED = (*IMAGES, "--jail-path=/srv/jail", "--login-service=ClusterIP", "--no-operator")
SPACE = "slurm-mx-one"
SOME = ("--cluster", "mx-[ho]*")  # not `mx-two`


class Fleet:
    """`npa fleet` with a state folder of its own."""

    def __init__(self, bed: Bed, state: Path) -> None:
        self.bed, self.state, self.file = bed, state, state / "fleet.yaml"
        own = {"HOME": str(state), "NPA_STATE_DIR": str(state), "NPA_FLEET_DIR": str(state / "fleets")}
        self.env = {**os.environ, **own, "KUBECONFIG": str(bed.kubeconfig), "NO_COLOR": "1"}
        self.file.write_text(yaml.safe_dump(FILE, sort_keys=False), encoding="utf-8")

    def __call__(self, *args: str) -> Done:
        """Run a command to its end."""
        return finished((NPA, "fleet", *args), self.env, "", PATIENCE)

    def start(self) -> subprocess.Popen[str]:
        """Begin a deploy."""
        argv = (NPA, "fleet", "deploy", "-f", str(self.file), *SOME, *PLACED, "--yes", "-o", "json")
        return subprocess.Popen(argv, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def statuses(self, document: dict[str, Any]) -> dict[str, str]:
        """Return how each cluster is."""
        return {each["cluster"]: each["status"] for each in document["clusters"]}

    def objects(self) -> list[str]:
        """Return what npa and its operator have in the namespace."""
        kinds = "slurmclusters,nodesets,statefulsets,deployments,persistentvolumeclaims,pods,jobs"
        done = self.bed.kubectl("-n", SPACE, "get", kinds, "-o", "name")
        assert done.code == 0, str(done)
        return done.out.split()


@pytest.fixture
def fleet(controlled: Bed) -> Iterator[Fleet]:
    operating.define(controlled)
    # not /tmp, which may be an overlay: no jail fits on top of another
    state = Path(tempfile.mkdtemp(prefix="npa-mixed-", dir="/var/lib"))
    made = Fleet(controlled, state)
    options = ("--namespace", SPACE, "--poll", "1")
    with operating.process(controlled.kubeconfig, state / "operator.log", *options):
        yield made
        made("destroy", "mixed", "--yes", "--force")
    controlled.kubectl("delete", "namespace", SPACE, "--wait=false")
    shutil.rmtree(state)


def test_a_fleet_on_two_targets_from_nothing_to_nothing(fleet: Fleet) -> None:
    shown = fleet("plan", "-f", str(fleet.file), *PLACED, "-o", "json")
    assert shown.code == 0, shown
    plans = {each["cluster"]: each["plan"]["steps"] for each in shown.json["clusters"]}
    keys = ["create:namespace", "write:SlurmCluster:mx-one", "write:NodeSet:cpu", "wait:cluster"]
    assert [step["key"] for step in plans["mx-one"]] == keys
    # both have a NodeSet `cpu`, so each has a namespace of its own
    spaces = [plans[name][0]["subject"] for name in ("mx-one", "mx-two")]
    assert spaces == ["namespace slurm-mx-one", "namespace slurm-mx-two"]
    assert fleet.bed.kubectl("get", "namespace", SPACE).code != 0

    deploying = fleet.start()
    until(lambda: "statefulset.apps/mx-one-controller" in fleet.objects(), "daemons")
    until(lambda: _deployed(fleet, "mx-here"), "the cluster on this machine", 60)
    deploying.send_signal(signal.SIGINT)
    said(deploying, "stopping: every cluster ends its step")
    deploying.send_signal(signal.SIGINT)  # nothing runs pods here, so what is waited for never comes
    deploying.communicate(timeout=PATIENCE)
    assert deploying.returncode == 130

    seen = fleet("status", "mixed", "-o", "json")
    assert seen.code == 4, seen
    assert fleet.statuses(seen.json) == {"mx-here": "healthy", "mx-one": "degraded"}
    assert "a deploy did not end" in seen.json["clusters"][1]["message"]
    told = fleet("report", "mixed", "--out", "-")
    assert (told.code, told.out.count("<article")) == (0, 2), told
    assert "target kubernetes keeps no history of plans here" in told.out
    sources = fleet.bed.get("slurmcluster", "mx-one", SPACE)["spec"]["volumeSources"]
    jail = next(each for each in sources if each["name"] == "jail")
    assert jail["hostPath"]["path"] == "/srv/jail/mx-one", "two clusters do not share a jail"
    # the same words put it on the same once more
    again = fleet("plan", "-f", str(fleet.file), *SOME, *PLACED, "-o", "json").json
    steps = {each["cluster"]: [step["key"] for step in each["plan"]["steps"]] for each in again["clusters"]}
    assert steps == {"mx-here": [], "mx-one": ["wait:cluster"]}

    gone = fleet("destroy", "mixed", "--yes", "--force", "-o", "json")
    assert gone.code == 0, gone
    assert fleet.statuses(gone.json) == {"mx-here": "absent", "mx-one": "absent"}
    until(lambda: not fleet.objects(), "Kubernetes has collected what the operator made")
    assert list((fleet.state / "kubernetes").glob("*.json")) == []
    assert not (fleet.state / "fleets/mixed").exists()
    assert traces(f"{fleet.state}/local/mx-here") == []


def test_words_about_kubernetes_need_a_cluster_there(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text(yaml.safe_dump({**FILE, "projects": FILE["projects"][:1]}), encoding="utf-8")
    env = {**os.environ, "NPA_STATE_DIR": str(tmp_path), "NPA_FLEET_DIR": str(tmp_path / "fleets")}
    done = finished((NPA, "fleet", "plan", "-f", str(file), "--jail-size=1Gi"), env, "", PATIENCE)

    assert done.code == 2, done
    assert "only for target kubernetes, and this one is local: --jail-size" in done.err


def _deployed(fleet: Fleet, cluster: str) -> bool:
    record = fleet.state / f"fleets/mixed/clusters/{cluster}.json"
    return record.exists() and json.loads(record.read_text())["phase"] == "deployed"
