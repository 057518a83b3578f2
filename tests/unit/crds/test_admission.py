from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.unit.crds import objects

from npa.crds import admission
from npa.crds.admission import Neighbours
from npa.crds.nodeset import NodeSet
from npa.crds.slurmcluster import SlurmCluster
from npa.errors import Problem

BAD = objects.cluster(slurmNodes__login__sshRootPublicKeys=[])
WRONG = Problem(1, 1, "slurm.conf", "Nodes=gpuu names no node")


def complains(cluster: SlurmCluster, nodesets: Sequence[NodeSet]) -> Sequence[Problem]:
    """Say which files were asked for."""
    return [Problem(0, 0, "files", f"{cluster.name}: {', '.join(each.name for each in nodesets)}")]


def test_all_problems_are_said_each_with_what_to_do() -> None:
    broken = objects.cluster(slurmNodes__login__sshRootPublicKeys=[], slurmNodes__login__size=-1)

    assert admission.review(broken).message == (
        "spec.slurmNodes.login.size: -1 is no count (write 0 or more)"
    )
    broken["spec"]["slurmNodes"]["login"]["size"] = None
    assert admission.review(broken).message == (
        "spec.slurmNodes.login.sshRootPublicKeys: nobody could log in (give at least one public key)"
    )


def test_what_goes_is_let_go() -> None:
    going = {**BAD, "metadata": {"name": "c", "deletionTimestamp": "2026-01-01T00:00:00Z"}}

    assert admission.review(going, objects.cluster()).allowed


def test_a_label_may_change_on_what_is_wrong() -> None:
    labelled = {**BAD, "metadata": {"name": "c", "labels": {"a": "b"}}}

    assert admission.review(labelled, BAD).allowed


def test_what_was_wrong_before_is_said_and_stops_nothing() -> None:
    changed = objects.cluster(slurmNodes__login__sshRootPublicKeys=[], maintenance="downscale")
    verdict = admission.review(changed, BAD)

    assert verdict.allowed
    assert verdict.warnings == ("still wrong: spec.slurmNodes.login.sshRootPublicKeys: nobody could log in",)


def test_what_becomes_wrong_is_refused_besides_what_was() -> None:
    changed = objects.cluster(slurmNodes__login__sshRootPublicKeys=[], slurmNodes__login__sshdServiceType="x")

    assert [each.at for each in admission.review(changed, BAD).problems] == [
        "spec.slurmNodes.login.sshdServiceType"
    ]


def test_the_linter_reads_what_a_cluster_would_be() -> None:
    sets = (
        objects.nodeset("a"),
        objects.nodeset("b", clusterName="other"),
        objects.nodeset("d", clusterName=""),
    )
    verdict = admission.review(objects.cluster(), None, Neighbours((), sets), complains)

    assert verdict.message == "files: c: a, d"


def test_the_linter_reads_what_a_cluster_would_be_with_a_changed_nodeset() -> None:
    sets = (objects.nodeset("a"), objects.nodeset("w", replicas=7))
    around = Neighbours((objects.cluster(),), sets)
    verdict = admission.review(objects.nodeset("w"), None, around, complains)

    assert verdict.message == "files: c: a, w"


def test_the_linter_is_not_asked_about_what_cannot_be_rendered() -> None:
    assert "files" not in admission.review(BAD, lint=complains).message


def test_a_finding_of_the_linter_refuses() -> None:
    verdict = admission.review(objects.cluster(), lint=lambda *_: [WRONG])

    assert verdict.problems == (WRONG,)


def test_workers_stay_with_their_cluster() -> None:
    moved, old = objects.nodeset(clusterName="d"), objects.nodeset()

    assert [each.at for each in admission.review(moved, old).problems] == ["spec.clusterName"]


def test_a_nodeset_without_a_cluster_may_get_one() -> None:
    assert admission.review(objects.nodeset(), objects.nodeset(clusterName="")).allowed


def claim(size: str) -> dict[str, object]:
    return {"volumeClaimTemplateSpec": {"resources": {"requests": {"storage": size}}}}


def test_c67_claims_grow_and_do_not_shrink() -> None:
    old = objects.nodeset(slurmd__volumes__spool=claim("64Gi"))
    less = admission.review(objects.nodeset(slurmd__volumes__spool=claim("65535Mi")), old)
    more = admission.review(objects.nodeset(slurmd__volumes__spool=claim("0.1Ti")), old)

    assert [(each.at, each.message) for each in less.problems] == [
        ("spec.slurmd.volumes.spool.resources.requests.storage", "asks for 65535Mi where there are 64Gi")
    ]
    assert more.allowed


