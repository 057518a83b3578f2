"""How a new key comes to a cluster, one look after the other: worlds in, decisions out."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
from tests.golden.kube.worlds import NOW, SETTINGS, done, load, settled

from npa.reconcile import conditions, nodeset, rotation, slurmcluster
from npa.reconcile.decision import Decision, KeyChange
from npa.reconcile.world import World
from npa.render.kube import names
from npa.render.objects import Object, dig, name_of

AUTH, JWT = rotation.of("train")
KEY = pytest.mark.parametrize("key", [AUTH, JWT], ids=["auth", "jwt"])


def asked(world: World, key: rotation.Key, word: str = "w1", **more: str) -> World:
    """Return the world after somebody asked for a new key."""
    cluster = copy.deepcopy(dict(world.cluster or {}))
    annotations = {**(cluster["metadata"].get("annotations") or {}), key.asked: word, **more}
    cluster["metadata"]["annotations"] = annotations
    return replace(world, cluster=cluster)


def bearing(world: World, key: rotation.Key, **said: str) -> World:
    """Return the world in which a key's Secret says so."""
    marks = {
        {"word": rotation.WORD, "before": rotation.BEFORE, "written": rotation.WRITTEN}.get(
            name, rotation.FAILED
        ): text
        for name, text in said.items()
    }
    before = world.objects["Secret", key.secret]
    secret: Object = {**before, "metadata": {**before["metadata"], "annotations": marks}}
    return replace(world, objects={**world.objects, ("Secret", key.secret): secret})


def with_pod(world: World, component: names.Component = "login") -> World:
    name = f"train-{component}-0"
    metadata = {"name": name, "labels": names.labels("train", component)}
    pod: Object = {"kind": "Pod", "metadata": metadata}
    return replace(world, objects={**world.objects, ("Pod", name): pod})


def decide(world: World) -> Decision:
    return slurmcluster.decide(world, SETTINGS)


def changes(world: World) -> list[tuple[str, str, dict[str, str | None]]]:
    found: tuple[KeyChange, ...] = decide(world).keys
    return [(each.how, each.secret, dict(each.annotations)) for each in found]


def condition(world: World) -> str:
    rows = (decide(world).status or dig(world.cluster or {}, "status") or {}).get("conditions") or ()
    return next((str(row["reason"]) for row in rows if row["type"] == rotation.ROTATING), "")


@pytest.fixture(scope="module")
def world() -> World:
    return settled(load("full"))


def test_nobody_asked_for_anything(world: World) -> None:
    assert changes(world) == []
    assert condition(world) == ""


def test_readers_of_the_key_that_all_share_end_before_it_is_replaced(world: World) -> None:
    wanted = asked(world, AUTH)
    busy = with_pod(wanted, "worker")

    assert nodeset.decide(busy, "gpu", SETTINGS).create == ()
    assert rotation.leaving(busy) == "it gets a new auth key"
    assert (changes(busy), decide(busy).apply) == ([], ())
    assert changes(with_pod(wanted)) == []
    assert {dig(each, "spec", "replicas") for each in decide(wanted).apply} == {0}
    assert condition(busy) == "Ending"


def test_with_none_left_it_is_replaced_and_the_old_one_is_kept_beside_it(world: World) -> None:
    at = conditions.moment(NOW)
    marks = {rotation.WORD: "w1", rotation.BEFORE: "", rotation.WRITTEN: at, rotation.FAILED: None}

    assert changes(asked(world, AUTH)) == [("replace", "train-slurm-key", marks)]
    assert decide(asked(world, AUTH)).keys[0].cluster == "train"


def test_the_key_of_tokens_is_replaced_at_once_and_its_readers_restart(world: World) -> None:
    wanted = asked(with_pod(world, "worker"), JWT)
    written = bearing(wanted, JWT, word="w1", before="", written=conditions.moment(NOW))
    restarted = {name_of(each) for each in decide(written).apply}

    assert [each[:2] for each in changes(wanted)] == [("replace", "train-rest-jwt-key")]
    assert decide(wanted).keys[0].cluster == ""
    assert restarted == {"train-controller", "train-accounting", "train-slurm-exporter"}
    assert changes(written) == []  # not dropped before they have restarted
    assert [each[0] for each in changes(done(written, decide(written)))] == ["settle"]


@KEY
def test_what_cannot_be_read_stays_as_it_is(world: World, key: rotation.Key) -> None:
    wanted = asked(world, key)

    assert changes(replace(wanted, unread=("Secret",))) == []
    assert changes(asked(replace(world, unread=("Pod",)), AUTH)) == []


