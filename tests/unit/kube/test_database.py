"""Where accounting is kept: as asked, unless data are elsewhere already, and in nothing empty by chance."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.golden.kube.worlds import done, load, settled
from tests.unit.kube.test_slurmcluster import changed, condition, decide, named

from npa.reconcile.decision import Decision
from npa.reconcile.world import World
from npa.render.objects import Object, dig, name_of

LACKING = frozenset({"mariadbs.k8s.mariadb.com", "grants.k8s.mariadb.com"})
DATABASE = ("MariaDB", "kept-acct-db")
WORKLOAD = ("StatefulSet", "kept-accounting")


def containers(found: Object | None) -> list[str]:
    return [each["name"] for each in dig(found, "spec", "template", "spec", "containers")]


def text_of(decision: Decision) -> str:
    found = [each for each in decision.apply if name_of(each) == "kept-slurmdbd-configs"]
    return base64.b64decode(found[0]["data"]["slurmdbd.conf"]).decode() if found else ""


def put(world: World, found: Mapping[str, Any]) -> World:
    return replace(world, objects={**world.objects, (found["kind"], name_of(found)): found})


def gone(decision: Decision) -> set[str]:
    return {f"{each.kind.kind}/{each.name}" for each in decision.delete}


def test_mariadb_operator_is_asked_and_slurmdbd_goes_there() -> None:
    world = load("database")
    first = decide(world)
    second = decide(done(world, first))
    made = {name_of(new.wanted): new for new in first.secrets}

    assert {"MariaDB/kept-acct-db", "Grant/kept-acct-db"} <= named(first.apply)
    assert made["kept-mariadb-password"].passwords == (("password", 32),)
    assert made["kept-mariadb-password"].wanted["immutable"] is True
    assert "ownerReferences" not in made["kept-mariadb-root"].wanted["metadata"]
    assert text_of(first) == ""  # its password is made in the same pass
    assert "StorageHost=kept-acct-db.team-a.svc.cluster.local\nStoragePort=3306\n" in text_of(second)
    assert f"StoragePass={'x' * 32}\n" in text_of(second)
    assert containers(done(world, second).objects.get(WORKLOAD)) == ["slurmdbd"]


def test_a_secret_may_be_changed_unless_it_is_protected() -> None:
    def open_(spec: dict[str, Any]) -> None:
        spec["slurmNodes"]["accounting"]["mariadbOperator"]["protectedSecret"] = False

    assert all("immutable" not in new.wanted for new in decide(changed(load("database"), open_)).secrets)


def test_without_mariadb_operator_the_database_is_beside_slurmdbd_and_the_condition_says_so() -> None:
    world = settled(replace(load("database"), absent_apis=LACKING))
    status, reason, message = condition(world, decide(world), "AccountingAvailable")

    assert (status, reason) == ("True", "Available")
    assert message.endswith("mariadb-operator is not installed: the database is beside slurmdbd")
    assert containers(world.objects.get(WORKLOAD)) == ["slurmdbd", "mariadb"]


def test_data_beside_slurmdbd_stay_there_when_mariadb_operator_comes() -> None:
    world = settled(replace(load("database"), absent_apis=LACKING))
    later = replace(world, absent_apis=frozenset())

    assert decide(later).apply == ()
    assert "stay there" in condition(later, decide(later), "AccountingAvailable")[2]


def test_a_claim_with_data_counts_as_well_as_what_runs() -> None:
    claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": "data-kept-accounting-0"}}
    decision = decide(put(load("database"), claim))

    assert "MariaDB/kept-acct-db" not in named(decision.apply)


@pytest.mark.parametrize("still", [True, False], ids=["kept-in-sight", "out-of-sight"])
def test_nothing_empty_takes_the_place_of_a_database_whose_kind_is_gone(still: bool) -> None:
    world = settled(load("database"))
    objects = {key: each for key, each in world.objects.items() if still or key != DATABASE}
    lost = replace(world, objects=objects, absent_apis=LACKING)
    decision = decide(lost)

    assert decision.apply == ()
    assert decision.delete == ()


@pytest.mark.parametrize("kind", ["MariaDB", "StatefulSet", "PersistentVolumeClaim"])
def test_where_the_data_are_is_not_guessed(kind: str) -> None:
    fresh = replace(load("database"), unread=(kind,))
    running = replace(settled(load("database")), unread=(kind,))

    assert not {each for each in named(decide(fresh).apply) if "accounting" in each or "acct-db" in each}
    assert condition(fresh, decide(fresh), "ConfigurationValid")[:2] == ("Unknown", "Unknown")
    assert decide(running).apply == ()
    assert decide(running).delete == ()


def test_a_database_that_is_not_ready_says_why() -> None:
    world = settled(load("database"))
    row = {"type": "Ready", "status": "False", "reason": "Provisioning", "message": "no volume"}
    world = put(world, {**world.objects[DATABASE], "status": {"conditions": [row]}})
    world = put(world, {**world.objects[WORKLOAD], "status": {"readyReplicas": 0, "observedGeneration": 1}})

    message = condition(world, decide(world), "AccountingAvailable")[2]
    assert message.endswith("MariaDB kept-acct-db: no volume")


def test_a_database_that_is_there_keeps_its_passwords() -> None:
    theirs = {
        "kind": "MariaDB",
        "metadata": {"name": "kept-acct-db", "namespace": "team-a"},
        "spec": {
            "rootPasswordSecretKeyRef": {"name": "mariadb-root", "key": "password"},
            "passwordSecretKeyRef": {"name": "mariadb-password", "key": "password"},
        },
    }
    data = {"password": base64.b64encode(b"theirs").decode()}
    secret = {"kind": "Secret", "metadata": {"name": "mariadb-password"}, "data": data}
    decision = decide(put(put(load("database"), theirs), secret))
    wanted = next(each for each in decision.apply if each["kind"] == "MariaDB")

    assert dig(wanted, "spec", "rootPasswordSecretKeyRef", "name") == "mariadb-root"
    assert "StoragePass=theirs\n" in text_of(decision)
    assert not [new for new in decision.secrets if "mariadb" in name_of(new.wanted)]


def test_it_goes_with_accounting_and_its_passwords_stay() -> None:
    world = changed(
        settled(load("database")), lambda spec: spec["slurmNodes"]["accounting"].update(enabled=False)
    )

    assert {"MariaDB/kept-acct-db", "Grant/kept-acct-db"} <= gone(decide(world))
    assert not {each for each in gone(decide(world)) if each.startswith("Secret/kept-mariadb")}
