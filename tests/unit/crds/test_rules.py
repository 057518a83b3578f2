from __future__ import annotations

from typing import Any

import pytest
from tests.unit.crds import objects

from npa.crds import admission, nodeset, rules, schema
from npa.crds.accounting import AccountingConfig, SlurmdbdConfig
from npa.crds.admission import Neighbours, Verdict
from npa.crds.settings import HealthCheckConfig, MpiConfig, SlurmConfig

NODES = "spec.slurmNodes"
JAIL = {"name": "jail", "emptyDir": {}}
BOTH = "an external database and mariadb-operator's"
STRUCTURED = {"configType": "structured"}


def review(obj: dict[str, Any], *siblings: dict[str, Any], old: dict[str, Any] | None = None) -> Verdict:
    """Judge an object among others; NodeSets are of cluster `c`."""
    clusters = tuple(each for each in siblings if each["kind"] == "SlurmCluster")
    nodesets = tuple(each for each in siblings if each["kind"] == "NodeSet")
    return admission.review(obj, old, Neighbours(clusters or (objects.cluster(),), nodesets))


def said(verdict: Verdict) -> dict[str, str]:
    return {each.at: each.message for each in verdict.problems}


def external(**fields: Any) -> dict[str, Any]:
    secret = {"name": "db", "key": "password"}
    whole = {"enabled": True, "host": "db", "user": "u", "passwordSecretKeyRef": secret} | fields
    return {"enabled": True, "externalDB": whole}


