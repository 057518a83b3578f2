"""A namespace that is deleted whole, on the real API server with its real namespace controller (C63)."""

from __future__ import annotations

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from functools import partial

import pytest
from tests.kube import operating
from tests.kube.bed import Bed
from tests.kube.clusters import cluster, nodeset
from tests.kube.old_server import OLD
from tests.kube.operating import eventually

from npa.operator.main import Operator
from npa.reconcile.deletion import FINALIZER
from npa.reconcile.settings import Settings
from npa.render.objects import NAMESPACE, dig

GONE = 120.0  # seconds until a namespace is


@pytest.fixture(scope="module")
def bed(strict: Bed) -> Bed:
    operating.define(strict)
    return strict


def begin(bed: Bed, namespace: str) -> None:
    done = bed.apply(NAMESPACE.object(namespace))
    assert done.code == 0, str(done)
    done = bed.apply(cluster("one", namespace), nodeset("gpu", "one", namespace))
    assert done.code == 0, str(done)


def works(bed: Bed, namespace: str) -> bool:
    pods = bed.kubectl("get", "pods", "-n", namespace, "-o", "name").out.split()
    held = dig(bed.get("slurmcluster", "one", namespace), "metadata", "finalizers") or []
    return {"pod/one-controller-0", "pod/gpu-0", "pod/gpu-1"} <= set(pods) and FINALIZER in held


def delete(bed: Bed, namespace: str) -> None:
    assert bed.kubectl("delete", "namespace", namespace, "--wait=false").code == 0


def gone(bed: Bed, namespace: str) -> bool:
    done = bed.kubectl("get", "namespace", namespace)
    return done.code != 0 and "NotFound" in done.err


def running(bed: Bed, *namespaces: str) -> AbstractAsyncContextManager[Operator]:
    return operating.operating(bed.access, OLD, Settings(namespaces=namespaces))


def finalizers(bed: Bed, namespace: str) -> set[str]:
    """Return who holds what is Kubernetes' own."""
    kinds = "pods,secrets,configmaps,services,statefulsets,jobs,persistentvolumeclaims"
    listed = json.loads(bed.kubectl("get", kinds, "-n", namespace, "-o", "json").out)["items"]
    return {each for found in listed for each in found["metadata"].get("finalizers", ())}


def passes(operator: Operator) -> float:
    metrics = operator.metrics.registry.collect()
    samples = (each for metric in metrics for each in metric.samples)
    return sum(each.value for each in samples if each.name == "npa_operator_reconciles_total")


def test_a_namespace_goes_with_all_that_is_in_it_whether_an_operator_is_there_or_not(bed: Bed) -> None:
    there, away = "goes-seen", "goes-unseen"
    for namespace in (there, away):
        begin(bed, namespace)

    async def body() -> None:
        async with running(bed, there, away):
            for namespace in (there, away):
                await eventually(partial(works, bed, namespace), "there is a cluster", 60)
        held = finalizers(bed, there)
        await asyncio.to_thread(delete, bed, away)
        async with running(bed, there, away) as operator:
            await asyncio.to_thread(delete, bed, there)
            for namespace in (there, away):
                await eventually(partial(gone, bed, namespace), "the namespace is gone", GONE)

            # what can't be made in it any more is not tried without rest
            assert passes(operator) < 100
        assert not {each for each in held if "slurm" in each}

    operating.run(body(), 300)
