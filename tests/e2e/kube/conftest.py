"""A Kubernetes cluster with a node, the operator beside it, and the Slurm cluster that the tests share."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.e2e.kube import bed, cli
from tests.e2e.kube.bed import Place
from tests.e2e.kube.cli import Cli
from tests.e2e.kube.cluster import Cluster, keys
from tests.kube import operating

OPTIONS = ("--poll", "1", "--log-level", "info")


class Operator:
    """`npa operator run` beside the cluster, which tests may end and start anew."""

    def __init__(self, place: Place) -> None:
        self._place, self._stack = place, ExitStack()
        self.log = place.bed.state / "operator.log"

    def start(self) -> None:
        """Start it."""
        watched = ("--namespace", NAMESPACE, "--namespace", cli.NAMESPACE)
        options = (*watched, "--cgroup-version", self._place.cgroups, *OPTIONS)
        running = operating.process(self._place.bed.kubeconfig, self.log, *options)
        self.process = self._stack.enter_context(running)

    def kill(self) -> None:
        """End it wherever it is."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Have it end, and wait for that."""
        self._stack.close()


NAMESPACE = "npa-e2e"


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    """Give a Kubernetes cluster with a node."""
    with bed.place() as found:
        yield found


@pytest.fixture(scope="session")
def operator(place: Place) -> Iterator[Operator]:
    """Give an operator that looks after our namespace."""
    operating.define(place.bed)
    found = Operator(place)
    found.start()
    yield found
    found.stop()


@pytest.fixture(scope="session")
def key(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Give a key pair of root's."""
    return keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="session")
def npa(
    place: Place, operator: Operator, key: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory
) -> Cli:
    """Give the command line, with records of its own."""
    del operator
    return Cli(place, tmp_path_factory.mktemp("npa"), key[1])


@pytest.fixture(scope="session")
def deploying(cluster: Cluster, npa: Cli) -> Iterator[subprocess.Popen[str]]:
    """Give a deploy of another cluster that goes on beside other tests: it mostly waits."""
    del cluster
    with npa.begin("deploy", "-f", npa.spec(1), *npa.where, "--yes", "-o", "json") as running:
        yield running
        running.kill()


@pytest.fixture(scope="session")
def cluster(place: Place, operator: Operator, key: tuple[Path, str]) -> Cluster:
    """Apply the cluster that the tests share; each leaves it with two workers and no jobs."""
    del operator
    found = Cluster(place, "one", NAMESPACE, key[1])
    found.apply()
    found.await_workers(2)
    return found


@pytest.fixture
def idle(cluster: Cluster) -> Iterator[Cluster]:
    """Give the shared cluster to a test that fills it, and take all jobs off it afterwards."""
    yield cluster
    cluster.ctl("scancel -u root")
    cluster.await_(lambda: not cluster.ctl("squeue -h"), "the queue is empty")
