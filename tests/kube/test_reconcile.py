"""The real decisions on a real API server with the real controllers: it comes to rest, and then is silent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.kube import operating
from tests.kube.bed import CHECKOUT, Bed
from tests.kube.operating import at_rest, eventually, look_again, writes

from npa.operator.controllers import controllers
from npa.reconcile.settings import Settings
from npa.render.objects import NAMESPACE, dig

MANIFESTS = CHECKOUT.parent / "shared" / "data" / "existing-manifests"
NS = "soperator"


def manifests() -> list[dict[str, Any]]:
    """What somebody wrote for the operator that they had before."""
    if not MANIFESTS.is_dir():
        pytest.skip(f"no manifests of another operator: {MANIFESTS} is not there")
    files: list[Path] = sorted(MANIFESTS.glob("*.yaml"))
    documents = (each for file in files for each in yaml.safe_load_all(file.read_text()))
    return [
        {**each, "metadata": {**each["metadata"], "namespace": NS}} for each in documents if each is not None
    ]


def test_a_cluster_that_was_written_for_another_operator_comes_to_rest(controlled: Bed) -> None:
    operating.define(controlled)
    controlled.apply(NAMESPACE.object(NS))
    done = controlled.apply(*manifests())
    assert done.code == 0, str(done)

    async def body() -> None:
        settings = Settings(namespaces=(NS,))
        async with operating.operating(controlled.access, controllers(), settings) as operator:

            def made() -> bool:
                pods = json.loads(controlled.kubectl("get", "pods", "-n", NS, "-o", "json").out)["items"]
                status = controlled.get("slurmcluster", "slurm1", NS).get("status") or {}
                # the scheduler says in its own time that there is no node for them
                told = all(each.get("status", {}).get("conditions") for each in pods)
                there = "slurm1-controller-0" in {each["metadata"]["name"] for each in pods}
                # and the operator asks slurmctld every few seconds only
                rows = {row["type"]: row["message"] for row in status.get("conditions") or ()}
                asked = rows.get("ConfigurationApplied") == "the pod slurm1-controller-0 is Pending"
                return there and told and asked

            await eventually(made, "slurmctld's pod, scheduled in vain, and a status", 60)
            await at_rest(operator)
            before = writes(operator)
            operator.reconciler.settled.forget()
            await look_again(operator)
            failed = [
                each
                for metric in operator.metrics.reconciles.collect()
                for each in metric.samples
                if each.labels.get("result") == "failed" and each.name.endswith("_total") and each.value
            ]

            assert writes(operator) == before
            assert not failed

    operating.run(body())
    found = controlled.get("slurmcluster", "slurm1", NS)
    rows = {row["type"]: row["status"] for row in dig(found, "status", "conditions")}

    assert rows["ConfigurationValid"] == "True"
    assert rows["ControllersAvailable"] == "False"
    assert controlled.get("secret", "slurm1-slurm-key", NS)["data"]
    assert controlled.get("configmap", "slurm1-slurm-configs", NS)["data"]["slurm.conf"]


def test_a_restart_of_the_operator_writes_nothing(controlled: Bed) -> None:
    async def body() -> None:
        settings = Settings(namespaces=(NS,))
        async with operating.operating(controlled.access, controllers(), settings) as operator:
            await eventually(lambda: not operator.ready() and operator.queue.idle, "it has looked", 60)
            await look_again(operator)

            assert writes(operator) == {}

    operating.run(body())
