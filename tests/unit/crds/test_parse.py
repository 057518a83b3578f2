from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.crds import objects

from npa.crds import (
    activecheck,
    admission,
    jailedconfig,
    nodeconfigurator,
    nodeset,
    powerstate,
    quantity,
    schema,
    slurmcluster,
)
from npa.crds.admission import Neighbours
from npa.crds.definitions import APIS
from npa.errors import SpecError

PARSERS: dict[str, Callable[[Any], Any]] = {
    "SlurmCluster": slurmcluster.parse,
    "NodeSet": nodeset.parse,
    "ActiveCheck": activecheck.parse,
    "JailedConfig": jailedconfig.parse,
    "NodeConfigurator": nodeconfigurator.parse,
    "NodeSetPowerState": powerstate.parse,
}


def problems(parse: Callable[[Any], Any], obj: Any) -> dict[str, str]:
    with pytest.raises(SpecError) as caught:
        parse(obj)
    return {each.at: each.message for each in caught.value.problems}


def test_c64_the_smallest_cluster_has_every_default() -> None:
    found = slurmcluster.parse(objects.cluster())

    assert found.name == "c"
    assert found.spec.slurm_config.resume_timeout == 1800
    assert found.spec.partition_configuration.config_type == "default"
    assert found.spec.topology.block_size == 18
    assert not found.spec.slurm_nodes.accounting.enabled
    assert found.spec.slurm_nodes.exporter.pod_monitor_config.scrape_timeout == "20s"
    assert not found.spec.plug_stack_config.nccl_inspector_pre_conf.enabled


def test_a_profiler_that_is_set_is_on() -> None:
    given_ = objects.cluster(plugStackConfig__ncclInspectorPreConf={"dumpVerbose": True})

    assert slurmcluster.parse(given_).spec.plug_stack_config.nccl_inspector_pre_conf.enabled


@pytest.mark.parametrize(
    "change",
    [
        {"slurmNodes__login__volumes__jailSubMounts": None},
        {"slurmNodes__login__volumes__jailSubMounts": []},
        {"slurmNodes__login__sshdServiceAnnotations": None},
        {"slurmConfig": None},
        {"slurmConfig": {}},
        {"slurmNodes__rest": None},
        {"k8sNodeFilters": None},
        {"k8sNodeFilters": []},
        {"unheardOf": {"of": 1}},
    ],
)
def test_c64_null_and_empty_are_the_same_as_absent(change: dict[str, Any]) -> None:
    assert slurmcluster.parse(objects.cluster(**change)).spec == slurmcluster.parse(objects.cluster()).spec


def test_everything_that_is_wrong_is_said_at_once() -> None:
    broken = objects.cluster(
        maintenance="later",
        slurmNodes__login__size="3",
        slurmNodes__login__userIsolation={"memoryMax": "much", "cpuWeight": 0},
        slurmNodes__rest={"threadCount": True},
        volumeSources=[{}],
        healthCheckConfig={"healthCheckNodeState": []},
    )
    del broken["spec"]["populateJail"]

    assert problems(slurmcluster.parse, broken) == {
        "spec.maintenance": "'later' is none of its values",
        "spec.slurmNodes.login.size": "must be a whole number, not '3'",
        "spec.slurmNodes.login.userIsolation.memoryMax": "'much' is no quantity",
        "spec.slurmNodes.login.userIsolation.cpuWeight": "0 is out of its range",
        "spec.slurmNodes.rest.threadCount": "must be a whole number, not true",
        "spec.volumeSources[0].name": "is required",
        "spec.healthCheckConfig.healthCheckInterval": "is required",
        "spec.healthCheckConfig.healthCheckProgram": "is required",
        "spec.healthCheckConfig.healthCheckNodeState": "must not be empty",
        "spec.populateJail": "is required",
    }


@pytest.mark.parametrize(
    "obj", [None, "", [], 3, {}, {"spec": None}, {"spec": []}, {"spec": {}, "metadata": 3}]
)
@pytest.mark.parametrize("kind", PARSERS)
def test_what_is_no_object_is_refused(kind: str, obj: Any) -> None:
    if kind == "NodeConfigurator" and obj == {"spec": {}}:
        pytest.skip("everything of it has a default")

    assert problems(PARSERS[kind], obj)


@pytest.mark.parametrize("status", ["x", [], 3, {"conditions": 3}])
def test_what_a_status_holds_stops_nothing(status: Any) -> None:
    assert nodeset.parse({**objects.nodeset(), "status": status}).name == "w"


def test_a_former_annotation_names_the_cluster() -> None:
    old = objects.nodeset(clusterName="")
    old["metadata"]["annotations"] = {nodeset.CLUSTER_ANNOTATION: "former"}

    assert nodeset.parse(old).cluster == "former"