CLUSTERS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "two filters of one name": (
        {"k8sNodeFilters": [{"name": "a"}, {"name": "a"}]},
        {"spec.k8sNodeFilters[1].name": "there is another filter 'a'"},
    ),
    "a filter that is not there": (
        {"k8sNodeFilters": [{"name": "a"}], "slurmNodes__login__k8sNodeFilterName": "b"},
        {f"{NODES}.login.k8sNodeFilterName": "there is no filter 'b'"},
    ),
    "a filter of what does not run": ({"slurmNodes__rest": {"k8sNodeFilterName": "b"}}, {}),
    "two volume sources of one name": (
        {"volumeSources": [JAIL, JAIL]},
        {"spec.volumeSources[1].name": "there is another volume source 'jail'"},
    ),
    "two kinds of volume": (
        {"volumeSources": [{**JAIL, "hostPath": {"path": "/x"}}]},
        {"spec.volumeSources[0]": "is several volumes: emptyDir, hostPath"},
    ),
    "no kind of volume": ({"volumeSources": [{"name": "jail"}]}, {"spec.volumeSources[0]": "is no volume"}),
    "a volume that is not there": (
        {"slurmNodes__login__volumes__jail": {"volumeSourceName": "cellar"}},
        {f"{NODES}.login.volumes.jail.volumeSourceName": "there is no volume source 'cellar'"},
    ),
    "a volume from two places": (
        {"slurmNodes__login__volumes__jail": {"volumeSourceName": "jail", "volumeClaimTemplateSpec": {}}},
        {f"{NODES}.login.volumes.jail": "is both a named source and a claim"},
    ),
    "a volume from nowhere": (
        {"slurmNodes__controller__volumes__spool": {}},
        {f"{NODES}.controller.volumes.spool": "is neither a named source nor a claim"},
    ),
    "mounts of one place": (
        {
            "slurmNodes__login__volumes__customMounts": [
                {"name": "a", "mountPath": "/x/", "volumeSourceName": "jail"},
                {"name": "b", "mountPath": "/x", "volumeSourceName": "jail"},
                {"name": "jail", "mountPath": "y", "volumeSourceName": "jail", "subPath": "../.."},
            ]
        },
        {
            f"{NODES}.login.volumes.customMounts[1].mountPath": "'/x' is mounted twice",
            f"{NODES}.login.volumes.customMounts[2].name": "there is another volume 'jail' in the pod",
            f"{NODES}.login.volumes.customMounts[2].mountPath": "'y' is no place in a container",
            f"{NODES}.login.volumes.customMounts[2].subPath": "'../..' leads out of the volume",
        },
    ),
    "the same place inside and outside the jail": (
        {
            "slurmNodes__login__volumes__customMounts": [
                {"name": "a", "mountPath": "/x", "volumeSourceName": "jail"}
            ],
            "slurmNodes__login__volumes__jailSubMounts": [
                {"name": "b", "mountPath": "/x", "volumeSourceName": "jail"}
            ],
        },
        {},
    ),
    "no key": (
        {"slurmNodes__login__sshRootPublicKeys": []},
        {f"{NODES}.login.sshRootPublicKeys": "nobody could log in"},
    ),
    "no key and no login": (
        {"slurmNodes__login__sshRootPublicKeys": [], "slurmNodes__login__size": 0},
        {},
    ),
    "two keys in one": (
        {"slurmNodes__login__sshRootPublicKeys": ["ssh-rsa A\nssh-rsa B"]},
        {f"{NODES}.login.sshRootPublicKeys[0]": "holds a line break or a control character"},
    ),
    "less than no login": ({"slurmNodes__login__size": -1}, {f"{NODES}.login.size": "-1 is no count"}),
    "a Service of no kind": (
        {"slurmNodes__login__sshdServiceType": "ExternalName"},
        {f"{NODES}.login.sshdServiceType": "'ExternalName' is none of them"},
    ),
    "the last node port": (
        {"slurmNodes__login__sshdServiceType": "NodePort", "slurmNodes__login__sshdServiceNodePort": 32767},
        {},
    ),
    "a node port beyond the last": (
        {"slurmNodes__login__sshdServiceType": "NodePort", "slurmNodes__login__sshdServiceNodePort": 32768},
        {f"{NODES}.login.sshdServiceNodePort": "32768 is no node port"},
    ),
    "any node port": ({"slurmNodes__login__sshdServiceType": "NodePort"}, {}),
    "addresses that are none": (
        {
            "slurmNodes__login__sshdServiceLoadBalancerIP": "here",
            "slurmNodes__login__sshdServiceLoadBalancerSourceRanges": ["10.0.0.0/8", "everywhere"],
        },
        {
            f"{NODES}.login.sshdServiceLoadBalancerIP": "'here' is no address",
            f"{NODES}.login.sshdServiceLoadBalancerSourceRanges[1]": "'everywhere' is no network",
        },
    ),
    "users who may take more than there is": (
        {"slurmNodes__login__userIsolation": {"memoryHigh": "9Gi", "memoryMax": 0}},
        {
            f"{NODES}.login.userIsolation.memoryHigh": "must not be more than memoryMax",
            f"{NODES}.login.userIsolation.memoryMax": "must be more than 0",
        },
    ),
    "ports that are none": (
        {"slurmNodes__controller__slurmctld__port": 0, "slurmNodes__login__sshd__port": 70000},
        {
            f"{NODES}.controller.slurmctld.port": "0 is no port",
            f"{NODES}.login.sshd.port": "70000 is no port",
        },
    ),
    "two databases": (
        {
            "slurmNodes__accounting": {
                **external(),
                "mariadbOperator": {"enabled": True, "image": "mariadb"},
            }
        },
        {f"{NODES}.accounting.externalDB.enabled": f"{BOTH} are both enabled"},
    ),
    "two databases and no accounting": (
        {
            "slurmNodes__accounting": {
                **external(),
                "enabled": False,
                "mariadbOperator": {"enabled": True, "image": "mariadb"},
            }
        },
        {},
    ),
    "a database of nobody": (
        {"slurmNodes__accounting": {"enabled": True, "externalDB": {"enabled": True}}},
        {
            f"{NODES}.accounting.externalDB.{key}": "is required with an external database"
            for key in ("host", "user", "passwordSecretKeyRef.name", "passwordSecretKeyRef.key")
        },
    ),
    "c66 a database's port in its name": ({"slurmNodes__accounting": external(host="db.example:3306")}, {}),
    "a database at no host": (
        {"slurmNodes__accounting": external(host="mysql://db")},
        {f"{NODES}.accounting.externalDB.host": "'mysql://db' is no host name"},
    ),
    "a database at an address": ({"slurmNodes__accounting": external(host="fd00::1")}, {}),
    "c66 REST without accounting": ({"slurmNodes__rest": {"enabled": True}}, {}),
    "partitions of one name": (
        {"partitionConfiguration": {**STRUCTURED, "partitions": [{"name": "p", "isAll": True}] * 2}},
        {"spec.partitionConfiguration.partitions[1].name": "there is another partition 'p'"},
    ),
    "a partition that Slurm takes for defaults": (
        {"partitionConfiguration": {**STRUCTURED, "partitions": [{"name": "Default", "isAll": True}]}},
        {"spec.partitionConfiguration.partitions[0].name": "'Default' is no name of a partition"},
    ),
    "no partition": (
        {"partitionConfiguration": STRUCTURED},
        {"spec.partitionConfiguration.partitions": "structured needs at least one partition"},
    ),
    "c32 lines that are no partitions": (
        {
            "partitionConfiguration": {
                "configType": "custom",
                "rawConfig": ["partitionNAME=a Nodes=ALL", "SlurmUser=root", ""],
            }
        },
        {"spec.partitionConfiguration.rawConfig[1]": "'SlurmUser=root' does not begin with PartitionName"},
    ),
    "lines of another mode": ({"partitionConfiguration": {"rawConfig": ["SlurmUser=root"]}}, {}),
}