def test_while_nobody_can_tell_how_far_a_key_is_nothing_starts_nor_restarts(world: World) -> None:
    after = bearing(asked(world, JWT), JWT, word="w1")
    settled_after = done(after, decide(after))
    ending = down(asked(world, AUTH))

    for each in (settled_after, ending):
        unread = replace(each, unread=("Secret",))
        assert [(each["kind"], name_of(each)) for each in decide(unread).apply] == []
        assert nodeset.decide(unread, "gpu", SETTINGS).create == ()
    # of a cluster of which no key was ever asked for, Secrets tell nothing that matters here
    assert decide(replace(without_login(world), unread=("Secret",))).apply != ()


def without_login(world: World) -> World:
    return replace(
        world, objects={key: each for key, each in world.objects.items() if key[1] != "train-login"}
    )


def started(world: World, key: rotation.Key = AUTH, **said: str) -> World:
    """Return the world in which a new key has been written."""
    marks: dict[str, Any] = {"word": "w1", "before": "w0", "written": conditions.moment(NOW), **said}
    return bearing(asked(world, key), key, **marks)


def down(world: World) -> World:
    """Return the world in which nothing of the cluster is up."""
    objects = {
        found: {**each, "status": {}} if found[0] in ("StatefulSet", "Deployment") else each
        for found, each in world.objects.items()
    }
    return replace(world, objects=objects)


def test_once_all_is_up_the_old_key_is_dropped(world: World) -> None:
    assert changes(down(started(world))) == []
    assert condition(down(started(world))) == "Starting"
    assert [each[0] for each in changes(started(world))] == ["settle"]
    assert condition(bearing(asked(world, AUTH), AUTH, word="w1")) == "Done"


def test_what_is_said_of_pods_that_have_gone_is_no_proof(world: World) -> None:
    objects = {
        found: {**each, "spec": {**each["spec"], "replicas": 0}} if found[0] == "StatefulSet" else each
        for found, each in world.objects.items()
    }

    assert changes(started(replace(world, objects=objects))) == []


def test_an_exporter_that_does_not_come_is_no_reason_to_go_back(world: World) -> None:
    key = ("Deployment", "train-slurm-exporter")
    gone = {**world.objects[key], "status": {}}

    assert [each[0] for each in changes(started(replace(world, objects={**world.objects, key: gone})))] == [
        "settle"
    ]


def test_what_does_not_come_up_in_time_goes_back(world: World) -> None:
    late = replace(down(started(world)), now=NOW + rotation.COMES_UP + 1)
    failed = started(world, failed="w1")

    assert changes(late) == [("mark", "train-slurm-key", {rotation.FAILED: "w1"})]
    assert rotation.leaving(failed) == "it gets back its old auth key"
    assert changes(with_pod(failed)) == []
    gone = {rotation.WORD: "w0", rotation.BEFORE: None, rotation.WRITTEN: None}
    assert changes(failed) == [("restore", "train-slurm-key", gone)]
    assert condition(bearing(asked(world, AUTH), AUTH, word="w0", failed="w1")) == "Failed"
    assert rotation.leaving(bearing(asked(world, AUTH), AUTH, word="w0", failed="w1")) == ""


def test_in_maintenance_nobody_can_tell_whether_a_key_works(world: World) -> None:
    late = replace(down(started(world)), now=NOW + rotation.COMES_UP + 1)
    cluster = copy.deepcopy(dict(late.cluster or {}))
    cluster["spec"]["maintenance"] = "downscale"

    assert changes(replace(late, cluster=cluster)) == []


def test_one_key_comes_after_the_other(world: World) -> None:
    both = asked(asked(world, AUTH), JWT)

    assert [each[1] for each in changes(both)] == ["train-slurm-key"]
    assert changes(down(asked(started(world), JWT))) == []
    assert rotation.leaving(asked(started(world, JWT), AUTH)) == ""


@pytest.mark.parametrize(
    ("more", "ends"),
    [
        pytest.param({}, False, id="not said"),
        pytest.param({rotation.ENDS_JOBS: "w0"}, False, id="said of another one"),
        pytest.param({rotation.ENDS_JOBS: "w1"}, True, id="said of this one"),
    ],
)
def test_jobs_are_ended_only_for_the_key_of_which_that_was_said(
    world: World, more: dict[str, str], ends: bool
) -> None:
    assert rotation.ends_jobs(asked(world, AUTH, **more)) is ends
    assert not rotation.ends_jobs(bearing(asked(world, AUTH, **more), AUTH, word="w1"))


def test_whoever_is_given_the_secret_is_a_reader() -> None:
    labels = names.labels("train", "exporter")
    volumes = [{"name": "key", "secret": {"secretName": "train-slurm-key"}}]
    pod = {"kind": "Pod", "metadata": {"name": "x", "labels": labels}}

    assert not rotation.reads(pod)
    assert rotation.reads({**pod, "spec": {"volumes": volumes}})
