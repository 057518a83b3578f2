"""What a spec asks for on Kubernetes, and the plan to it, with what it does to jobs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from npa.cluster.facts import Facts
from npa.cluster.model import Cluster
from npa.cluster.resolve import resolve
from npa.crds import nodeset, rules, slurmcluster
from npa.errors import OwnershipError, PreflightError, RefusedError, UnknownError
from npa.health.answers import SlurmView
from npa.health.observation import SlurmNode
from npa.plan.model import JobRef
from npa.render.kube import asked, deployment, differs
from npa.render.kube.asked import Place
from npa.render.kube.deployment import There
from npa.render.objects import Object, name_of
from npa.slurm.states import NodeState
from npa.spec import load
from npa.targets.kubernetes import options
from npa.targets.kubernetes.options import KubeOptions

PLACE = Place("slurm", "registry.example/npa/slurm:26.05", "registry.example/npa/jail:26.05")
SPEC = """\
apiVersion: npa.soperator/v0.0.1
name: quick
target: kubernetes
region: us-central1
accounting: true
slurm_rest_enabled: true
workers:
  - {{name: cpu, platform: cpu-d3, preset: 4vcpu-16gb, size: {size}, features: [amd]}}
  - {{name: gpu, platform: gpu-b200-sxm, preset: 8gpu-160vcpu-1792gb, size: 2, fabric: us-central1-b}}
partitions:
  - {{name: main, is_all: true, default: true}}
  - {{name: train, pools: [gpu], max_time: "02:00:00"}}