@pytest.mark.parametrize(("changes", "expected"), CLUSTERS.values(), ids=CLUSTERS)
def test_cluster(changes: dict[str, Any], expected: dict[str, str]) -> None:
    assert said(review(objects.cluster(**changes))) == expected


LINE = "value 'x\\nSlurmUser=root' contains the control character '\\n'"
INJECTED: dict[str, tuple[dict[str, Any], str]] = {
    f"{NODES}.accounting.externalDB.user": (
        {"slurmNodes__accounting": external(user="x\nSlurmUser=root")},
        LINE,
    ),
    "spec.slurmConfig.prolog": ({"slurmConfig": {"prolog": "x\nSlurmUser=root"}}, LINE),
    "spec.mpiConfig.pmixEnv": ({"mpiConfig": {"pmixEnv": "x\nSlurmUser=root"}}, LINE),
    "spec.slurmConfig.epilog": (
        {"slurmConfig": {"epilog": "/x # y"}},
        "value '/x # y' contains `#`, which starts a comment",
    ),
    "spec.slurmConfig.taskProlog": (
        {"slurmConfig": {"taskProlog": "/x\\"}},
        "value '/x\\\\' contains a backslash",
    ),
    f"{NODES}.accounting.slurmdbdConfig.purgeJobAfter": (
        {"slurmNodes__accounting": {"slurmdbdConfig": {"purgeJobAfter": "x\nSlurmUser=root"}}},
        LINE,
    ),
    "spec.plugStackConfig.customPlugins[0].path": (
        {"plugStackConfig__customPlugins": [{"path": "/x.so\nrequired /y.so"}]},
        "value '/x.so\\nrequired /y.so' contains the control character '\\n'",
    ),
    "spec.plugStackConfig.pyxis.importerPath": (
        {"plugStackConfig__pyxis": {"importerPath": "x\nSlurmUser=root"}},
        LINE,
    ),
    "spec.partitionConfiguration.partitions[0].config": (
        {
            "partitionConfiguration": {
                **STRUCTURED,
                "partitions": [{"name": "p", "isAll": True, "config": "State=UP\nSlurmUser=root"}],
            }
        },
        "'State=UP\\nSlurmUser=root' is more than one line",
    ),
    "spec.partitionConfiguration.partitions[0].nodeSetRefs[0]": (
        {"partitionConfiguration": {**STRUCTURED, "partitions": [{"name": "p", "nodeSetRefs": ["a b"]}]}},
        "a blank in a word",
    ),
    f"{NODES}.accounting.externalDB.storageParameters['a']": (
        {"slurmNodes__accounting": external(storageParameters={"a": "b c"})},
        "a blank in a word",
    ),
}


