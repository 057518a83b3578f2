"""Cut short anywhere, a deploy is finished by the next one; two at once do not meet."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from tests.e2e.local.harness import CPU_POOL, PATIENCE, Cluster, Npa, said, traces


@pytest.fixture
def fragile(npa: Npa) -> Iterator[Cluster]:
    cluster = Cluster(npa, "e2e-fragile", accounting=True, workers=[CPU_POOL], users=[{"name": "hugo"}])
    yield cluster
    if npa.folder(cluster.name).exists():
        assert cluster.destroy("--force").code == 0
    assert traces(f"{npa.state}/local/e2e-fragile") == []


@pytest.mark.parametrize(
    ("words", "number", "group"),
    [
        pytest.param("create cluster", signal.SIGINT, False, id="creating"),
        pytest.param("start lab", signal.SIGINT, True, id="lab-whole-group"),
        pytest.param("wait accounting-0", signal.SIGINT, False, id="database"),
        pytest.param("start pool", signal.SIGINT, True, id="workers-whole-group"),
        pytest.param("wait workers", signal.SIGINT, False, id="waiting"),
        pytest.param("start pool", signal.SIGKILL, False, id="workers-killed"),
        pytest.param("start lab", signal.SIGKILL, False, id="lab-killed"),
    ],
)
def test_a_deploy_that_was_cut_short_is_finished_by_the_next(
    fragile: Cluster, words: str, number: signal.Signals, group: bool
) -> None:
    first = fragile.npa.start("deploy", "-f", str(fragile.write()), "--yes", group=True)
    said(first, f"] {words}")
    (os.killpg if group else os.kill)(first.pid, number)
    _, err = first.communicate(timeout=PATIENCE)
    again = fragile.try_deploy()
    assert again.code == 0, str(again)

    assert first.returncode == (130 if number == signal.SIGINT else -9), err
    assert "Traceback" not in err
    assert fragile.plan()["steps"] == []
    assert sorted(fragile.srun("-N2", "hostname").out.split()) == ["cpu-0", "cpu-1"]
    assert fragile.on("cpu-0", "id", "-un", "hugo") == "hugo"


def test_a_cluster_that_was_cut_short_can_be_destroyed(fragile: Cluster) -> None:
    first = fragile.npa.start("deploy", "-f", str(fragile.write()), "--yes")
    said(first, "] start controller-0")
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=PATIENCE)

    assert first.returncode == 130
    assert fragile.destroy().code == 0
    assert not fragile.npa.folder(fragile.name).exists()


def test_only_one_of_two_deploys_goes_on(fragile: Cluster) -> None:
    first = fragile.npa.start("deploy", "-f", str(fragile.write()), "--yes")
    said(first, "] create cluster")
    second = fragile.try_deploy()
    _, err = first.communicate(timeout=PATIENCE)

    assert first.returncode == 0, err
    assert second.code == 3, second
    assert second.json["error"]["code"] in ("refused", "ownership")
    assert fragile.plan()["steps"] == []
    fragile.assert_healthy()


def test_a_destroy_waits_for_the_deploy_or_is_refused(fragile: Cluster) -> None:
    first = fragile.npa.start("deploy", "-f", str(fragile.write()), "--yes")
    said(first, "] wait accounting-0")
    second = fragile.destroy("--force")
    _, err = first.communicate(timeout=PATIENCE)

    assert "Traceback" not in err
    assert "] wait workers" in err  # it was not pulled from under the deploy
    assert second.code in (0, 3), second
    assert (second.code == 0) != fragile.npa.folder(fragile.name).exists()
