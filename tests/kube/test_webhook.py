"""Admission reviews through a real API server, with the certificate that the operator makes."""

from __future__ import annotations

import base64
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kube import operating
from tests.kube.bed import Bed, until
from tests.kube.clusters import cluster

from npa.render.kube import installation
from npa.render.objects import NAMESPACE, dig

NS = "reviewed"


@pytest.fixture(scope="module")
def reviewed(mini: Bed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """A bed whose API server asks an operator that runs beside it."""
    operating.define(mini)
    port = free_port()
    client = {"url": f"https://127.0.0.1:{port}/validate"}
    mini.apply(NAMESPACE.object(NS))
    done = mini.apply(installation.webhook((NS,), client))
    assert done.code == 0, str(done)
    log = tmp_path_factory.mktemp("operator") / "log"
    options = ("--webhook-port", str(port), "--webhook-name", "127.0.0.1", "--namespace", NS)
    with operating.process(mini.kubeconfig, log, *options, "--own-namespace", NS):
        until(lambda: bundle(mini), f"the API server is told whom to trust; see {log}", 60)
        yield mini
    mini.kubectl("delete", "validatingwebhookconfiguration", installation.NAME)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def bundle(bed: Bed) -> str:
    found = bed.get("validatingwebhookconfiguration", installation.NAME)
    return str(dig(found["webhooks"][0], "clientConfig", "caBundle") or "")


def broken(said: str) -> dict[str, Any]:
    return cluster("broken", NS, said)


def test_what_slurm_would_not_take_is_refused_with_the_reason(reviewed: Bed) -> None:
    def refused() -> str:
        done = reviewed.apply(broken("SelectType=select/nonsense"))
        return done.err if done.code else ""

    said = until(refused, "the API server asks the operator")

    assert "denied the request" in said
    assert "select/nonsense" in said
    assert reviewed.kubectl("get", "slurmcluster", "broken", "-n", NS).code == 1


def test_what_is_right_is_taken_in_and_a_bad_change_of_it_is_not(reviewed: Bed) -> None:
    until(lambda: reviewed.apply(broken("SelectType=select/nonsense")).code != 0, "it is asked")
    said = "SchedulerParameters=defer"
    good = reviewed.apply(cluster("good", NS, said))
    bad = reviewed.apply(cluster("good", NS, f"{said}\nPartitionName=all Nodes=@@"))

    assert good.code == 0, str(good)
    assert bad.code != 0
    assert reviewed.get("slurmcluster", "good", NS)["spec"]["customSlurmConfig"] == said
    assert reviewed.kubectl("label", "slurmcluster", "good", "-n", NS, "a=b").code == 0
    assert reviewed.kubectl("delete", "slurmcluster", "good", "-n", NS).code == 0


def test_the_certificate_is_kept_in_a_secret_and_trusted(reviewed: Bed) -> None:
    secret = reviewed.get("secret", installation.SECRET, NS)

    assert secret["data"]["ca.crt"] == bundle(reviewed)
    assert b"PRIVATE KEY" in base64.b64decode(secret["data"]["tls.key"])


def test_another_process_serves_with_the_same_certificate(reviewed: Bed, tmp_path: Path) -> None:
    before = reviewed.get("secret", installation.SECRET, NS)["data"]
    log = tmp_path / "log"
    options = ("--webhook-port", "0", "--webhook-name", "127.0.0.1", "--namespace", NS)
    with operating.process(reviewed.kubeconfig, log, *options, "--own-namespace", NS):
        until(lambda: "the certificate is good" in log.read_text(), "it has a certificate", 60)

    assert reviewed.get("secret", installation.SECRET, NS)["data"] == before


def test_elsewhere_nobody_is_asked(reviewed: Bed) -> None:
    done = reviewed.apply(cluster("broken", "default", "SelectType=select/nonsense"))

    assert done.code == 0, str(done)