@pytest.mark.parametrize("at", INJECTED)
def test_no_text_becomes_another_line(at: str) -> None:
    changes, expected = INJECTED[at]
    found = said(review(objects.cluster(**changes)))

    assert list(found) == [at]
    assert expected in found[at]


PARTS = {
    "slurmConfig": SlurmConfig,
    "mpiConfig": MpiConfig,
    "healthCheckConfig": HealthCheckConfig,
    "slurmNodes__accounting__slurmConfig": AccountingConfig,
    "slurmNodes__accounting__slurmdbdConfig": SlurmdbdConfig,
}
TEXTS = [
    (part, key)
    for part, model in PARTS.items()
    for key, each in schema.fields(model).items()
    if each.annotation is str
]
CHECKED = {
    "healthCheckInterval": 60,
    "healthCheckProgram": "/x",
    "healthCheckNodeState": [{"state": "ANY"}],
}


@pytest.mark.parametrize(("part", "key"), TEXTS)
@pytest.mark.parametrize(
    "text", ["x\nSlurmUser=root", "x\rSlurmUser=root", "x\u2028y", "a # b", "a\\", 'a"b']
)
def test_each_text_of_a_setting_is_one_value(part: str, key: str, text: str) -> None:
    whole = CHECKED if part == "healthCheckConfig" else {}
    changes: dict[str, Any] = {part: {**whole, key: text}}
    found = said(review(objects.cluster(**changes)))

    assert list(found) == [f"spec.{part.replace('__', '.')}.{key}"]


NODESETS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "nothing said of CPUs": (
        {"slurmd__resources": {"memory": "0"}},
        {"spec.slurmd.resources.cpu": "is required", "spec.slurmd.resources.memory": "'0' is nothing"},
    ),
    "less than none": (
        {"replicas": -1, "slurmd__port": 0},
        {"spec.replicas": "-1 is no count", "spec.slurmd.port": "0 is no port"},
    ),
    "none at once": ({"maxUnavailable": 0}, {"spec.maxUnavailable": "0 is out of its range"}),
    "half a percentage": ({"maxUnavailable": "50"}, {"spec.maxUnavailable": "'50' is no percentage"}),
    "half of a thousand": ({"maxUnavailable": "50%", "replicas": 1000}, {}),
    "half of more": (
        {"maxUnavailable": "50%", "replicas": 1002},
        {"spec.maxUnavailable": "50% of 1002 workers is more than 500"},
    ),
    "c59 a part of none": ({"maxUnavailable": "10%", "replicas": 0}, {}),
    "a variable of ours": (
        {"slurmd__customEnv": [{"name": "SOPERATOR_NODE_REAL_MEMORY_BYTES", "value": "1"}]},
        {"spec.slurmd.customEnv[0].name": "SOPERATOR_NODE_REAL_MEMORY_BYTES is set by the operator"},
    ),
    "a spool that is claimed": (
        {"slurmd__volumes__spool": {"volumeClaimTemplateSpec": {"resources": {}}}},
        {},
    ),
    "a jail that is nothing": ({"slurmd__volumes__jail": {}}, {"spec.slurmd.volumes.jail": "is no volume"}),
    "a mount from two places": (
        {
            "slurmd__volumes__customVolumeMounts": [
                {
                    "name": "a",
                    "mountPath": "/a",
                    "volumeSource": {"emptyDir": {}},
                    "volumeClaimTemplateSpec": {},
                },
                {"name": "b", "mountPath": "/b"},
            ]
        },
        {
            "spec.slurmd.volumes.customVolumeMounts[0]": "is both a source and a claim",
            "spec.slurmd.volumes.customVolumeMounts[1]": "is neither a source nor a claim",
        },
    ),
    "mounts of one place": (
        {
            "slurmd__volumes__jailSubMounts": [
                {"name": "a", "mountPath": "/a", "volumeSource": {"emptyDir": {}}},
                {"name": "a", "mountPath": "/a", "volumeSource": {"emptyDir": {}}},
            ],
            "slurmd__volumes__customVolumeMounts": [
                {"name": "b", "mountPath": "/a", "volumeSource": {"emptyDir": {}}},
            ],
        },
        {
            "spec.slurmd.volumes.jailSubMounts[1].name": "there is another volume 'a' in the pod",
            "spec.slurmd.volumes.jailSubMounts[1].mountPath": "'/a' is mounted twice",
        },
    ),
    "words that are more": (
        {"nodeConfig": {"features": ["a,b", "c d"], "dynamic": "a\nb", "static": "CPUs=4\nNodeName=evil"}},
        {
            "spec.nodeConfig.static": "'CPUs=4\\nNodeName=evil' is more than one line",
            "spec.nodeConfig.dynamic": "dynamic: value 'a\\nb' contains the control character '\\n'",
            "spec.nodeConfig.features[0]": "'a,b' is several features",
            "spec.nodeConfig.features[1]": "features[1]: a blank in a word",
        },
    ),
    "a line with a comment": (
        {"nodeConfig": {"gresConfig": ["Name=gpu # File=/dev/nvidia0"]}},
        {"spec.nodeConfig.gresConfig[0]": "'Name=gpu # File=/dev/nvidia0' holds `#` or a backslash"},
    ),
}


