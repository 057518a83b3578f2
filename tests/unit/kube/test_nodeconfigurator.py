"""What is decided for NodeConfigurators and ActiveChecks."""

from __future__ import annotations

from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest

from npa.reconcile import activecheck, nodeconfigurator
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.objects import ACTIVE_CHECK, NODE_CONFIGURATOR, Object, dig, name_of

SETTINGS = Settings()
NOW = 1_800_000_000.0
OWN = {"enabled": True, "image": {"repository": "localhost/sysctl", "tag": "1"}, "command": ["tune"]}
OFF = {"enabled": False}


def configurator(**spec: Any) -> Object:
    found = NODE_CONFIGURATOR.object("tune", "team", spec=spec)
    found["metadata"] |= {"uid": "u", "generation": 2}
    return found


def world(*objects: Object) -> World:
    return World(None, objects={(str(each["kind"]), name_of(each)): each for each in objects}, now=NOW)


def reason(status: object) -> object:
    return dig(status, "conditions")[0]["reason"]


def test_the_users_own_container_runs_where_the_rebooter_is_off() -> None:
    decision = nodeconfigurator.decide(
        world(configurator(rebooter=OFF, customContainer=OWN)), "tune", SETTINGS
    )
    daemon_set = decision.apply[0]
    kubernetes_validate.validate(dict(daemon_set), "1.33", strict=True)
    pod = dig(daemon_set, "spec", "template", "spec")

    assert name_of(daemon_set) == "tune-ds"
    assert (pod["hostNetwork"], "hostPID" in pod) == (True, False)
    assert pod["containers"][0] == {
        "name": "custom",
        "image": "localhost/sysctl:1",
        "imagePullPolicy": "IfNotPresent",
        "env": [],
        "command": ["tune"],
    }


def test_the_rebooter_sees_its_node_and_may_reboot_it() -> None:
    rebooter = {"enabled": True, "image": {"repository": "localhost/rebooter"}}
    decision = nodeconfigurator.decide(
        world(configurator(rebooter=rebooter, customContainer=OWN)), "tune", SETTINGS
    )
    pod = dig(decision.apply[0], "spec", "template", "spec")
    kubernetes_validate.validate(dict(decision.apply[0]), "1.33", strict=True)

    assert pod["hostPID"]
    assert [each["name"] for each in pod["containers"]] == ["rebooter"]
    assert pod["containers"][0]["securityContext"] == {"privileged": True}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        pytest.param({}, "NoImage", id="the rebooter is on by default, and has no image"),
        pytest.param({"rebooter": OFF}, "NothingEnabled", id="nothing"),
        pytest.param({"rebooter": "yes"}, "InvalidSpec", id="not readable"),
    ],
)
def test_what_cannot_run_says_why(spec: dict[str, Any], said: str) -> None:
    decision = nodeconfigurator.decide(world(configurator(**spec)), "tune", SETTINGS)

    assert (decision.apply, reason(decision.status)) == ((), said)


def test_once_all_nodes_have_it_nothing_is_written() -> None:
    found = configurator(rebooter=OFF, customContainer=OWN)
    made = nodeconfigurator.decide(world(found), "tune", SETTINGS).apply[0]
    metadata = {**made["metadata"], "generation": 1}
    status = {"desiredNumberScheduled": 3, "numberReady": 3, "observedGeneration": 1}
    there = {**made, "metadata": metadata, "status": status}
    decision = nodeconfigurator.decide(world(found, there), "tune", SETTINGS)

    assert reason(decision.status) == "Available"
    assert nodeconfigurator.decide(
        world({**found, "status": decision.status}, there), "tune", SETTINGS
    ).settled


def test_a_check_says_that_it_does_not_run() -> None:
    found = ACTIVE_CHECK.object("gpu", "team", spec={})
    decision = activecheck.decide(world(found), "gpu", SETTINGS)

    assert reason(decision.status) == "NotActedOn"
    assert activecheck.decide(world({**found, "status": decision.status}), "gpu", SETTINGS).settled
