"""The page of an installation: what is known is on it, and what is not is said to be unknown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import cloud as clouds
from tests.fakes.cloud import Cloud
from tests.fakes.standin import needs_terraform

from npa.api import nebius as nebius_api
from npa.api import page as api
from npa.errors import KubeError, ToolError
from npa.page.facts import Facts
from npa.slurm.lookup import Absent, Found, Unknown
from npa.targets.nebius import records
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.target import NebiusTarget

pytestmark = needs_terraform

SECONDS = 1_796_000_000
JOB: dict[str, Any] = {
    "job_id": 7,
    "user_name": "alice",
    "name": "train",
    "job_state": ["RUNNING"],
    "nodes": "cpu-1",
    "partition": "main",
}
ENDED: dict[str, Any] = {
    "job_id": 6,
    "user": "bob",
    "name": "eval",
    "state": {"current": ["COMPLETED"]},
    "nodes": "cpu-0",
    "partition": "main",
    "time": {"submission": SECONDS, "start": SECONDS + 60, "end": SECONDS + 3660},
    "tres": {"allocated": [{"type": "cpu", "name": "", "count": 8}]},
}


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    with clouds.serve(tmp_path_factory.mktemp("cloud")) as serving:
        deploy(serving)
        yield serving


def deploy(cloud: Cloud, **more: Any) -> None:
    spec = clouds.spec(**more)
    NebiusTarget(cloud.outside).deploy(spec, NebiusOptions(fixes=False), lambda *_: None, lambda _: None)


def facts(cloud: Cloud) -> Facts:
    with nebius_api.wired(cloud.outside):
        return api.facts("quick", target="nebius")


def html(cloud: Cloud) -> str:
    with nebius_api.wired(cloud.outside):
        return api.html("quick", target="nebius")


def test_nodes_jobs_pools_and_accounts_are_on_it(cloud: Cloud) -> None:
    for name, part in (("controller-0", "controller"), ("login-0", "login"), ("acct", "accounting")):
        cloud.kube.pod(name, part, part)
    cloud.slurm.jobs, cloud.slurm.past = [JOB], [ENDED]
    found = facts(cloud)
    text = html(cloud)

    assert found.topology is not None
    assert (found.topology.controllers, found.topology.logins) == (("controller-0",), ("login-0",))
    assert found.topology.others == ("acct",)
    (pool,) = found.topology.pools
    assert (pool.name, pool.nodes, pool.about) == ("cpu", ("cpu-0", "cpu-1"), "8 CPUs, 1G, on-demand")
    assert isinstance(found.nodes, Found)
    assert isinstance(found.jobs, Found)
    assert [each.job.user for each in found.jobs.value] == ["alice"]
    assert isinstance(found.past, Found)
    assert [(each.user, each.cpus) for each in found.past.value.jobs] == [("bob", 8)]
    assert "on which switch is not known" in text
    assert "not on a switch" not in text


def test_without_slurmdbd_no_accounts_are_kept(cloud: Cloud) -> None:
    kept = dict(cloud.kube.objects)
    cloud.kube.objects = {key: each for key, each in kept.items() if key[0] != "pods"}
    try:
        assert facts(cloud).past == Absent()
    finally:
        cloud.kube.objects = kept


def test_plans_are_on_it_with_how_they_ended(cloud: Cloud) -> None:
    def broken(command: str) -> None:
        if command == "apply":
            raise ToolError(["terraform", "apply"], 1, "token s3cr3t is no good")

    cloud.before = broken
    with pytest.raises(ToolError):
        deploy(cloud, jail_size_gib=1024)
    cloud.before = lambda _: None
    history = facts(cloud).history

    assert isinstance(history, Found)
    first, last = history.value.plans[0], history.value.plans[-1]
    assert (first.verb, first.result, first.done) == ("deploy", "done", first.count)
    assert "create pool cpu (module.k8s.terraform_data.worker_v2[0])" in first.steps
    assert (last.result, last.done, last.error) == ("failed", 0, "ToolError")
    assert "s3cr3t" not in (cloud.installation / records.HISTORY).read_text() + html(cloud)


def test_a_cluster_that_does_not_answer_is_unknown_and_not_idle(cloud: Cloud) -> None:
    def silent(*_: Any) -> Any:
        raise KubeError("no answer within the deadline")

    kept, cloud.kube.answers = cloud.kube.answers, silent
    try:
        found, text = facts(cloud), html(cloud)
    finally:
        cloud.kube.answers = kept

    assert found.nodes == found.jobs == Unknown("no answer within the deadline")
    assert isinstance(found.past, Absent | Unknown)
    assert isinstance(found.history, Found)
    assert found.topology is not None
    assert found.topology.pools[0].nodes == ("cpu-0", "cpu-1"), "Terraform knows them"
    assert "not known: no answer within the deadline" in text


def test_pods_that_cannot_be_read_are_not_none(cloud: Cloud) -> None:
    cloud.kube.unread = {"pods"}
    try:
        found = facts(cloud)
    finally:
        cloud.kube.unread = set()

    assert found.topology is not None
    assert found.topology.controllers == found.topology.logins == ("not known",)
    assert isinstance(found.past, Found | Unknown), "accounts may be kept"


def test_the_end_takes_its_history_with_it(tmp_path: Path) -> None:
    with clouds.serve(tmp_path) as cloud:
        deploy(cloud)
        assert (cloud.installation / records.HISTORY).stat().st_mode & 0o777 == 0o600
        NebiusTarget(cloud.outside).destroy("quick", NebiusOptions(), lambda _: None)

        assert not (cloud.installation / records.HISTORY).exists()