@pytest.mark.parametrize(("changes", "expected"), NODESETS.values(), ids=NODESETS)
def test_nodeset(changes: dict[str, Any], expected: dict[str, str]) -> None:
    assert said(review(objects.nodeset(**changes))) == expected


NAMES: dict[str, tuple[dict[str, Any], str]] = {
    "a cluster of 42 characters": (objects.cluster("c" * 42), "would be too long"),
    "a cluster with a dot": (objects.cluster("a.b"), "cannot begin the name of a Service"),
    "a cluster with a digit first": (objects.cluster("1a"), "cannot begin the name of a Service"),
    "a NodeSet with a dot": (objects.nodeset("a.b"), "cannot begin a host name"),
    "every node": (objects.nodeset("all"), "`ALL` is every node to Slurm"),
    "the controller's pod": (objects.nodeset("c-controller"), "would be called as a pod of cluster 'c'"),
    "a worker of another": (objects.nodeset("other-1"), "is called as a worker of NodeSet 'other'"),
    "a Service of 64 characters": (objects.nodeset("w" * 50), "its Service would be"),
}


@pytest.mark.parametrize(("obj", "expected"), NAMES.values(), ids=NAMES)
def test_names_after_expansion(obj: dict[str, Any], expected: str) -> None:
    (problem,) = review(obj, objects.nodeset("other", replicas=2)).problems

    assert problem.at == "metadata.name"
    assert expected in problem.message
    assert problem.hint


@pytest.mark.parametrize(("replicas", "wrong"), [(100, 0), (101, 1)])
def test_the_last_worker_has_a_host_name(replicas: int, wrong: int) -> None:
    found = nodeset.parse(objects.nodeset("w" * 60, replicas=replicas))

    assert len(rules.nodeset_problems(found)) == wrong


def test_names_that_are_just_short_enough() -> None:
    assert review(objects.cluster("c" * 41)).allowed
    assert review(objects.nodeset("w" * 49, replicas=100)).allowed
    assert review(objects.nodeset("other-2"), objects.nodeset("other", replicas=2)).allowed
    assert review(objects.nodeset("other-01"), objects.nodeset("other", replicas=2)).allowed


