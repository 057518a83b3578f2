"""`npa soperator` against a real API server: what it writes, waits for, says and removes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kube import operating
from tests.kube.bed import Bed, until

from npa.targets.kubernetes import record
from npa.targets.kubernetes.record import Record

NPA = str(Path(sys.executable).with_name("npa"))
NAMESPACE = "npa-target"
SPEC = """\
apiVersion: npa.soperator/v0.0.1
name: lab
target: kubernetes
region: us-central1
root_login_ssh_public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHhiZBx7xdUof85b9dakKE9c6xA4+IUDK9bnSiJYLrQy
workers:
  - {{name: cpu, platform: cpu-d3, preset: 4vcpu-16gb, size: {size}}}
"""
FIRST = (
    f"--namespace={NAMESPACE}",
    "--slurm-image=registry.example/npa/slurm:1",
    "--jail-image=registry.example/npa/jail:1",
    "--jail-path=/srv/jail",
    "--login-service=ClusterIP",
)


class Cli:
    """The command line with records of its own."""

    def __init__(self, bed: Bed, state: Path) -> None:
        self.bed, self.state = bed, state
        self.spec = state / "lab.yaml"
        home = {"HOME": str(state), "NPA_STATE_DIR": str(state), "KUBECONFIG": str(bed.kubeconfig)}
        self.env = {**os.environ, **home, "NO_COLOR": "1"}

    def write(self, size: int) -> Path:
        """Write the spec."""
        self.spec.write_text(SPEC.format(size=size), encoding="utf-8")
        return self.spec

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        argv = [NPA, "soperator", *arguments]
        return subprocess.run(argv, env=self.env, capture_output=True, text=True, timeout=120, check=False)

    def plan(self, size: int, *arguments: str) -> dict[str, Any]:
        """Return the plan's document."""
        done = self("plan", "-f", str(self.write(size)), "-o", "json", *arguments)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@pytest.fixture(scope="module")
def cli(controlled: Bed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """Give the command line, and an operator beside the API server."""
    operating.define(controlled)
    made = Cli(controlled, tmp_path_factory.mktemp("state"))
    options = ("--namespace", NAMESPACE, "--poll", "1")
    with operating.process(controlled.kubeconfig, made.state / "operator.log", *options):
        yield made
    controlled.kubectl("delete", "namespace", NAMESPACE, "--wait=false")


def _keys(plan: dict[str, Any]) -> list[str]:
    return [step["key"] for step in plan["steps"]]


def test_a_spec_becomes_a_cluster_that_the_operator_takes_up(cli: Cli) -> None:
    shown = cli.plan(2, *FIRST, "--no-operator")
    assert _keys(shown) == [
        "create:namespace",
        "write:SlurmCluster:lab",
        "write:NodeSet:cpu",
        "wait:cluster",
    ]
    assert cli.bed.kubectl("get", "namespace", NAMESPACE).code != 0

    argv = [NPA, "soperator", "deploy", "-f", str(cli.spec), *FIRST, "--no-operator", "--yes"]
    deploying = subprocess.Popen(argv, env=cli.env, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    # nothing runs the pods here: the image is nowhere, and there is no node
    until(
        lambda: cli.bed.kubectl("-n", NAMESPACE, "get", "statefulset", "lab-controller").code == 0, "daemons"
    )
    deploying.send_signal(signal.SIGINT)
    _, told = deploying.communicate(timeout=60)

    assert deploying.returncode == 130, told
    assert "SlurmCluster lab is" in told  # what was waited for, and why
    status = cli("status", "lab", "-o", "json")
    assert status.returncode == 4, status.stderr
    report = json.loads(status.stdout)
    assert {"slurmctld on lab-controller", "sshd on lab-login"} <= {
        each["subject"] for each in report["findings"]
    }
    assert cli("list").stdout.split("\n")[1].split()[:2] == ["lab", "kubernetes"]


def test_what_was_said_once_is_kept_with_the_cluster(cli: Cli) -> None:
    assert _keys(cli.plan(2, "--no-operator")) == ["wait:cluster"]
    grown = cli.plan(3, "--no-operator")

    assert _keys(grown) == ["write:SlurmCluster:lab", "write:NodeSet:cpu", "wait:cluster"]
    assert "+replicas: 3" in grown["steps"][1]["diff"]
    assert grown["changes"][0]["field"] == "grown"


def test_nodes_are_not_taken_away_in_the_dark(cli: Cli) -> None:
    done = cli("plan", "-f", str(cli.write(1)), "--no-operator")

    assert done.returncode == 1
    assert "cannot tell whether jobs run on cpu-1" in done.stderr


def test_a_cluster_does_not_move(cli: Cli) -> None:
    done = cli("plan", "-f", str(cli.write(2)), "--namespace=elsewhere")

    assert done.returncode == 3
    assert f"lab is in namespace {NAMESPACE}, and cannot move to elsewhere" in done.stderr


def test_what_only_this_machines_clusters_have_is_refused(cli: Cli) -> None:
    done = cli("explain-node", "cpu-0", "--cluster", "lab")

    assert done.returncode == 3, done.stderr
    assert "lab is on Kubernetes" in done.stderr


def test_a_destroy_leaves_nothing(cli: Cli) -> None:
    done = cli("destroy", "lab", "--yes", "--force")

    assert done.returncode == 0, done.stderr
    left = cli.bed.kubectl("-n", NAMESPACE, "get", "slurmclusters,nodesets", "-o", "name")
    assert (left.code, left.out) == (0, "")
    assert cli("status", "lab").returncode == 1
    assert cli("list", "-o", "json").stdout.count('"lab"') == 0


def test_a_cluster_that_somebody_else_removed_is_forgotten(cli: Cli) -> None:
    here = Record("ghost", str(cli.bed.kubeconfig), "", NAMESPACE, cli.bed.access.endpoint, "2026-01-01")
    record.save(cli.state / "kubernetes", here)
    assert "ghost" in cli("list").stdout
    done = cli("destroy", "ghost", "--yes")

    assert done.returncode == 0, done.stderr
    assert "ghost" not in cli("list").stdout
