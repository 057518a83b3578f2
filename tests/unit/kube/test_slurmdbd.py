"""slurmdbd.conf with somebody else's database: its password is read back as it is, or refused unseen."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest
from tests.golden.kube.worlds import SETTINGS, load

from npa.errors import Problem
from npa.reconcile import slurmcluster
from npa.reconcile.decision import Decision
from npa.reconcile.world import World
from npa.render.kube import slurmdbd
from npa.render.objects import dig, name_of

SECRET = {"kind": "Secret", "metadata": {"name": "db", "namespace": "ml", "uid": "1"}}


def external(password: bytes | None, **fields: Any) -> World:
    world = load("full")
    assert world.cluster is not None
    nodes = world.cluster["spec"]["slurmNodes"]
    database = {
        "enabled": True,
        "host": "db.example",
        "user": "slurm",
        "passwordSecretKeyRef": {"name": "db", "key": "password"},
        **fields,
    }
    accounting = {**nodes["accounting"], "externalDB": database, "mariadbOperator": None}
    spec = {**world.cluster["spec"], "slurmNodes": {**nodes, "accounting": accounting}}
    data = {} if password is None else {"password": base64.b64encode(password).decode()}
    return replace(
        world,
        cluster={**world.cluster, "spec": spec},
        objects={("Secret", "db"): {**SECRET, "data": data}},
    )


def text_of(decision: Decision) -> str:
    found = [each for each in decision.apply if name_of(each) == "train-slurmdbd-configs"]
    return base64.b64decode(found[0]["data"]["slurmdbd.conf"]).decode() if found else ""


@pytest.mark.parametrize(
    ("password", "line"),
    [
        pytest.param(b"hunter2", "StoragePass=hunter2\n", id="plain"),
        pytest.param(b"tail\n", "StoragePass=tail\n", id="made-with-echo"),
        pytest.param(b"a b", 'StoragePass="a b"\n', id="blank"),
    ],
)
def test_passwords_that_slurm_reads_back(password: bytes, line: str) -> None:
    decision = slurmcluster.decide(external(password), SETTINGS)

    assert line in text_of(decision)
    shown = repr([each for each in decision.apply if name_of(each) != "train-slurmdbd-configs"])
    assert line.strip() not in shown + repr(decision.status) + repr(decision.notices)


@pytest.mark.parametrize(
    "password", [b"p#w-secret", b'x"y-secret', b"s\\secret", b"", b"\xff\xfesecret", None]
)
def test_passwords_that_it_would_not(password: bytes | None) -> None:
    decision = slurmcluster.decide(external(password), SETTINGS)

    assert text_of(decision) == ""
    assert "passwordSecretKeyRef" in str(decision.status)
    assert "Secret db" in str(decision.status)
    assert "secret" not in str(decision.status).replace("Secret db", "").replace("passwordSecretKeyRef", "")


def test_a_foreign_database_with_its_certificates() -> None:
    world = external(
        b"pw",
        port=3307,
        tls={"serverCASecretRef": "ca", "clientCertSecretRef": "cert"},
        storageParameters={"b": "1"},
    )
    decision = slurmcluster.decide(world, SETTINGS)
    text = text_of(decision)
    workload = next(
        each
        for each in decision.apply
        if each["kind"] == "StatefulSet" and name_of(each) == "train-accounting"
    )
    template = dig(workload, "spec", "template", "spec")

    assert "StorageHost=db.example\nStoragePort=3307\n" in text
    assert "SSL_CA=/mnt/slurmdbd-ssl-ca-cert/ca.crt,SSL_CERT=" in text
    assert "PurgeJobAfter" not in text  # there is no place to archive them
    assert "PurgeStepAfter=1month" in text  # which are not archived in any case
    assert [each["name"] for each in template["containers"]] == ["slurmdbd"]
    assert "volumeClaimTemplates" not in workload["spec"]
    assert {"ca", "cert"} <= {dig(each, "secret", "secretName") for each in template["volumes"]}


def test_a_password_does_not_show_itself() -> None:
    problems: list[Problem] = []

    assert "hunter2" not in repr(slurmdbd.password_of(b"hunter2", "db", problems))
    assert problems == []
