"""What is decided for a SlurmCluster: worlds in, decisions out."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.golden.kube.worlds import SETTINGS, done, load, settled

from npa.reconcile import slurmcluster
from npa.reconcile.conditions import said
from npa.reconcile.decision import Decision, Reconfigure
from npa.reconcile.world import SlurmView, World
from npa.render.kube import names
from npa.render.objects import Object, dig, name_of
from npa.slurm.lookup import Found, Unknown

Change = Callable[[dict[str, Any]], None]


def decide(world: World) -> Decision:
    return slurmcluster.decide(world, SETTINGS)


def changed(world: World, change: Change) -> World:
    """Return the world after somebody edited the cluster."""
    cluster: dict[str, Any] = copy.deepcopy(dict(world.cluster or {}))
    change(cluster["spec"])
    cluster["metadata"] = {**cluster["metadata"], "generation": cluster["metadata"]["generation"] + 1}
    return replace(world, cluster=cluster)


def named(found: tuple[Object, ...]) -> set[str]:
    return {f"{each['kind']}/{name_of(each)}" for each in found}


def without(world: World, *keys: tuple[str, str]) -> World:
    return replace(world, objects={key: each for key, each in world.objects.items() if key not in keys})


def worker(ordinal: int, nodeset: str = "cpu", cluster: str = "small") -> dict[tuple[str, str], Object]:
    name = f"{nodeset}-{ordinal}"
    labels = {
        **names.labels(cluster, "worker", **{names.NODE_SET: nodeset}),
        names.WORKER: "true",
        names.ORDINAL: str(ordinal),
    }
    pod = {"kind": "Pod", "metadata": {"name": name, "namespace": "team-a", "labels": labels, "uid": name}}
    return {("Pod", name): pod}


def condition(world: World, decision: Decision, kind: str) -> tuple[str, str, str]:
    status = decision.status if decision.status is not None else dig(world.cluster or {}, "status")
    found = said({"status": status}, kind)
    assert found is not None
    return found.status, found.reason, found.message


def config_of(decision: Decision) -> Mapping[str, str]:
    maps = [each for each in decision.apply if name_of(each).endswith("-slurm-configs")]
    return maps[0]["data"] if maps else {}


def custom(text: str) -> Change:
    return lambda spec: spec.update(customSlurmConfig=text)


def test_everything_but_logins_is_made_at_once() -> None:
    decision = decide(load("minimal"))

    assert [name_of(new.wanted) for new in decision.secrets] == [
        "small-slurm-key",
        "small-rest-jwt-key",
        "small-sshd-keys",
    ]
    assert named(decision.create) == {"Job/small-populate-jail"}
    assert {"ConfigMap/small-slurm-configs", "StatefulSet/small-controller"} <= named(decision.apply)
    assert "StatefulSet/small-login" not in named(decision.apply)
    assert condition(load("minimal"), decision, "JailPopulated")[:2] == ("False", "Populating")


def test_the_status_says_what_is_so_once_the_pass_is_over() -> None:
    world = load("minimal")
    decision = decide(world)

    assert condition(world, decision, "ControllersAvailable")[2].endswith("has not been looked at yet")
    assert condition(world, decision, "LoginAvailable")[2].endswith("is not there yet")
    assert condition(world, decision, "ConfigurationApplied")[1] != "NotDelivered"
    assert condition(world, decision, "SConfigControllerAvailable")[0] == "True"


def test_logins_follow_once_the_jail_is_filled() -> None:
    world = load("minimal")
    decision = decide(done(world, decide(world)))

    assert named(decision.apply) == {"StatefulSet/small-login"}


def test_secrets_are_made_once_and_belong_to_nobody() -> None:
    secrets = decide(load("full")).secrets

    assert all("ownerReferences" not in new.wanted["metadata"] for new in secrets)
    assert "our-host-keys" not in {name_of(new.wanted) for new in secrets}
    assert decide(settled(load("full"))).secrets == ()


def test_a_change_is_delivered_and_then_taken_once() -> None:
    world = changed(settled(load("minimal")), custom("KillOnBadExit=1"))
    first = decide(world)
    delivered = done(world, first)
    delivered = replace(delivered, slurm=world.slurm)  # slurmctld knows nothing of it yet
    second = decide(delivered)
    third = decide(done(delivered, second))

    assert named(first.apply) == {"ConfigMap/small-slurm-configs"}
    assert first.slurm == ()
    digest = config_of(first)["digest"]
    assert second.slurm == (Reconfigure(digest),)
    assert third.slurm == ()


@pytest.mark.parametrize(
    ("change", "restart"),
    [
        pytest.param(custom("KillOnBadExit=1"), False, id="setting"),
        pytest.param(
            lambda spec: spec["slurmConfig"].update(topologyParam="TopoOptional"), False, id="topology"
        ),
        pytest.param(custom("PriorityType=priority/multifactor"), True, id="read-at-start"),
        pytest.param(
            lambda spec: spec["slurmConfig"].update(topologyPlugin="topology/flat"),
            True,
            id="topology-plugin",
        ),
    ],
)
def test_slurmctld_starts_anew_only_for_what_it_reads_at_start(change: Change, restart: bool) -> None:
    world = changed(settled(load("minimal")), lambda spec: spec.update(slurmConfig={}))
    world = settled(world)
    edited = changed(world, change)
    later = replace(done(edited, decide(edited)), slurm=world.slurm)
    action = decide(later).slurm[0]

    assert isinstance(action, Reconfigure)
    assert action.restart is restart


def test_the_same_in_another_order_changes_nothing() -> None:
    world = settled(load("full"))

    assert decide(replace(world, nodesets=tuple(reversed(world.nodesets)))).settled


def test_files_that_are_refused_leave_the_last_good_ones() -> None:
    world = settled(load("minimal"))
    text = (
        "maxtime=1-0\n  nodeNAME=evil CPUs=1\nslurmctldhost=elsewhere\nLicenses=matlab:10\n"
        "include /etc/shadow\nPartitionName=main Nodes=ALL State=DOWN\nAuth\\\nType=auth/munge\n"
    )
    edited = changed(world, custom(text))
    decision = decide(edited)
    status, reason, message = condition(edited, decision, "ConfigurationValid")
    again = decide(done(edited, decision))

    assert config_of(decision) == {}
    assert (status, reason) == ("False", "Refused")
    for line, key in ((1, "maxtime"), (2, "nodeNAME"), (3, "slurmctldhost"), (6, "PartitionName")):
        assert f"spec.customSlurmConfig:{line}:" in message
        assert key in message
    assert "customSlurmConfig:5:" in message  # the include
    assert "AuthType" in message  # in two lines
    assert "Licenses" not in message
    assert [(each.type, each.reason) for each in decision.notices] == [("Warning", "Refused")]
    assert decision.again_in is None or decision.again_in > 0
    assert again.settled


def test_what_is_sound_in_a_users_lines_passes_verbatim_and_last() -> None:
    text = "# ours\nLicenses=matlab:10\nslurmdTIMEOUT=600\n"
    files = config_of(decide(changed(load("minimal"), custom(text))))

    assert files["slurm.conf"].endswith(text)
    assert files["slurm.conf"].lower().count("slurmdtimeout=") == 1


def test_other_components_go_on_while_files_are_refused() -> None:
    world = changed(settled(load("minimal")), custom("NoSuchKey=1"))
    world = changed(world, lambda spec: spec["slurmNodes"]["login"].update(size=3))
    decision = decide(world)

    assert named(decision.apply) == {"StatefulSet/small-login", "PodDisruptionBudget/small-login"}


def test_a_resource_that_makes_no_sense_touches_nothing() -> None:
    world = settled(load("minimal"))
    edited = changed(
        world, lambda spec: spec["slurmNodes"]["controller"]["volumes"]["spool"].update(volumeSourceName="no")
    )
    decision = decide(edited)

    assert replace(decision, status=None, notices=(), again_in=None) == Decision()
    status, reason, message = condition(edited, decision, "ConfigurationValid")
    assert (status, reason) == ("False", "InvalidSpec")
    assert "slurmNodes.controller.volumes.spool" in message
    assert condition(edited, decision, "ControllersAvailable")[0] == "True"


def test_files_that_were_delivered_are_taken_though_the_resource_makes_no_sense_now() -> None:
    world = changed(settled(load("minimal")), custom("KillOnBadExit=1"))
    later = replace(done(world, decide(world)), slurm=world.slurm)
    senseless = changed(
        later, lambda spec: spec["slurmNodes"]["controller"]["volumes"]["spool"].update(volumeSourceName="no")
    )
    decision = decide(senseless)
    delivered = dig(senseless.find("ConfigMap", "small-slurm-configs") or {}, "data", "digest")

    assert decision.slurm == (Reconfigure(delivered),)
    assert decide(done(senseless, decision)).slurm == ()


def test_a_partition_waits_for_its_nodesets() -> None:
    world = load("full")
    decision = decide(
        replace(world, nodesets=tuple(each for each in world.nodesets if name_of(each) != "gpu"))
    )
    text = config_of(decision)["slurm.conf"]

    assert 'PartitionName=later Nodes="" ' in text
    assert text.count("NodeName=burst-") == 1
    status, reason, message = condition(world, decision, "NodeSetRefsResolved")
    assert (status, reason) == ("False", "IgnoredNodeSetRefs")
    assert "partition later: NodeSet gpu" in message
    assert ("Warning", "IgnoredNodeSetRefs") in {(each.type, each.reason) for each in decision.notices}
    healed = decide(settled(world))
    assert "gpu" not in condition(settled(world), healed, "NodeSetRefsResolved")[2].replace("partition", "")


def test_files_without_any_node_can_be_loaded() -> None:
    decision = decide(replace(load("full"), nodesets=()))

    assert condition(load("full"), decision, "ConfigurationValid")[0] == "True"
    assert "topology.yaml" not in config_of(decision)


def test_a_worker_that_still_has_a_pod_stays_in_the_files() -> None:
    world = load("minimal")
    shrunk = replace(world, objects=worker(6))

    assert "NodeName=cpu-[0-6] " in config_of(decide(shrunk))["slurm.conf"]


def test_nodes_of_a_nodeset_that_is_no_more_stay_while_they_have_pods() -> None:
    world = settled(load("full"))
    gone = replace(
        world,
        nodesets=tuple(each for each in world.nodesets if name_of(each) != "gpu"),
        objects={**world.objects, **worker(2, "gpu", "train")},
    )
    decision = decide(gone)
    files = config_of(decision)

    assert condition(gone, decision, "ConfigurationValid")[0] == "True"
    assert "NodeName=gpu-[0-3] NodeAddr=gpu-[0-3].train-nodeset-svc" in files["slurm.conf"]
    assert '"burst-[0-15],gpu-[0-3]"' in files["topology.yaml"]
    assert "NodeName=gpu-[0-3] Name=gpu Type=h100" in files["gres.conf"]


@pytest.mark.parametrize("kind", ["ConfigMap", "Pod", "NodeSet", "Secret"])
def test_files_stay_while_something_they_depend_on_cannot_be_read(kind: str) -> None:
    world = changed(settled(load("minimal")), custom("KillOnBadExit=1"))
    decision = decide(replace(world, unread=(kind,)))

    assert config_of(decision) == {}
    assert decision.delete == ()
    assert condition(world, decision, "ConfigurationValid")[:2] == ("Unknown", "Unknown")


@pytest.mark.parametrize(
    "kind", ["Secret", "Job", "StatefulSet", "Service", "ConfigMap", "PersistentVolumeClaim"]
)
def test_what_cannot_be_read_is_neither_made_nor_deleted(kind: str) -> None:
    world = settled(load("full"))
    lost = replace(without(world, *(key for key in world.objects if key[0] == kind)), unread=(kind,))
    decision = decide(lost)

    assert decision.secrets == ()
    assert kind not in {each["kind"] for each in (*decision.create, *decision.apply)}
    assert decision.delete == ()


def test_too_large_files_name_the_largest() -> None:
    lines = "".join(f"# site note {number:06d} {'x' * 80}\n" for number in range(12_000))
    world = changed(settled(load("minimal")), custom(lines))
    decision = decide(world)

    assert config_of(decision) == {}
    message = condition(world, decision, "ConfigurationValid")[2]
    assert "slurm.conf" in message
    assert "ConfigMap holds" in message


def test_a_slurmctld_that_does_not_answer_is_told_nothing() -> None:
    world = settled(load("minimal"))
    silent = replace(world, slurm=SlurmView(digest=Unknown("exec: no answer in 10 s")))
    decision = decide(silent)

    assert decision.slurm == ()
    assert condition(silent, decision, "ConfigurationApplied")[:2] == ("Unknown", "Unknown")


def test_conditions_keep_the_moment_they_turned() -> None:
    world = settled(load("minimal"))
    later = replace(world, now=world.now + 3600)
    silent = replace(later, slurm=SlurmView(digest=Unknown("no answer")))
    decision = decide(silent)
    assert decision.status is not None
    moments = {row["type"]: row["lastTransitionTime"] for row in decision.status["conditions"]}

    assert decide(later).settled
    assert moments["ConfigurationApplied"] == "2027-01-15T09:00:00Z"
    assert moments["ConfigurationValid"] == "2027-01-15T08:00:00Z"


def test_what_others_say_in_the_status_is_no_difference() -> None:
    world = settled(load("minimal"))
    assert world.cluster is not None
    status = world.cluster["status"]
    row = {"type": "Reconciled", "status": "False", "reason": "KubeError", "message": "no"}
    told = {**world.cluster, "status": {**status, "conditions": [*status["conditions"], row]}}

    assert decide(replace(world, cluster=told)).settled


def test_null_and_empty_are_as_if_not_given() -> None:
    bare = load("minimal")

    def nothing(spec: dict[str, Any]) -> None:
        spec["customSlurmConfig"] = None
        spec["slurmNodes"]["login"]["volumes"]["jailSubMounts"] = []
        spec["slurmNodes"]["login"]["volumes"]["customMounts"] = None
        spec["slurmNodes"]["login"]["sshdServiceAnnotations"] = {}
        spec["slurmNodes"]["rest"] = None
        spec["partitionConfiguration"] = None

    assert decide(changed(bare, nothing)).apply == decide(changed(bare, lambda _: None)).apply


def test_rest_needs_no_accounting() -> None:
    world = changed(settled(load("minimal")), lambda spec: spec["slurmNodes"]["rest"].update(enabled=True))
    decision = decide(world)

    assert named(decision.apply) == {"Service/small-rest-svc", "Deployment/small-rest"}
    assert condition(world, decision, "RestAvailable")[:2] == ("False", "NotAvailable")
    assert condition(settled(world), decide(settled(world)), "RestAvailable")[0] == "True"


def test_accounting_is_told_to_slurmctld_when_slurmdbd_answers() -> None:
    world = changed(
        settled(load("minimal")), lambda spec: spec["slurmNodes"]["accounting"].update(enabled=True)
    )
    first = decide(world)
    there = done(world, first)
    starting = dict(there.objects)
    starting["StatefulSet", "small-accounting"] = {
        **starting["StatefulSet", "small-accounting"],
        "status": {"readyReplicas": 0, "updatedReplicas": 1, "observedGeneration": 1},
    }

    assert "StatefulSet/small-accounting" in named(first.apply)
    assert config_of(first) == {}
    assert config_of(decide(replace(there, objects=starting))) == {}
    assert "AccountingStorageType" in config_of(decide(there))["slurm.conf"]


def test_what_is_switched_off_goes_and_its_data_stay() -> None:
    def off(spec: dict[str, Any]) -> None:
        for component in ("rest", "accounting", "exporter"):
            spec["slurmNodes"][component].update(enabled=False)

    world = changed(settled(load("full")), off)
    gone = {f"{each.kind.kind}/{each.name}" for each in decide(world).delete}

    assert gone == {
        "Deployment/train-rest",
        "Service/train-rest-svc",
        "Deployment/train-slurm-exporter",
        "Service/train-exporter-svc",
        "PodMonitor/train",
        "StatefulSet/train-accounting",
        "Service/train-accounting-svc",
        "Secret/train-slurmdbd-configs",
    }


def test_somebody_elses_object_of_the_same_name_is_left_alone() -> None:
    world = settled(load("minimal"))
    foreign = {"kind": "Deployment", "metadata": {"name": "small-rest", "uid": "x", "namespace": "team-a"}}

    decision = decide(replace(world, objects={**world.objects, ("Deployment", "small-rest"): foreign}))

    assert decision.delete == ()


def test_maintenance_waits_for_the_workers_and_then_for_slurmctld() -> None:
    world = settled(load("full"))
    down = changed(world, lambda spec: spec.update(maintenance="downscale"))
    busy = replace(down, objects={**down.objects, **worker(0, "gpu", "train")})
    waiting, going = decide(busy), decide(down)
    replicas = {name_of(each): dig(each, "spec", "replicas") for each in going.apply}

    assert named(waiting.apply) == set()
    assert condition(busy, waiting, "CommonAvailable")[:2] == ("False", "Maintenance")
    assert "1 workers" in condition(busy, waiting, "CommonAvailable")[2]
    assert replicas == {
        "train-controller": 0,
        "train-login": 0,
        "train-rest": 0,
        "train-accounting": 0,
        "train-slurm-exporter": 0,
    }
    metadata = {"name": "train-controller-0", "labels": names.labels("train", "controller")}
    ctld = {("Pod", "train-controller-0"): {"kind": "Pod", "metadata": metadata}}
    still = decide(replace(down, objects={**down.objects, **ctld}))
    assert "train-accounting" not in {name_of(each) for each in still.apply}


def test_maintenance_keeps_up_while_pods_cannot_be_read() -> None:
    down = changed(settled(load("full")), lambda spec: spec.update(maintenance="downscale"))

    assert decide(replace(down, unread=("Pod",))).apply == ()


def test_daemons_get_a_new_image_after_those_that_serve_them() -> None:
    world = changed(settled(load("full")), lambda _: None)
    newer = replace(SETTINGS, image_override="registry.example/slurm:3")
    turns = []
    for _ in range(4):
        decision = slurmcluster.decide(world, newer)
        turns.append({name_of(each) for each in decision.apply})
        world = done(world, decision)

    assert turns == [
        {"train-accounting"},
        {"train-controller"},
        {"train-login", "train-rest"},
        set(),
    ]


def test_logins_wait_for_the_sshd_config_that_is_named() -> None:
    def own(spec: dict[str, Any]) -> None:
        spec["slurmNodes"]["login"]["sshdConfigMapRefName"] = "ours"

    world = changed(settled(load("minimal")), own)
    held = {"kind": "ConfigMap", "metadata": {"name": "ours"}, "data": {"sshd_config": "Port 22\n"}}
    lacking, given = (
        decide(world),
        decide(replace(world, objects={**world.objects, ("ConfigMap", "ours"): held})),
    )

    assert named(lacking.apply) == set()
    assert named(given.apply) == {"StatefulSet/small-login"}
    assert lacking.again_in is not None


def test_monitors_are_made_only_where_prometheus_is() -> None:
    there, lacking = load("minimal"), frozenset({"servicemonitors.monitoring.coreos.com"})

    assert "ServiceMonitor/small-slurmctld-metrics" in named(decide(there).apply)
    assert not [
        each for each in decide(replace(there, absent_apis=lacking)).apply if each["kind"] == "ServiceMonitor"
    ]


def test_several_logins_are_not_taken_all_at_once() -> None:
    budget = "PodDisruptionBudget/train-login"
    one = changed(settled(load("full")), lambda spec: spec["slurmNodes"]["login"].update(size=1))
    lacking = replace(load("full"), absent_apis=frozenset({"poddisruptionbudgets.policy"}))

    assert budget in named(decide(load("full")).apply)
    assert [f"{each.kind.kind}/{each.name}" for each in decide(one).delete] == [budget]
    assert budget not in named(decide(lacking).apply)


def test_fields_without_effect_are_named() -> None:
    world = changed(load("minimal"), lambda spec: spec.update(crVersion="5.0.0"))

    status, reason, message = condition(world, decide(world), "IgnoredFields")
    assert (status, reason) == ("True", "FieldsIgnored")
    assert message.startswith("Ignored fields: ")
    assert "spec.crVersion" in message


def test_a_view_of_slurm_is_no_reason_to_write() -> None:
    world = settled(load("minimal"))
    assert isinstance(world.slurm.digest, Found)

    assert decide(replace(world, slurm=replace(world.slurm, read_at=world.now + 5))).settled