def test_a_volume_keeps_what_kubernetes_says_of_it() -> None:
    found = slurmcluster.parse(objects.cluster()).spec.volume_sources[0]

    assert (found.name, found.source) == ("jail", {"persistentVolumeClaim": {"claimName": "jail"}})


@pytest.mark.parametrize("kind", PARSERS)
def test_every_kind_has_a_reader(kind: str) -> None:
    assert kind in {api.kind for api in APIS}


def keys() -> list[str]:
    """Return every key of every kind, so that chance gets somewhere."""
    found: set[str] = {"metadata", "spec", "status", "name", "labels", "annotations", "deletionTimestamp"}

    def walk(part: Any) -> None:
        for key, field in schema.fields(part).items():
            found.add(key)
            if (inner := schema.part_in(field.annotation)) is not None:
                walk(inner)

    for api in APIS:
        walk(api.spec)
    return sorted(found)


KEYS = st.sampled_from(keys()) | st.text(max_size=5)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["1Gi", "10%"])
DEEP = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=30,
)
# what is recursive is hardly ever a leaf, and most fields are
VALUES = st.booleans().flatmap(lambda deep: DEEP if deep else LEAVES)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(sorted(PARSERS)), st.dictionaries(KEYS, VALUES, max_size=5))
def test_whatever_is_read_is_a_value_or_its_problems(kind: str, obj: dict[str, Any]) -> None:
    told: Any
    try:
        told = PARSERS[kind](obj).spec
    except SpecError as error:
        told = error.problems

    assert told not in (None, ())


def places(obj: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the paths of everything within an object's spec."""
    found = [path] if path else []
    items = obj.items() if isinstance(obj, dict) else enumerate(obj) if isinstance(obj, list) else ()
    for key, each in items:
        found += places(each, (*path, key))
    return found


WHOLE = [
    objects.cluster(
        k8sNodeFilters=[{"name": "all", "nodeSelector": {"a": "b"}}],
        partitionConfiguration={"configType": "structured", "partitions": [{"name": "p", "isAll": True}]},
        healthCheckConfig={
            "healthCheckInterval": 10,
            "healthCheckProgram": "/bin/true",
            "healthCheckNodeState": [{"state": "ANY"}],
        },
        plugStackConfig__customPlugins=[{"path": "/x.so", "arguments": {"a": "b"}}],
        slurmNodes__login__userIsolation={"memoryHigh": "1Gi", "memoryMax": "2Gi", "cpuWeight": 1},
        slurmNodes__rest={"enabled": True, "threadCount": 3},
        slurmNodes__accounting={"enabled": True, "externalDB": {"enabled": True, "host": "db", "user": "u"}},
    ),
    objects.nodeset(
        nodeConfig={"features": ["a"], "static": "CPUs=4", "gresConfig": ["Name=gpu"]},
        ephemeralTopologyWaitTimeout=60,
        maxUnavailable="10%",
    ),
    objects.check(),
]


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(WHOLE), st.data(), VALUES)
def test_one_strange_value_anywhere_is_judged_and_nothing_else(
    whole: dict[str, Any], data: st.DataObject, value: Any
) -> None:
    *outer, last = data.draw(st.sampled_from(places(whole["spec"])))
    changed = {**whole, "spec": _copied(whole["spec"])}
    held = changed["spec"]
    for key in outer:
        held = held[key]
    held[last] = value
    around = Neighbours((objects.cluster(), changed), (objects.nodeset("other"), changed))

    for old in (None, whole):
        verdict = admission.review(changed, old, around)

        assert verdict.allowed == (verdict.message == "")


def _copied(held: Any) -> Any:
    if isinstance(held, dict):
        return {key: _copied(each) for key, each in held.items()}
    return [_copied(each) for each in held] if isinstance(held, list) else held


@given(st.text())
def test_a_quantity_is_a_number_or_none(text: str) -> None:
    try:
        told = str(quantity.amount(text))
    except ValueError as error:
        told = str(error)

    assert re.fullmatch(r"-?[0-9.]+(E[+-]?[0-9]+)?|.* is no quantity", told, re.DOTALL)


@pytest.mark.parametrize(
    ("text", "amount"),
    [("57Gi", 57 * 2**30), ("1500m", 1.5), (8, 8), ("1e3", 1000), ("-2k", -2000), (".5", 0.5)],
)
def test_quantities(text: object, amount: float) -> None:
    assert float(quantity.amount(text)) == amount


@pytest.mark.parametrize("text", ["", "Gi", "1 Gi", "1e9999", "1e19", "8Ei", "9" * 65, True, None, "1Kb"])
def test_what_is_no_quantity(text: object) -> None:
    with pytest.raises(ValueError, match="is no quantity"):
        quantity.amount(text)
