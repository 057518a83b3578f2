"""The definitions on real API servers: what they take, what they complete, what they refuse."""

from __future__ import annotations

import copy
import json
from functools import partial
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml
from tests.kube.bed import HOME, Bed, Done, until
from tests.unit.crds import objects

from npa.crds import definitions, nodeset, slurmcluster
from npa.targets.kubernetes import installing

OLD = HOME.parent / "data" / "existing-manifests"
KUBERNETES = "1.36"
RENDERED = {each["spec"]["names"]["kind"]: each for each in definitions.render()}
PLURALS = [each.plural for each in definitions.APIS]


@pytest.fixture(scope="module", params=["mini", "strict"])
def api(request: pytest.FixtureRequest) -> Bed:
    """Give an API server that serves our kinds: that of today, and apiextensions beside the real one."""
    found: Bed = request.getfixturevalue(request.param)
    return installed(found)


@pytest.fixture(scope="module")
def today(mini: Bed) -> Bed:
    """Give the one of today alone."""
    return installed(mini)


def installed(on: Bed) -> Bed:
    done = on.apply(*definitions.render())
    assert done.code == 0, str(done)
    for plural in PLURALS:
        until(partial(served, on, plural), f"{plural} served")
    return on


def served(on: Bed, plural: str) -> bool:
    return on.kubectl("get", f"{plural}.{definitions.GROUP}").code == 0


def written(on: Bed, obj: dict[str, Any]) -> dict[str, Any]:
    """Create an object without leaving it there; returns what the API server made of it."""
    done = on.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", given=yaml.safe_dump(obj))
    assert done.code == 0, str(done)
    found: dict[str, Any] = json.loads(done.out)
    return found


def refused(on: Bed, obj: dict[str, Any]) -> str:
    """Return what the API server says against an object."""
    done = on.kubectl("create", "--dry-run=server", "-f", "-", given=yaml.safe_dump(obj))
    assert done.code != 0, str(done)
    return done.err


@pytest.mark.parametrize("kind", RENDERED)
def test_a_definition_is_one_to_kubernetes(kind: str) -> None:
    kubernetes_validate.validate(RENDERED[kind], KUBERNETES, strict=True)


def test_definitions_are_applied_by_kubectl_twice(api: Bed) -> None:
    done = api.apply(*definitions.render())

    assert done.code == 0, str(done)
    assert "configured" not in done.out
    for each in PLURALS:
        found = api.get("crd", f"{each}.{definitions.GROUP}", "")
        assert {row["type"]: row["status"] for row in found["status"]["conditions"]} == {
            "NamesAccepted": "True",
            "Established": "True",
        }


def old_manifests() -> list[Any]:
    found = sorted(OLD.glob("*.yaml"))
    lack = f"no manifests of the existing operator in {OLD}"
    return [
        *(pytest.param(path, id=path.stem) for path in found),
        *([] if found else [pytest.param(OLD, marks=pytest.mark.skip(reason=lack))]),
    ]


@pytest.mark.parametrize("path", old_manifests())
def test_a_manifest_of_the_existing_operator_is_taken_unchanged(api: Bed, path: Any) -> None:
    manifest = yaml.safe_load(path.read_text())
    manifest["metadata"]["namespace"] = "default"
    done = api.apply(manifest)
    kind = manifest["kind"]
    found = api.get(kind, manifest["metadata"]["name"])

    assert done.code == 0, str(done)
    assert done.err == ""
    assert lost(manifest["spec"], found["spec"]) == []


def lost(given: Any, found: Any, at: str = "spec") -> list[str]:
    """Return the paths of what an object said and does not say any more."""
    if isinstance(given, dict) and isinstance(found, dict):
        return [path for key in given for path in lost(given[key], found.get(key), f"{at}.{key}")]
    if isinstance(given, list) and isinstance(found, list) and len(given) == len(found):
        pairs = enumerate(zip(given, found, strict=True))
        return [path for index, (one, two) in pairs for path in lost(one, two, f"{at}[{index}]")]
    return [] if given == found else [at]