def test_c67_the_controllers_claim_does_not_shrink() -> None:
    old = objects.cluster(slurmNodes__controller__volumes__spool=claim("64Gi"))
    new = objects.cluster(slurmNodes__controller__volumes__spool=claim("1Gi"))

    assert [each.message for each in admission.review(new, old).problems] == [
        "asks for 1Gi where there are 64Gi"
    ]


def test_c67_neither_jail_nor_database_shrinks() -> None:
    def cluster(size: str) -> dict[str, Any]:
        jail = {"volumeClaimTemplateSpec": {"resources": {"requests": {"storage": size}}}}
        operator = {"enabled": True, "image": "mariadb", "storage": {"size": size}}
        accounting = {"enabled": True, "mariadbOperator": operator}
        return objects.cluster(slurmNodes__login__volumes__jail=jail, slurmNodes__accounting=accounting)

    less = admission.review(cluster("1Ti"), cluster("2Ti"))

    assert {each.at for each in less.problems} == {
        "spec.slurmNodes.login.volumes.jail.volumeClaimTemplateSpec.resources.requests.storage",
        "spec.slurmNodes.accounting.mariadbOperator.storage.size",
    }
    assert admission.review(cluster("3Ti"), cluster("2Ti")).allowed


def test_another_database_is_worth_a_warning() -> None:
    operator = {"enabled": True, "image": "mariadb"}
    new = objects.cluster(slurmNodes__accounting={"enabled": True})
    old = objects.cluster(slurmNodes__accounting={"enabled": True, "mariadbOperator": operator})

    assert any("another database" in each for each in admission.review(new, old).warnings)
    # what is beside slurmdbd stays there
    assert not any("another database" in each for each in admission.review(old, new).warnings)


def test_another_spool_is_worth_a_warning() -> None:
    new = objects.cluster(slurmNodes__controller__volumes__spool={"volumeSourceName": "jail"})
    verdict = admission.review(new, objects.cluster())

    assert verdict.allowed
    assert "slurmctld forgets its jobs" in verdict.warnings[0]


def test_c29_a_nodeset_that_is_not_there_yet_is_worth_a_warning() -> None:
    structured = {"configType": "structured", "partitions": [{"name": "mix", "nodeSetRefs": ["a", "viz"]}]}
    around = Neighbours((), (objects.nodeset("a"),))
    verdict = admission.review(objects.cluster(partitionConfiguration=structured), None, around)

    assert verdict.allowed
    assert verdict.warnings == ("partition 'mix' goes without viz until there is such a NodeSet",)


def test_a_nodeset_before_its_cluster_is_worth_a_warning() -> None:
    several = Neighbours((objects.cluster("a"), objects.cluster("b")))

    assert admission.review(objects.nodeset()).warnings == (
        "there is no SlurmCluster 'c' in this namespace (yet): no worker is started",
    )
    assert admission.review(objects.nodeset(clusterName=""), None, several).warnings == (
        "clusterName is not set, and there are several clusters: no worker is started",
    )


def test_gpus_that_nobody_gets_are_worth_a_warning() -> None:
    around = Neighbours((objects.cluster(),))
    verdict = admission.review(objects.nodeset(gpu={"enabled": True}), None, around)

    assert verdict.warnings == (
        "gpu.enabled, but slurmd.resources names no nvidia.com/gpu: jobs cannot ask for GPUs",
    )


def test_a_filter_that_says_it_twice_is_worth_a_warning() -> None:
    twice = {"name": "a", "nodeSelector": {"x": "y"}, "affinity": {"nodeAffinity": {}}}
    once = {"name": "b", "nodeSelector": {"x": "y"}, "affinity": {"podAntiAffinity": {}}}
    twice["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}}
    verdict = admission.review(objects.cluster(k8sNodeFilters=[twice, once]))

    assert verdict.warnings == ("filter 'a' has both affinity and nodeSelector: a node has to meet both",)


def test_what_is_wrong_with_a_neighbour_is_not_said_here() -> None:
    around = Neighbours((BAD, {"kind": "SlurmCluster"}), ({"kind": "NodeSet", "spec": 3},))

    assert admission.review(objects.nodeset(), None, around).allowed
