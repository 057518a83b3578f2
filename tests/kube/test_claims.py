"""What a real API server and its controllers make of claims that grow, and of sets with other volumes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.kube.bed import Bed, until

from npa.errors import KubeError
from npa.reconcile import claim_sizes
from npa.reconcile.world import World
from npa.render.objects import CLAIM, NAMESPACE, STATEFUL_SET, STORAGE_CLASS, VOLUME, Object
from npa.tools.kube import Kube

NS = "claims"


@pytest.fixture(scope="module")
def bed(strict: Bed) -> Bed:
    strict.apply(NAMESPACE.object(NS))
    for name, allows in (("grows", True), ("fixed", False)):
        found = STORAGE_CLASS.object(name, provisioner="example.test/none", allowVolumeExpansion=allows)
        done = strict.apply(found)
        assert done.code == 0, str(done)
    return strict


@pytest.fixture
def kube(bed: Bed) -> Iterator[Kube]:
    client = bed.kube()
    yield client
    client.close()


def claim(name: str, storage: str, size: str = "1Gi") -> dict[str, Any]:
    spec = {
        "storageClassName": storage,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
    }
    return CLAIM.object(name, NS, spec=spec)


def volume(name: str, storage: str) -> dict[str, Any]:
    spec = {
        "storageClassName": storage,
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "hostPath": {"path": f"/tmp/{name}"},
        "claimRef": {"namespace": NS, "name": name},
    }
    return VOLUME.object(name, spec=spec)


def decided(bed: Bed, name: str, storage: str, size: str) -> claim_sizes.Sized:
    """Return what is decided of a claim that is there."""
    held: dict[tuple[str, str], Object] = {
        (CLAIM.kind, name): bed.get("pvc", name, NS),
        (STORAGE_CLASS.kind, storage): bed.get("storageclass", storage),
    }
    return claim_sizes.decide(World(None, objects=held), [(name, size)])


def _answer(kube: Kube, wanted: Object) -> int:
    """Return the status with which the API server answers."""
    try:
        kube.apply(wanted)
    except KubeError as error:
        return error.status
    return 200


@pytest.mark.parametrize(
    ("storage", "size", "bound", "reason", "taken"),
    [
        pytest.param("grows", "2Gi", True, "Growing", True, id="grows"),
        pytest.param("fixed", "2Gi", True, "CannotGrow", False, id="class-does-not-allow"),
        pytest.param("grows", "512Mi", True, "CannotShrink", False, id="smaller"),
        pytest.param("grows", "2Gi", False, "Growing", False, id="without-a-volume"),
    ],
)
def test_what_is_not_asked_for_would_be_turned_down(
    bed: Bed, kube: Kube, storage: str, size: str, bound: bool, reason: str, taken: bool
) -> None:
    name = f"{storage}-{size.lower()}-{'bound' if bound else 'free'}"
    done = bed.apply(*([volume(name, storage)] if bound else []), claim(name, storage))
    assert done.code == 0, str(done)
    if bound:
        until(lambda: bed.get("pvc", name, NS)["status"].get("phase") == "Bound", "it is bound")

    sized = decided(bed, name, storage, size)

    assert sized.condition.reason == reason
    assert bool(sized.apply) is taken
    assert _answer(kube, claim(name, storage, size)) in ((200,) if taken else (403, 422))
    if taken:
        again = decided(bed, name, storage, size)
        assert (again.condition.reason, again.apply) == ("Growing", ())


def test_a_set_that_is_made_anew_takes_its_pods_over(bed: Bed) -> None:
    def workload(*templates: dict[str, Any]) -> dict[str, Any]:
        container = {"name": "main", "image": "example.test/none"}
        pod = {"metadata": {"labels": {"app": "set"}}, "spec": {"containers": [container]}}
        spec = {
            "serviceName": "set",
            "replicas": 1,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {"app": "set"}},
            "template": pod,
            **({"volumeClaimTemplates": list(templates)} if templates else {}),
        }
        return STATEFUL_SET.object("set", NS, spec=spec)

    def owner() -> str:
        found = json.loads(bed.kubectl("get", "pod", "set-0", "-n", NS, "-o", "json").out or "{}")
        return str((found.get("metadata", {}).get("ownerReferences") or [{}])[0].get("uid", ""))

    template = {"metadata": {"name": "data"}, "spec": claim("x", "grows")["spec"]}
    bed.apply(workload(template))
    first = until(owner, "the set has its pod")
    refused = bed.apply(workload())
    bed.kubectl("delete", "statefulset", "set", "-n", NS, "--cascade=orphan")
    bed.apply(workload())

    assert refused.code == 1
    assert until(lambda: (found := owner()) not in ("", first) and found, "another set has the pod")
    assert bed.get("pvc", "data-set-0", NS)["metadata"]["name"] == "data-set-0"
