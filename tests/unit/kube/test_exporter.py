"""The exporter of a cluster: when there is one, what it asks, and what is said where it cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.golden.kube.worlds import SETTINGS, load, settled
from tests.unit.kube.test_slurmcluster import changed, condition, decide, named

from npa.reconcile import slurmcluster
from npa.reconcile.decision import Decision
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.objects import dig, name_of

OURS = replace(SETTINGS, operator_image="registry.example/npa-operator:1")


def small(*, rest: bool = True, **exporter: Any) -> World:
    """Return a small cluster with an exporter, otherwise settled."""

    def ask(spec: dict[str, Any]) -> None:
        spec["slurmNodes"]["rest"] = {"enabled": rest}
        spec["slurmNodes"]["exporter"] = {"enabled": True, **exporter}

    return changed(settled(load("minimal")), ask)


def pod(decision: Decision) -> Mapping[str, Any]:
    made = next(each for each in decision.apply if name_of(each) == "small-slurm-exporter")
    found: Mapping[str, Any] = dig(made, "spec", "template", "spec")
    return found


def decided(world: World, settings: Settings = OURS) -> Decision:
    return slurmcluster.decide(world, settings)


def test_it_is_a_process_of_the_operators_image_that_asks_the_rest_api() -> None:
    decision = decided(small())
    (container,) = pod(decision)["containers"]

    assert {"Deployment/small-slurm-exporter", "Service/small-exporter-svc", "PodMonitor/small"} <= named(
        decision.apply
    )
    assert container["image"] == OURS.operator_image
    assert container["command"] == ["npa", "operator", "exporter"]
    assert container["args"][:2] == [
        "--server=http://small-rest-svc.team-a.svc.cluster.local:6820",
        "--key=/mnt/rest-jwt-key/rest_jwt.key",
    ]


@pytest.mark.parametrize(
    ("override", "image"),
    [("", "registry.example/theirs:9"), ("registry.example/slurm:3", OURS.operator_image)],
)
def test_an_image_that_is_named_is_used_unless_all_are_replaced(override: str, image: str) -> None:
    world = small(exporterContainer={"image": "registry.example/theirs:9"})
    (container,) = pod(decided(world, replace(OURS, image_override=override)))["containers"]

    assert container["image"] == image


@pytest.mark.parametrize(
    "settings",
    [SETTINGS, replace(SETTINGS, image_override="registry.example/slurm:3")],
    ids=["none-named", "all-replaced"],
)
def test_what_it_lacks_is_said_and_holds_up_nothing(settings: Settings) -> None:
    theirs = {"image": "registry.example/theirs:9"} if settings.image_override else None
    world = small(exporterContainer=theirs)
    decision = decided(world, settings)
    end = settled(world, settings)

    assert not {name for name in named(decision.apply) if "exporter" in name}
    assert condition(world, decision, "ExporterAvailable")[:2] == ("False", "NoImage")
    assert [each.type for each in decision.notices if each.reason == "NoImage"] == ["Warning"]
    assert dig(end.cluster, "status", "phase") == "Available"


def test_without_a_rest_api_it_has_a_slurmrestd_of_its_own() -> None:
    decision = decided(small(rest=False))
    exporter, slurmrestd = pod(decision)["containers"]
    mounted = {each["name"] for each in exporter["volumeMounts"]}

    assert "Deployment/small-rest" not in named(decision.apply)
    assert exporter["args"][0] == "--server=http://localhost:6820"
    assert slurmrestd["command"] == ["/usr/lib/npa/role", "rest"]
    assert slurmrestd["image"] == "localhost/npa-slurm:1"
    assert mounted == {"rest-jwt-key", "tmp"}
    # whoever is not root reads the key; the jail is nobody's to give away
    assert "securityContext" not in pod(decision)


def test_its_slurmrestd_gets_a_new_image_after_slurmctld() -> None:
    world = settled(small(rest=False), OURS)
    newer = replace(OURS, image_override="registry.example/slurm:3")
    end = settled(world, newer).objects["Deployment", "small-slurm-exporter"]

    assert named(decided(world, newer).apply) == {"StatefulSet/small-controller"}
    assert [each["image"] for each in dig(end, "spec", "template", "spec", "containers")] == [
        OURS.operator_image,
        newer.image_override,
    ]


def test_a_cluster_is_available_whether_its_exporter_has_answers_or_not() -> None:
    world = settled(small(), OURS)
    starting = dict(world.objects)
    name = ("Deployment", "small-slurm-exporter")
    starting[name] = {**starting[name], "status": {"readyReplicas": 0, "observedGeneration": 1}}
    found = replace(world, objects=starting)

    assert condition(world, decided(world), "ExporterAvailable")[0] == "True"
    assert dig(decided(found).status, "phase") == "Available"
    assert condition(found, decided(found), "ExporterAvailable")[:2] == ("False", "NotAvailable")


def test_without_prometheus_there_is_no_monitor() -> None:
    lacking = frozenset({"podmonitors.monitoring.coreos.com"})
    decision = decided(replace(small(), absent_apis=lacking))

    assert "Deployment/small-slurm-exporter" in named(decision.apply)
    assert "PodMonitor/small" not in named(decision.apply)


def test_it_goes_when_nobody_asks_for_it() -> None:
    world = changed(settled(small(), OURS), lambda spec: spec["slurmNodes"]["exporter"].update(enabled=False))

    assert {"small-slurm-exporter", "small-exporter-svc", "small"} <= {
        each.name for each in decided(world).delete
    }


def test_accounting_can_be_asked_where_there_is_some() -> None:
    world = small(jobSource="accounting")

    assert "slurmNodes.exporter.jobSource" in condition(world, decide(world), "ConfigurationValid")[2]