@pytest.mark.parametrize("obj", [objects.cluster(), objects.nodeset()], ids=["SlurmCluster", "NodeSet"])
def test_c64_defaults_of_the_api_server_are_those_of_the_models(api: Bed, obj: dict[str, Any]) -> None:
    found = written(api, obj)
    parse: Any = {"SlurmCluster": slurmcluster.parse, "NodeSet": nodeset.parse}[obj["kind"]]

    assert parse(found).spec == parse(obj).spec


EMPTY: dict[str, dict[str, Any]] = {
    "nulls": objects.cluster(
        k8sNodeFilters=None,
        secrets=None,
        slurmConfig=None,
        slurmNodes__rest=None,
        slurmNodes__login__sshdServiceAnnotations=None,
        slurmNodes__login__volumes__jailSubMounts=None,
        slurmNodes__login__k8sNodeFilterName=None,
    ),
    "empty": objects.cluster(
        k8sNodeFilters=[],
        secrets={},
        slurmConfig={},
        slurmNodes__rest={},
        slurmNodes__login__sshdServiceAnnotations={},
        slurmNodes__login__volumes__jailSubMounts=[],
        slurmNodes__login__k8sNodeFilterName="",
    ),
}


@pytest.mark.parametrize("obj", EMPTY.values(), ids=EMPTY)
def test_c64_null_and_empty_are_the_same_as_absent(api: Bed, obj: dict[str, Any]) -> None:
    found, whole = (slurmcluster.parse(written(api, each)).spec for each in (obj, objects.cluster()))

    assert found == whole


def test_c64_defaults_can_be_seen(api: Bed) -> None:
    cluster, workers = written(api, objects.cluster())["spec"], written(api, objects.nodeset())["spec"]

    assert cluster["maintenance"] == "none"
    assert cluster["slurmConfig"]["resumeTimeout"] == 1800
    assert cluster["plugStackConfig"]["ncclInspectorPreConf"]["enabled"] is False
    assert cluster["plugStackConfig"]["customPlugins"] == []
    assert cluster["slurmNodes"]["controller"]["openMetrics"]["serviceMonitor"]["scrapeTimeout"] == "28s"
    assert cluster["slurmNodes"]["login"]["sshd"]["imagePullPolicy"] == "IfNotPresent"
    assert workers["maxUnavailable"] == 500
    assert workers["slurmd"]["volumes"]["sharedMemorySize"] == "64Gi"


def test_a_part_that_is_given_is_completed(api: Bed) -> None:
    given = objects.cluster(
        plugStackConfig={"ncclInspectorPreConf": {"dumpVerbose": True}},
        slurmNodes__exporter={"enabled": True},
    )
    found = written(api, given)["spec"]

    assert found["plugStackConfig"]["ncclInspectorPreConf"]["enabled"] is True
    assert found["slurmNodes"]["exporter"]["podMonitorConfig"] == {
        "interval": "30s",
        "jobLabel": "slurm-exporter",
        "scrapeTimeout": "20s",
    }


CEL: dict[str, tuple[dict[str, Any], str]] = {
    "maxUnavailable 0": (objects.nodeset(maxUnavailable=0), "maxUnavailable must be 1 to 500"),
    "maxUnavailable 501": (objects.nodeset(maxUnavailable=501), "maxUnavailable must be 1 to 500"),
    "maxUnavailable half": (objects.nodeset(maxUnavailable="half"), "maxUnavailable must be 1 to 500"),
    "maxUnavailable 0%": (objects.nodeset(maxUnavailable="0%"), "maxUnavailable must be 1 to 500"),
    "maxUnavailable 51% of 1000": (
        objects.nodeset(maxUnavailable="51%", replicas=1000),
        "maxUnavailable must be 1 to 500",
    ),
    "structured without partitions": (
        objects.cluster(partitionConfiguration={"configType": "structured"}),
        "structured needs at least one entry",
    ),
    "structured with no partition": (
        objects.cluster(partitionConfiguration={"configType": "structured", "partitions": []}),
        "structured needs at least one entry",
    ),
    "waiting no longer than polling": (
        objects.cluster(
            sConfigController={
                "serviceAccountName": "a",
                "reconfigurePollInterval": "60s",
                "reconfigureWaitTimeout": "1m",
            }
        ),
        "reconfigureWaitTimeout must be more than",
    ),
    "looking back by nothing": (
        objects.cluster(slurmNodes__exporter={"accountingJobsLookback": "0h"}),
        "must be more than 0",
    ),
    "high above max": (
        objects.cluster(slurmNodes__login__userIsolation={"memoryHigh": "1025Mi", "memoryMax": "1Gi"}),
        "memoryHigh must not be more than memoryMax",
    ),
    "high above max in bytes": (
        objects.cluster(slurmNodes__login__userIsolation={"memoryHigh": 2, "memoryMax": 1}),
        "memoryHigh must not be more than memoryMax",
    ),
}