"""


def _cluster(size: int = 4, **changes: object) -> Cluster:
    made = resolve(
        load.parse(SPEC.format(size=size)), Facts(root_keys=("ssh-ed25519 AAAA me",)), "kubernetes"
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def _there(cluster: Cluster, place: Place = PLACE, **changes: object) -> There:
    """Return the world after a deploy of a cluster, all of it ready."""
    made = [_ready(differs.stamp(each)) for each in asked.render(cluster, place)]
    objects = {(str(each["kind"]), name_of(each)): each for each in made}
    there = There(namespace=True, objects=objects, users=frozenset(), slurm=_slurm(cluster.workers))
    return replace(there, **changes)  # type: ignore[arg-type]


def _ready(made: Object) -> Object:
    phase = {"SlurmCluster": "Available", "NodeSet": "Ready"}.get(str(made["kind"]), "Bound")
    return {**made, "status": {"phase": phase}}


def _slurm(nodes: Iterable[str], *jobs: JobRef) -> SlurmView:
    return SlurmView(tuple(SlurmNode(name, NodeState.parse("IDLE+CLOUD")) for name in nodes), jobs)


def test_what_is_rendered_is_taken_by_the_api_and_its_rules() -> None:
    claim, cluster, cpu, gpu = asked.render(_cluster(), PLACE)

    assert (claim["kind"], name_of(claim)) == ("PersistentVolumeClaim", "quick-jail")
    assert rules.cluster_problems(slurmcluster.parse(cluster)) == ()
    assert nodeset.parse(cpu).spec.slurmd.resources == {"cpu": "4", "memory": "16384Mi"}
    assert nodeset.parse(gpu).spec.slurmd.resources["nvidia.com/gpu"] == "8"
    assert nodeset.parse(gpu).spec.node_config.gres_config == ("Name=gpu Type=b200 File=/dev/nvidia[0-7]",)
    assert asked.said(cluster) == replace(_cluster(), origins={})
    assert asked.placed(cluster) == PLACE


@pytest.mark.parametrize(
    "changes",
    [
        {"storage_class": "fast"},
        {"jail_path": "/srv/jail", "storage_class": "fast"},
        {"pull_policy": "Never", "service": "NodePort", "cgroup": "v1"},
    ],
    ids=["class", "folder-and-class", "others"],
)
def test_wherever_it_is_put_the_api_and_its_rules_take_it(changes: dict[str, Any]) -> None:
    made = asked.render(_cluster(), replace(PLACE, **changes))
    parsed = [slurmcluster.parse(each) for each in made if each["kind"] == "SlurmCluster"]
    pools = [nodeset.parse(each) for each in made if each["kind"] == "NodeSet"]

    assert rules.cluster_problems(parsed[0]) == ()
    assert len(pools) == 2


def test_a_folder_takes_the_place_of_claims() -> None:
    made = asked.render(_cluster(), replace(PLACE, jail_path="/srv/jail"))

    assert [each["kind"] for each in made] == ["SlurmCluster", "NodeSet", "NodeSet"]
    assert made[0]["spec"]["volumeSources"][0]["hostPath"]["path"] == "/srv/jail"
    assert made[1]["spec"]["slurmd"]["volumes"]["jail"]["hostPath"]["path"] == "/srv/jail"


def test_workers_may_have_less_than_slurm_counts_with() -> None:
    small = replace(PLACE, worker_cpu="250m", worker_memory="1Gi")
    _, cluster, cpu, _ = asked.render(_cluster(), small)
    worker = nodeset.parse(cpu).spec

    assert worker.slurmd.resources == {"cpu": "250m", "memory": "1Gi"}
    assert worker.node_config.static == "CPUs=4 RealMemory=16384"
    assert asked.placed(cluster) == small


def test_workers_with_gpus_are_as_the_spec_says() -> None:
    with pytest.raises(RefusedError, match="pool gpu has GPUs"):
        deployment.plan(_cluster(), replace(PLACE, worker_cpu="1"), There())


def test_a_new_cluster_is_made_from_the_ground_up() -> None:
    plan = deployment.plan(_cluster(), PLACE, There(operator=("create Deployment npa-operator",)))

    assert [step.key for step in plan.steps] == [
        "create:operator",
        "create:namespace",
        "write:PersistentVolumeClaim:quick-jail",
        "write:SlurmCluster:quick",
        "write:NodeSet:cpu",
        "write:NodeSet:gpu",
        "wait:cluster",
    ]
    assert not plan.changes


def test_what_is_there_as_asked_needs_no_step() -> None:
    plan = deployment.plan(_cluster(), PLACE, _there(_cluster()))

    assert plan.steps == ()
    assert plan.unchanged == (
        "PersistentVolumeClaim quick-jail",
        "SlurmCluster quick",
        "NodeSet cpu",
        "NodeSet gpu",
    )


def test_a_shrink_names_the_jobs_that_are_waited_for() -> None:
    job = JobRef("7", "ann", "train", "RUNNING", ("cpu-3",), "main")
    there = _there(_cluster(), slurm=_slurm(_cluster().workers, job))
    plan = deployment.plan(_cluster(size=2), PLACE, there)

    drain, cluster, pool, wait = plan.steps
    assert (drain.verb, drain.nodes, drain.jobs) == ("drain", ("cpu-2", "cpu-3"), (job,))
    assert cluster.key == "write:SlurmCluster:quick"  # its annotation says what was asked
    assert (pool.key, pool.diff.splitlines()[-2:]) == ("write:NodeSet:cpu", ["-replicas: 4", "+replicas: 2"])
    assert wait.verb == "wait"
    assert not plan.killed_jobs
    assert plan.notes == (deployment.NOTE,)


def test_without_slurms_answer_no_node_is_taken_away() -> None:
    there = _there(_cluster(), slurm=None, slurm_problem="slurmctld does not answer")

    with pytest.raises(
        UnknownError, match="cannot tell whether jobs run on cpu-\\[2-3\\]: slurmctld does not"
    ):
        deployment.plan(_cluster(size=2), PLACE, there)
    assert deployment.plan(_cluster(size=6), PLACE, there).steps


def test_a_pool_that_is_no_longer_asked_for_is_removed() -> None:
    after = _cluster()
    after = replace(
        after,
        pools=tuple(pool for pool in after.pools if pool.name == "cpu"),
        partitions=tuple(each for each in after.partitions if not each.pools),
    )
    plan = deployment.plan(after, PLACE, _there(_cluster()))

    assert [step.key for step in plan.steps] == [
        "drain:nodes",
        "write:SlurmCluster:quick",
        "remove:gpu",
        "wait:cluster",
    ]


def test_what_somebody_else_made_is_refused() -> None:
    found = asked.render(_cluster(), PLACE)[1]
    bare = {**found, "metadata": {"name": "quick", "namespace": "slurm"}}

    with pytest.raises(OwnershipError, match="SlurmCluster slurm/quick was not made by npa"):
        deployment.plan(_cluster(), PLACE, There(True, objects={("SlurmCluster", "quick"): bare}))


def test_another_release_of_slurm_is_refused() -> None:
    with pytest.raises(RefusedError, match="the jail and slurmctld's state are of the Slurm"):
        deployment.plan(_cluster(slurm_version="24.11"), PLACE, _there(_cluster()))


def test_a_destroy_names_the_jobs_that_would_end() -> None:
    job = JobRef("7", "ann", "train", "RUNNING", ("cpu-3",), "main")
    there = _there(_cluster(), slurm=_slurm(_cluster().workers, job))
    gentle = deployment.plan_removal(_cluster(), PLACE, there, force=False)
    forced = deployment.plan_removal(_cluster(), PLACE, there, force=True)

    assert gentle.steps[0].jobs == (job,)
    assert not gentle.killed_jobs
    assert forced.killed_jobs == (job,)
    assert forced.steps[1].subject == "NodeSet cpu, NodeSet gpu, PersistentVolumeClaim quick-jail"


def test_a_destroy_in_the_dark_needs_force() -> None:
    there = _there(_cluster(), slurm=None, slurm_problem="no answer")

    with pytest.raises(UnknownError, match="cannot tell whether jobs run on quick: no answer"):
        deployment.plan_removal(_cluster(), PLACE, there, force=False)
    assert deployment.plan_removal(_cluster(), PLACE, there, force=True).notes == ()


def test_what_is_waited_for_is_said_with_what_is_in_its_way() -> None:
    rows = [
        {"type": "JailPopulated", "status": "False", "reason": "Failed", "message": "no space left"},
        {"type": "LoginAvailable", "status": "True"},
        {"type": "RestAvailable", "status": "False", "reason": "NotEnabled"},
        {"type": "IgnoredFields", "status": "False", "reason": "NoneIgnored"},
    ]
    waiting = {
        "kind": "SlurmCluster",
        "metadata": {"name": "quick"},
        "status": {"phase": "Not available", "conditions": rows},
    }
    ready = {"kind": "NodeSet", "metadata": {"name": "cpu"}, "status": {"phase": "Ready"}}

    assert deployment.waits_for([waiting, ready]) == (
        "SlurmCluster quick is Not available (JailPopulated: no space left)",
    )


def test_images_have_to_be_named_once() -> None:
    with pytest.raises(PreflightError, match="no slurm image is named; no jail image is named"):
        options.place(KubeOptions(), None)
    assert options.place(KubeOptions(service="NodePort"), PLACE) == replace(PLACE, service="NodePort")
    named = KubeOptions(namespace="lab", slurm_image="s:1", jail_image="j:1", jail_path="/srv")
    assert options.place(named, None) == Place("lab", "s:1", "j:1", jail_path="/srv")


def test_a_node_set_of_another_cluster_is_not_taken() -> None:
    with pytest.raises(OwnershipError, match=r"pools' names: cpu \(of other\)") as refused:
        deployment.plan(_cluster(), PLACE, There(True, others={"cpu": "other", "elsewhere": "other"}))

    assert "--namespace" in refused.value.hint