def test_a_set_that_would_swallow_anothers_name_may_not_grow() -> None:
    grown = objects.nodeset("other", replicas=3)
    verdict = review(grown, objects.nodeset("other-2"), old=objects.nodeset("other", replicas=2))

    assert said(verdict) == {"metadata.name": "NodeSet 'other-2' is called as a worker of NodeSet 'other'"}


CHECKS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "no job": (
        {"checkType": "k8sJob"},
        {"spec.k8sJobSpec": "is required with checkType k8sJob"},
    ),
    "two scripts": (
        {"slurmJobSpec": {"sbatchScript": "x", "sbatchScriptRefName": "y", "maxNumberOfJobs": -1}},
        {
            "spec.slurmJobSpec.sbatchScript": "there are two scripts",
            "spec.slurmJobSpec.maxNumberOfJobs": "-1 is no count",
        },
    ),
    "no script": ({"slurmJobSpec": {}}, {"spec.slurmJobSpec.sbatchScript": "there is no script"}),
    "two reactions": (
        {"failureReactions": {"drainSlurmNode": {}, "commentSlurmNode": {}}},
        {"spec.failureReactions": "drains and comments"},
    ),
    "itself": ({"dependsOn": ["hello"]}, {"spec.dependsOn": "it depends on itself"}),
    "no time": (
        {"schedule": "now", "activeDeadlineSeconds": 0},
        {"spec.schedule": "'now' is no schedule", "spec.activeDeadlineSeconds": "0 is no time"},
    ),
    "a name that is too long": (
        {"name": "h" * 52},
        {"spec.name": f"{'h' * 52!r} cannot begin the name of a job"},
    ),
}


@pytest.mark.parametrize(("changes", "expected"), CHECKS.values(), ids=CHECKS)
def test_check(changes: dict[str, Any], expected: dict[str, str]) -> None:
    assert said(review(objects.check(**changes))) == expected


def item(path: str, **rest: Any) -> dict[str, Any]:
    return {"key": "k", "path": path, **rest}


ELSEWHERE: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "no file": (
        objects.other("JailedConfig", configMap={"name": "m"}),
        {"spec.items": "names no file"},
    ),
    "files out of place": (
        objects.other(
            "JailedConfig",
            configMap={"name": "m"},
            items=[item("etc/x"), item("/etc/../x"), item("/"), item("/a", mode=0o10000), item("/a")],
        ),
        {
            "spec.items[0].path": "'etc/x' is no file in the jail",
            "spec.items[1].path": "'/etc/../x' is no file in the jail",
            "spec.items[2].path": "'/' is no file in the jail",
            "spec.items[3].mode": "4096 is no mode",
            "spec.items[4].path": "'/a' is written twice",
        },
    ),
    "a file": (objects.other("JailedConfig", configMap={"name": "m"}, items=[item("/etc/x")]), {}),
    "a rebooter of no image": (
        objects.other("NodeConfigurator"),
        {"spec.rebooter.image": "is required where it is enabled"},
    ),
    "a container of no image": (
        objects.other("NodeConfigurator", rebooter={"enabled": False}, customContainer={"enabled": True}),
        {"spec.customContainer.image": "is required where it is enabled"},
    ),
    "nothing on nodes": (objects.other("NodeConfigurator", rebooter={"enabled": False}), {}),
    "workers that are none": (
        objects.other("NodeSetPowerState", nodeSetRef="w", activeNodes=[0, -1, 0]),
        {"spec.activeNodes[1]": "-1 is no worker", "spec.activeNodes[2]": "0 is there twice"},
    ),
    "a kind of others": (
        {"kind": "Pod", "spec": {}},
        {"kind": "'Pod' is no kind of ours"},
    ),
}


@pytest.mark.parametrize(("obj", "expected"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_elsewhere(obj: dict[str, Any], expected: dict[str, str]) -> None:
    assert said(review(obj)) == expected