@pytest.mark.parametrize(("obj", "says"), CEL.values(), ids=CEL)
def test_a_rule_of_the_schema_refuses(api: Bed, obj: dict[str, Any], says: str) -> None:
    assert says in refused(api, obj)


KEPT = {
    "maxUnavailable 1": objects.nodeset(maxUnavailable=1),
    "maxUnavailable 50% of 1000": objects.nodeset(maxUnavailable="50%", replicas=1000),
    "maxUnavailable 1% of none": objects.nodeset(maxUnavailable="1%", replicas=0),
    "waiting longer": objects.cluster(
        sConfigController={"serviceAccountName": "a", "reconfigurePollInterval": "4m59s"}
    ),
    "high and max": objects.cluster(
        slurmNodes__login__userIsolation={"memoryHigh": "1Gi", "memoryMax": "1024Mi"}
    ),
    "max alone": objects.cluster(slurmNodes__login__userIsolation={"memoryMax": 1}),
    "one partition": objects.cluster(
        partitionConfiguration={"configType": "structured", "partitions": [{"name": "p"}]}
    ),
}


@pytest.mark.parametrize("obj", KEPT.values(), ids=KEPT)
def test_a_rule_of_the_schema_takes(api: Bed, obj: dict[str, Any]) -> None:
    assert written(api, obj)["kind"] == obj["kind"]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no such maintenance": (objects.cluster(maintenance="soon"), "spec.maintenance"),
    "too few threads": (objects.cluster(slurmNodes__rest={"threadCount": 1}), "threadCount"),
    "not an interval": (
        objects.cluster(slurmNodes__exporter={"collectionInterval": "often"}),
        "collectionInterval",
    ),
    "no name": (objects.cluster(k8sNodeFilters=[{"name": ""}]), "spec.k8sNodeFilters[0].name"),
    "an unknown field": (objects.cluster(unheardOf=1), "unheardOf"),
    "one ordinal twice": (
        objects.other("NodeSetPowerState", nodeSetRef="w", activeNodes=[1, 1]),
        "spec.activeNodes[1]",
    ),
    "nothing at all": ({**objects.nodeset(), "spec": None}, "spec"),
}


@pytest.mark.parametrize(("obj", "says"), WRONG.values(), ids=WRONG)
def test_what_the_schema_refuses(api: Bed, obj: dict[str, Any], says: str) -> None:
    assert says in refused(api, obj)


def test_short_names_and_the_category_are_served(api: Bed) -> None:
    api.apply(objects.nodeset("short"))

    for each in definitions.APIS:
        assert api.kubectl("get", each.short).code == 0
    assert "nodeset.slurm.nebius.ai/short" in api.kubectl("get", definitions.CATEGORY, "-o", "name").out


def test_columns_are_printed(api: Bed) -> None:
    api.apply(objects.nodeset("printed", replicas=3))
    status = {
        "phase": "Ready",
        "replicas": 2,
        "labelSelector": "slurm.nebius.ai/nodeset=printed",
        "conditions": [row("PodsReady")],
        "ours": {"is": "kept"},
    }
    done = patched(api, "nodeset", "printed", status)

    assert done.code == 0, str(done)
    head, line = api.kubectl("get", "nodesets", "printed").out.splitlines()
    assert head.split() == ["NAME", "STATUS", "DESIRED", "READY", "EPHEMERAL", "AGE"]
    assert line.split()[:5] == ["printed", "Ready", "3", "2", "false"]
    assert api.get("nodeset", "printed")["status"]["ours"] == {"is": "kept"}


