"""The operator in a pod, of its own image, as it is installed."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from tests.e2e.kube.bed import Place
from tests.e2e.kube.cluster import READY
from tests.kube import operating
from tests.kube.bed import until
from tests.kube.clusters import cluster

from npa.render.kube import installation
from npa.render.kube.installation import Installation
from npa.render.objects import NAMESPACE, SECRET, Object, dig
from npa.tools.kube_access import Access

HOME, WATCHED = "npa-e2e-system", "npa-e2e-watched"
KEPT = {"Namespace", "CustomResourceDefinition"}


@pytest.fixture
def installed(place: Place) -> Iterator[Place]:
    """Install it for one namespace; beside other operators, which look after theirs."""
    if not place.operator_image:
        pytest.skip("NPA_E2E_OPERATOR_IMAGE names no image")
    operating.define(place.bed)
    made = installation.render(Installation(place.operator_image, HOME, (WATCHED,)), crds=False)
    objects: Sequence[Mapping[str, Any]] = tuple(on_the_bed(place, made)) if place.jail else made
    done = place.bed.apply(*objects, NAMESPACE.object(WATCHED))
    assert done.code == 0, str(done)
    yield place
    for each in (each for each in objects if each["kind"] not in KEPT):
        where = dig(each, "metadata", "namespace")
        place.bed.kubectl("delete", each["kind"], each["metadata"]["name"], *(("-n", where) if where else ()))
    place.bed.kubectl("delete", "namespace", HOME, WATCHED, "--wait=false")


def on_the_bed(place: Place, made: Sequence[Object]) -> Iterator[Object]:
    """Yield what the bed can do, which has no RBAC, tokens of service accounts or addresses of Services.

    Its API server is reached over the machine's own loopback, and would wait for a webhook out of its reach.
    """
    yield from (each for each in made if each["kind"] == "Namespace")
    yield SECRET.object("reached", HOME, data={"kubeconfig": encoded(kubeconfig(place.bed.access))})
    text = json.dumps(next(each for each in made if each["kind"] == "Deployment"))
    for port in (installation.HEALTH_PORT, installation.WEBHOOK_PORT):
        text = text.replace(str(port), str(free()))
    deployment = json.loads(text)
    pod = deployment["spec"]["template"]["spec"]
    pod.pop("serviceAccountName")
    pod.update(
        hostNetwork=True, volumes=[*pod["volumes"], {"name": "r", "secret": {"secretName": "reached"}}]
    )
    container = pod["containers"][0]
    container["args"].append("--kubeconfig=/reached/kubeconfig")
    container["volumeMounts"].append({"name": "r", "mountPath": "/reached"})
    yield deployment


def kubeconfig(access: Access) -> str:
    """Return what a kubeconfig says of an access, with all that it refers to."""
    assert access.certificate is not None
    user = {"client-certificate-data": encoded(access.certificate[0])}
    user["client-key-data"] = encoded(access.certificate[1])
    where = {"server": access.endpoint, "certificate-authority-data": encoded(access.ca_pem)}
    told: dict[str, Any] = {"apiVersion": "v1", "kind": "Config", "current-context": "x"}
    told["clusters"] = [{"name": "c", "cluster": where}]
    told["users"] = [{"name": "u", "user": user}]
    told["contexts"] = [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": HOME}}]
    return json.dumps(told)


def encoded(text: str) -> str:
    """Return a text as objects of Kubernetes hold bytes."""
    return base64.b64encode(text.encode()).decode()


def free() -> int:
    """Return a port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def test_in_a_pod_it_gets_ready_and_takes_up_a_cluster(installed: Place) -> None:
    bed, name = installed.bed, installation.NAME

    def ready() -> bool:
        done = bed.kubectl("rollout", "status", f"deployment/{name}", "-n", HOME, "--timeout=5s")
        if done.code != 0:
            print(done.err, bed.kubectl("logs", f"deployment/{name}", "-n", HOME).out[-2000:])
        return done.code == 0

    until(ready, "the pod is ready", READY)
    # of an image that is nowhere: it is to be begun, no more
    done = bed.apply(cluster("begun", WATCHED))
    assert done.code == 0, str(done)
    sets = ("get", "statefulsets", "-n", WATCHED, "-o", "name")
    until(lambda: "begun-controller" in bed.kubectl(*sets).out, "it has begun", READY)

    assert dig(bed.get("lease", name, HOME), "spec", "holderIdentity")
    bed.kubectl("delete", "slurmcluster", "begun", "-n", WATCHED, "--wait=false")
    until(lambda: not bed.kubectl("get", "slurmclusters", "-n", WATCHED, "-o", "name").out, "it goes")
