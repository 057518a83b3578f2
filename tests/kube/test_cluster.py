"""A SlurmCluster through a real API server: everything it takes, everything at rest, everything gone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.kube import operating
from tests.kube.bed import Bed
from tests.kube.operating import at_rest, eventually, look_again, settled, writes

from npa.operator.controllers import controllers
from npa.reconcile.settings import Settings
from npa.render.objects import NAMESPACE, Object, dig, name_of

GOLDEN = Path(__file__).parents[1] / "golden/kube"


def resources(case: str, namespace: str) -> list[dict[str, Any]]:
    """Return a case's resources as a user would apply them."""
    found = list(yaml.safe_load_all((GOLDEN / case / "resources.yaml").read_text(encoding="utf-8")))
    for each in found:
        each["metadata"] = {"name": each["metadata"]["name"], "namespace": namespace}
    return found


def found(bed: Bed, kind: str, namespace: str) -> dict[str, Object]:
    return {
        name_of(each): each
        for each in json.loads(bed.kubectl("get", kind, "-n", namespace, "-o", "json").out)["items"]
    }


def succeed(bed: Bed, job: str, namespace: str) -> None:
    """Have a Job end well, as there is no node that could run it."""
    status = {"status": {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}}
    done = bed.kubectl(
        "patch", "job", job, "-n", namespace, "--subresource=status", "--type=merge", "-p", json.dumps(status)
    )
    assert done.code == 0, str(done)


def every_status(bed: Bed, namespace: str) -> str:
    """Return what is said of clusters and NodeSets, as text."""
    return json.dumps([found(bed, kind, namespace) for kind in ("slurmclusters", "nodesets")])


async def converge(bed: Bed, case: str, namespace: str) -> None:
    """Bring a case to rest, look at it once more, and find that nothing was written for it."""
    bed.apply(NAMESPACE.object(namespace))
    done = bed.apply(*resources(case, namespace))
    assert done.code == 0, str(done)
    cluster = resources(case, namespace)[0]["metadata"]["name"]
    settings = Settings(namespaces=(namespace,))
    async with operating.operating(bed.access, controllers(), settings) as operator:
        job = f"{cluster}-populate-jail"
        await eventually(lambda: job in found(bed, "jobs", namespace), "the Job is made")
        succeed(bed, job, namespace)
        login = f"{cluster}-login"
        await eventually(lambda: login in found(bed, "statefulsets", namespace), "the logins follow")
        # its pod is never started, and the operator asks slurmctld every few seconds only
        pending = f"the pod {cluster}-controller-0 is Pending"
        await eventually(lambda: pending in every_status(bed, namespace), "slurmctld is asked", 60)
        await at_rest(operator)
        before = writes(operator)
        await look_again(operator)
        assert writes(operator) == before
        told = bed.get("slurmcluster", cluster, namespace)["status"]

    conditions = {row["type"]: (row["status"], row["reason"]) for row in told["conditions"]}
    assert "Reconciled" not in conditions, told
    assert conditions["ConfigurationValid"] == ("True", "Valid")
    assert conditions["JailPopulated"] == ("True", "Populated")
    # there are no such kinds here
    every = {path.stem for path in (GOLDEN / case / "objects").iterdir()}
    expected = {each for each in every if not each.startswith(("ServiceMonitor-", "PodMonitor-"))}
    kinds = ("ConfigMap", "Service", "Secret", "StatefulSet", "Deployment", "Job", "PodDisruptionBudget")
    there = {f"{kind}-{name}" for kind in kinds for name in found(bed, kind, namespace)}
    assert expected <= there


@pytest.mark.parametrize("case", ["minimal", "full"])
def test_a_cluster_comes_to_rest(controlled: Bed, case: str) -> None:
    """C62: what is there already is never written again."""
    operating.define(controlled)

    operating.run(converge(controlled, case, f"rest-{case}"))


def known(value: Any) -> Any:
    """Return a value without what the Kubernetes of the test bed, 1.20, does not know yet."""
    if isinstance(value, list):
        return [known(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: known(each) for key, each in value.items() if key != "appArmorProfile"}


@pytest.mark.parametrize("case", ["minimal", "full"])
def test_kubernetes_itself_takes_every_object(strict: Bed, case: str) -> None:
    namespace = f"strict-{case}"
    strict.apply(NAMESPACE.object(namespace))
    written = 0
    for path in sorted((GOLDEN / case / "objects").iterdir()):
        wanted = known(yaml.safe_load(path.read_text(encoding="utf-8")))
        wanted["metadata"] = {**wanted["metadata"], "namespace": namespace, "ownerReferences": []}
        if wanted["kind"] not in ("ServiceMonitor", "PodMonitor", "PodDisruptionBudget"):
            applied = strict.kubectl("apply", "--server-side", "-f", "-", given=json.dumps(wanted))
            assert applied.code == 0, str(applied)
            written += 1

    assert written > 10


def test_a_cluster_goes_and_its_keys_stay(controlled: Bed) -> None:
    operating.define(controlled)
    namespace = "goes"
    controlled.apply(NAMESPACE.object(namespace))
    cluster = next(each for each in resources("minimal", namespace) if each["kind"] == "SlurmCluster")

    async def body() -> None:
        settings = Settings(namespaces=(namespace,))
        async with operating.operating(controlled.access, controllers(), settings) as operator:
            assert controlled.apply(cluster).code == 0
            name = "small-controller"
            await eventually(lambda: name in found(controlled, "statefulsets", namespace), "it is made")
            await settled(operator)
            held = controlled.get("slurmcluster", "small", namespace)
            assert dig(held, "metadata", "finalizers") == ["slurm.nebius.ai/jobs"]
            controlled.kubectl("delete", "slurmcluster", "small", "-n", namespace, "--wait=false")
            await eventually(lambda: not found(controlled, "slurmclusters", namespace), "it goes")
            await eventually(
                lambda: not found(controlled, "statefulsets", namespace), "its daemons go with it", 90
            )
            secrets = set(found(controlled, "secrets", namespace))

            assert {"small-slurm-key", "small-rest-jwt-key", "small-sshd-keys"} <= secrets

    operating.run(body())