def test_a_condition_is_a_column_of_a_cluster(api: Bed) -> None:
    api.apply(objects.cluster("printed"))
    status = {"phase": "Available", "readyLogin": 2, "conditions": [row("ControllersAvailable")]}
    done = patched(api, "slurmcluster", "printed", status)
    head, line = api.kubectl("get", "slurmclusters", "printed").out.splitlines()

    assert done.code == 0, str(done)
    assert head.split() == ["NAME", "STATUS", "CONTROLLERS", "LOGIN", "SCONFIGCTRL", "ACCOUNTING", "AGE"]
    assert line.split()[:4] == ["printed", "Available", "True", "2"]


def row(kind: str) -> dict[str, str]:
    moment = "2026-01-01T00:00:00Z"
    return {"type": kind, "status": "True", "reason": "Well", "message": "", "lastTransitionTime": moment}


def patched(on: Bed, kind: str, name: str, status: dict[str, Any]) -> Done:
    body = json.dumps({"status": status})
    return on.kubectl("patch", kind, name, "--subresource=status", "--type=merge", "-p", body)


def test_a_status_is_written_apart_from_the_spec(api: Bed) -> None:
    api.apply(objects.nodeset("apart"))
    api.kubectl("patch", "nodeset", "apart", "--type=merge", "-p", '{"status":{"replicas":9}}')

    assert "status" not in api.get("nodeset", "apart")


def test_a_nodeset_is_scaled(api: Bed) -> None:
    api.apply(objects.nodeset("scaled", replicas=3))
    patched(api, "nodeset", "scaled", {"replicas": 3, "labelSelector": "slurm.nebius.ai/nodeset=scaled"})
    done = api.kubectl("scale", "nodeset", "scaled", "--replicas=5")
    path = f"/apis/{definitions.GROUP}/v1alpha1/namespaces/default/nodesets/scaled/scale"
    scale = json.loads(api.kubectl("get", "--raw", path).out)

    assert done.code == 0, str(done)
    assert api.get("nodeset", "scaled")["spec"]["replicas"] == 5
    assert scale["status"] == {"replicas": 3, "selector": "slurm.nebius.ai/nodeset=scaled"}


def test_two_who_apply_share_conditions(api: Bed) -> None:
    """Conditions are merged by type, so that another's stays."""
    api.apply(objects.nodeset("shared"))
    for owner, kind in (("one", "PodsReady"), ("two", "IgnoredFields")):
        obj = {**objects.nodeset("shared"), "status": {"replicas": 0, "conditions": [row(kind)]}}
        del obj["spec"]
        done = api.kubectl(
            *("apply", "--server-side", "--subresource=status", f"--field-manager={owner}", "-f", "-"),
            given=yaml.safe_dump(obj),
        )
        assert done.code == 0, str(done)

    found = api.get("nodeset", "shared")["status"]["conditions"]
    assert [each["type"] for each in found] == ["PodsReady", "IgnoredFields"]


@pytest.mark.parametrize("kind", definitions.APIS, ids=lambda each: each.kind)
def test_explain_says_what_a_field_means(today: Bed, kind: definitions.Api) -> None:
    version = f"--api-version={definitions.GROUP}/{kind.version}"
    done = today.kubectl("explain", f"{kind.plural}.spec", version)

    assert done.code == 0, str(done)
    meaning = definitions.root(kind)["properties"]["spec"]["description"]
    assert meaning in " ".join(done.out.split())


def test_c68_an_older_definition_is_told_of(today: Bed) -> None:
    older = copy.deepcopy(RENDERED["JailedConfig"])
    version = older["spec"]["versions"][0]
    del version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["updateActions"]
    del version["additionalPrinterColumns"]
    kube = today.kube()
    try:
        before = installing.inspect(kube, "npa-system").problems
        done = today.kubectl("replace", "-f", "-", given=yaml.safe_dump(older))
        told = installing.inspect(kube, "npa-system").problems
    finally:
        today.apply(*definitions.render())
        kube.close()

    assert done.code == 0, str(done)
    assert set(told) - set(before) == {
        "the definition of JailedConfig is older, it lacks spec.updateActions: npa operator install"
    }
