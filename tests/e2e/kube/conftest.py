"""A Kubernetes cluster with a node, the operator beside it, and the Slurm cluster that the tests share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.e2e.kube import bed, cli
from tests.e2e.kube.bed import Place
from tests.e2e.kube.cli import NAME, Cli, Running
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


# What mostly waits goes on beside other tests: whoever needs its end waits for that.


@pytest.fixture(scope="session")
def deploying(cluster: Cluster, npa: Cli) -> Iterator[Running]:
    """Have another cluster deployed, from when the shared one is there."""
    del cluster
    with npa.begin("deploy", "-f", npa.spec(1), *npa.where, "--yes", "-o", "json") as running:
        yield running


@pytest.fixture(scope="session")
def rotating(deploying: Running, npa: Cli) -> Iterator[tuple[dict[str, str], Running]]:
    """Have that cluster given a new key; with the old one."""
    deploying.good()
    before = npa.key()
    with npa.begin("rotate", NAME, "--key", "auth", "--yes") as running:
        yield before, running


@pytest.fixture(scope="session")
def destroying(rotating: tuple[dict[str, str], Running], npa: Cli) -> Iterator[Running]:
    """Have that cluster destroyed."""
    rotating[1].good()
    with npa.begin("destroy", NAME, "--yes") as running:
        yield running


@pytest.fixture(scope="session")
def bursting(cluster: Cluster) -> tuple[str, str]:
    """Submit a job for two workers that are there for jobs alone, and one for a worker that cannot start."""
    slurmd = cluster.nodeset_spec["slurmd"]
    huge = {**slurmd, "resources": {**slurmd["resources"], "cpu": "512"}}  # more than any machine has
    elastic = {"ephemeralNodes": True, "initialNumberEphemeralNodes": 0}
    cluster.add(burst={**elastic, "replicas": 2}, never={**elastic, "replicas": 1, "slurmd": huge})
    cluster.await_(lambda: {"burst-0", "burst-1", "never-0"} <= set(cluster.states()), "they are in Slurm")
    assert not cluster.pods_of("burst", "never")

    job = cluster.ctl("sbatch --parsable -N2 -w 'burst-[0-1]' -o /home/burst --wrap 'srun hostname'")
    return job, cluster.ctl("sbatch --parsable -o /dev/null -w never-0 --wrap 'true'")


@pytest.fixture(scope="session")
def cluster(place: Place, operator: Operator, key: tuple[Path, str]) -> Cluster:
    """Apply the cluster that the tests share; each leaves it with two workers and no jobs."""
    del operator
    found = Cluster(place, "one", NAMESPACE, key[1])
    found.apply()
    found.await_workers(2)
    return found


@pytest.fixture
def idle(cluster: Cluster, deploying: Running) -> Iterator[Cluster]:
    """Give the shared cluster to a test that fills it, and take all jobs off it afterwards."""
    del deploying
    yield cluster
    cluster.ctl("scancel -u root")
    cluster.await_(lambda: not cluster.ctl("squeue -h"), "the queue is empty")
