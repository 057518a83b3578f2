"""The exporter against a real slurmrestd: what it shows is what Slurm says, also while Slurm says nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from prometheus_client.parser import text_string_to_metric_families as parsed
from tests.e2e.local.harness import CPU_POOL, GPU_POOL, NPA, Cluster, Npa, finished, kill, said, until

PORT, OWN_PORT = "19180", "19181"  # in the node's own network
NAME = "e2e-exporter"


@pytest.fixture(scope="module")
def cluster(npa: Npa) -> Iterator[Cluster]:
    cluster = Cluster(npa, NAME, accounting=True, slurm_rest_enabled=True, workers=[GPU_POOL, CPU_POOL])
    cluster.deploy()
    yield cluster
    assert cluster.destroy("--force").code == 0


@pytest.fixture(scope="module")
def exporter(cluster: Cluster) -> Iterator[None]:
    with _exporting(cluster, PORT, OWN_PORT):
        yield


@contextmanager
def _exporting(cluster: Cluster, port: str, own_port: str, *more: str) -> Iterator[None]:
    """Run it beside slurmrestd, with the key of slurmctld."""
    key = cluster.npa.folder(NAME) / "etc/daemons/jwt_hs256.key"
    argv = (
        *_beside(cluster),
        *(NPA, "operator", "exporter", "--server", "http://127.0.0.1:6820", "--key", str(key)),
        *("--interval", "500ms", "--listen", "127.0.0.1", "--port", port, "--own-port", own_port, *more),
    )
    with subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=dict(cluster.npa.env)
    ) as process:
        try:
            said(process, f"figures at port {port}")
            yield
        finally:
            process.terminate()
        assert process.wait(10) == 0


def _beside(cluster: Cluster) -> tuple[str, ...]:
    return ("nsenter", "-t", str(cluster.first_pids()["rest-0"]), "-n")


def _get(cluster: Cluster, port: str, path: str) -> str:
    argv = (*_beside(cluster), "curl", "-sS", "-m", "5", f"http://127.0.0.1:{port}{path}")
    return finished(argv, cluster.npa.env, "", 10).out


def _figures(cluster: Cluster, port: str = PORT) -> dict[str, dict[tuple[str, ...], float]]:
    """Return samples by name and by the values of some of their labels."""
    told = ("node_name", "job_id", "job_state", "collector", "state_base")
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for each in parsed(_get(cluster, port, "/metrics")):
        for sample in each.samples:
            key = tuple(sample.labels[label] for label in told if label in sample.labels)
            found.setdefault(sample.name, {})[key] = sample.value
    return found


def _ready(cluster: Cluster, own_port: str = OWN_PORT) -> bool:
    return _get(cluster, own_port, "/ready") == "ok\n"


@pytest.mark.usefixtures("exporter")
def test_it_shows_what_slurm_says(cluster: Cluster) -> None:
    job = cluster.submit("-w", "gpu-0", "--gres=gpu:2")
    shown = until(
        lambda: (
            _ready(cluster)
            and (job, "RUNNING") in (found := _figures(cluster)).get("slurm_job_info", {})
            and found
        ),
        "the job is shown",
    )

    assert set(shown["slurm_node_cpus_total"]) == {("cpu-0",), ("cpu-1",), ("gpu-0",), ("gpu-1",)}
    assert shown["slurm_node_cpus_total"]["gpu-0",] == 160
    assert shown["slurm_node_info"]["gpu-0", "MIXED"] == 1
    assert (job, "gpu-0") in {(key[1], key[0]) for key in shown["slurm_node_job"]}
    assert shown["slurm_controller_server_thread_count"][()] >= 0
    seconds = shown["slurm_node_gpu_seconds_total"].get(("gpu-0", "MIXED"), 0.0)
    until(
        lambda: _figures(cluster)["slurm_node_gpu_seconds_total"].get(("gpu-0", "MIXED"), 0.0) > seconds,
        "the time of the GPUs goes on",
    )
    cluster.cancel(job)


def test_accounting_is_asked_about_jobs(cluster: Cluster) -> None:
    job = cluster.submit("-w", "cpu-0", command="sleep 2")
    until(lambda: cluster.sacct(job, "State") == ["COMPLETED"], "the job is accounted")

    with _exporting(cluster, "19182", "19183", "--jobs", "accounting", "--lookback", "1h"):
        until(lambda: _ready(cluster, "19183"), "there are answers")
        shown = _figures(cluster, "19182")

    assert shown["slurm_job_info"][job, "COMPLETED"] == 1
    assert shown["slurm_job_cpus"][job,] == 1


@pytest.mark.usefixtures("exporter")
def test_while_slurmctld_is_down_the_last_answers_stay_and_failures_count(cluster: Cluster) -> None:
    before = until(lambda: _ready(cluster) and _figures(cluster), "there are answers")
    kill(cluster.daemons()["controller-0", "slurmctld"])
    down = until(
        lambda: (
            (found := _figures(cluster))["slurm_exporter_collector_errors_total"]["nodes",]
            > before["slurm_exporter_collector_errors_total"]["nodes",]
            and found
        ),
        "a failure is counted",
        60,
    )
    assert down["slurm_node_cpus_total"] == before["slurm_node_cpus_total"]
    assert down["slurm_exporter_snapshot_age_seconds"]["nodes",] > 0

    cluster.deploy()
    until(lambda: _ready(cluster), "answers come again")
