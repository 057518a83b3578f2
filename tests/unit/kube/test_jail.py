"""The Job that fills the jail: made, watched, replaced, and left alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.golden.kube.worlds import NOW, SETTINGS, done, load, settled

from npa.reconcile import slurmcluster
from npa.reconcile.decision import Decision
from npa.reconcile.world import World
from npa.render.kube import names
from npa.render.objects import Object, dig, name_of

KEY = ("Job", "small-populate-jail")


def decide(world: World) -> Decision:
    return slurmcluster.decide(world, SETTINGS)


def with_job(world: World, **status: Any) -> World:
    return replace(world, objects={**world.objects, KEY: {**world.objects[KEY], "status": status}})


def mode(world: World, wanted: str) -> World:
    assert world.cluster is not None
    cluster = {**world.cluster, "spec": {**world.cluster["spec"], "maintenance": wanted}}
    return replace(world, cluster=cluster)


def said(decision: Decision, kind: str) -> tuple[str, str, str]:
    assert decision.status is not None
    row = next(row for row in decision.status["conditions"] if row["type"] == kind)
    return row["status"], row["reason"], row["message"]


def pod(component: str, name: str, **status: Any) -> dict[tuple[str, str], Object]:
    labels = names.labels("small", component)  # type: ignore[arg-type]
    return {("Pod", name): {"kind": "Pod", "metadata": {"name": name, "labels": labels}, "status": status}}


def begun() -> World:
    """A cluster whose Job was made and has not ended."""
    world = load("minimal")
    return with_job(done(world, decide(world)))


def test_a_container_that_fails_says_why_and_is_tried_again_by_the_kubelet() -> None:
    ended = {
        "restartCount": 3,
        "name": "populate-jail",
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"message": "npa: nothing\nrsync: No space left on device (28)"}},
    }
    world = begun()
    failing = replace(
        world, objects={**world.objects, **pod("populate-jail", "p", containerStatuses=[ended])}
    )
    decision = decide(failing)

    assert said(decision, "JailPopulated") == (
        "False",
        "PopulateFailing",
        "p: populate-jail: CrashLoopBackOff (rsync: No space left on device (28))",
    )
    assert decision.delete == ()
    assert ("Warning", "PopulateFailing") in {(each.type, each.reason) for each in decision.notices}
    assert int(dig(world.objects[KEY], "spec", "backoffLimit")) > 1000


def test_a_job_that_ended_in_vain_is_replaced_after_a_while() -> None:
    failed = {
        "type": "Failed",
        "status": "True",
        "reason": "DeadlineExceeded",
        "lastTransitionTime": "2027-01-15T07:59:00Z",
    }
    world = with_job(begun(), conditions=[failed])
    early, late = decide(world), decide(replace(world, now=NOW + SETTINGS.retry_most))

    assert said(early, "JailPopulated")[:2] == ("False", "PopulateFailed")
    assert early.delete == ()
    assert early.again_in is not None
    assert early.again_in <= SETTINGS.retry_most
    assert [(each.kind.kind, each.name) for each in late.delete] == [KEY]


def test_another_image_replaces_a_job_that_has_not_ended_and_no_other() -> None:
    def other(world: World) -> World:
        assert world.cluster is not None
        spec = {**world.cluster["spec"], "populateJail": {"image": "localhost/npa-jail:2"}}
        return replace(world, cluster={**world.cluster, "spec": spec})

    assert [each.name for each in decide(other(begun())).delete] == ["small-populate-jail"]
    assert decide(other(settled(load("minimal")))).delete == ()


def test_unread_jobs_change_nothing_for_a_jail_that_was_filled() -> None:
    world = settled(load("minimal"))

    assert decide(replace(world, unread=("Job",))).settled


def test_skipping_leaves_the_job_and_counts_as_filled() -> None:
    world = load("minimal")
    decision = decide(mode(world, "skipPopulateJail"))

    assert decision.create == ()
    assert said(decision, "JailPopulated")[:2] == ("True", "Skipped")
    assert "StatefulSet/small-login" in {f"{each['kind']}/{name_of(each)}" for each in decision.apply}


def test_deleting_mode_deletes_the_job_and_leaving_it_fills_anew() -> None:
    world = mode(settled(load("minimal")), "downscaleAndDeletePopulateJail")
    decision = decide(world)
    left = mode(settled(done(world, decision)), "none")

    assert [each.name for each in decision.delete] == ["small-populate-jail"]
    assert said(decision, "PopulateJailMode")[1] == "DownscaleAndDeletePopulateJail"
    assert [name_of(each) for each in decide(left).create] == ["small-populate-jail"]


def test_overwriting_waits_until_nobody_is_in_the_jail_and_happens_once() -> None:
    world = mode(settled(load("minimal")), "downscaleAndOverwritePopulateJail")
    used = replace(world, objects={**world.objects, **pod("login", "small-login-0")})
    waiting = decide(used)
    replacing = decide(world)
    gone = done(world, replacing)
    filling = decide(gone)
    after = decide(done(gone, filling))

    assert (waiting.create, waiting.delete) == ((), ())
    assert said(waiting, "JailPopulated")[2] == "1 pods still use the jail"
    assert [each.name for each in replacing.delete] == ["small-populate-jail"]
    env = dig(filling.create[0], "spec", "template", "spec", "containers")[0]["env"]
    assert {"name": "OVERWRITE", "value": "1"} in env
    assert said(filling, "PopulateJailMode")[1] == "DownscaleAndOverwritePopulateJail"
    assert (after.create, after.delete) == ((), ())
    assert said(after, "JailPopulated")[0] == "True"
