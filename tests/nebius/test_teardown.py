"""A destroy is proven, or it is not a destroy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.nebius.after import (
    CLUSTER,
    NAME,
    PROJECT,
    FakeClock,
    FakeKube,
    FakeProvider,
    FakeTerraform,
    managed,
)

from npa.errors import (
    DestroyIncompleteError,
    IdentityError,
    KubeError,
    OwnershipError,
    ProviderDeniedError,
    ProviderNotFoundError,
    ProviderTransientError,
    RefusedError,
    ToolError,
)
from npa.render.nebius.sidecar import Auxiliary, Sidecar
from npa.render.objects import CLAIM, VOLUME
from npa.targets.nebius import teardown
from npa.targets.nebius.teardown import Teardown

JAIL = Auxiliary("filesystem", "nebius_compute_v1_filesystem", "computefilesystem-1", "lab-jail")
ADDRESS = Auxiliary("allocation", "nebius_vpc_v1_allocation", "vpcallocation-1", "lab-ip")
RECORD = Sidecar(
    region="eu-north1",
    tenant_id="tenant-1",
    project_id=PROJECT,
    subnet_id="subnet-1",
    cluster_name="lab",
    cluster_id=CLUSTER,
    provider_cluster_name=NAME,
    auxiliaries=(JAIL, ADDRESS),
)
STATE = {
    "serial": 7,
    "resources": [
        managed("nebius_mk8s_v1_cluster", CLUSTER, NAME),
        managed(JAIL.provider_type, JAIL.id, JAIL.name),
        managed(ADDRESS.provider_type, ADDRESS.id, ADDRESS.name),
    ],
}


class Bed:
    """Everything a destroy needs, faked."""

    def __init__(self) -> None:
        self.provider = FakeProvider(("filesystem", JAIL.id), ("allocation", ADDRESS.id))
        self.terraform = FakeTerraform(self.provider, STATE)
        self.kube = FakeKube()
        self.clock = FakeClock()
        self.said: list[str] = []

    def destroy(self, record: Sidecar = RECORD, **more: Any) -> teardown.DestroyResult:
        asked: dict[str, Any] = {"terraform": self.terraform, "timeout": 600.0, **more}
        return Teardown(
            "lab",
            record,
            self.provider,
            clock=self.clock,
            told=self.said.append,
            to=lambda _: self.kube,
            **asked,
        ).destroy()


@pytest.fixture
def bed() -> Bed:
    return Bed()


def test_everything_is_gone_and_proven(bed: Bed) -> None:
    result = bed.destroy()

    assert (result.status, result.errors, result.unknown) == ("destroyed", (), ())
    assert bed.terraform.calls == ["init", "state_pull", "plan", "show", "apply"]
    assert not bed.provider.things
    teardown.require(result)


def test_what_terraform_leaves_is_deleted_by_its_id_and_waited_for(bed: Bed) -> None:
    bed.terraform.fails["apply"] = ToolError(("terraform", "apply"), 1, "boom")
    bed.provider.lag = 5

    result = bed.destroy()

    assert bed.provider.deleted == [CLUSTER, JAIL.id, ADDRESS.id]
    assert not bed.provider.things
    assert result.status == "destroy-incomplete"  # Terraform's state says otherwise: it is kept
    with pytest.raises(DestroyIncompleteError) as caught:
        teardown.require(result)
    assert caught.value.exit_code == 1


def test_a_destroy_goes_on_where_the_last_one_stopped(bed: Bed) -> None:
    bed.terraform.fails["apply"] = ToolError(("terraform", "apply"), 1, "boom")
    assert not bed.destroy().ok
    bed.terraform.fails.clear()

    again = bed.destroy()

    assert again.ok
    assert bed.provider.deleted == [CLUSTER, JAIL.id, ADDRESS.id]  # none of them twice


@pytest.mark.parametrize(
    ("record", "state"),
    [
        (replace(RECORD, cluster_id="mk8scluster-2"), STATE),
        (replace(RECORD, provider_cluster_name="soperator-other"), STATE),
        (Sidecar(project_id=PROJECT), {}),
    ],
)
def test_contradictions_and_no_id_at_all_are_refused(bed: Bed, record: Sidecar, state: Any) -> None:
    bed.terraform.state = state
    with pytest.raises(OwnershipError, match=r"cluster|id of anything"):
        bed.destroy(record)

    assert not bed.provider.deleted


@pytest.mark.parametrize(("name", "value"), [("name", "soperator-other"), ("project", "project-2")])
def test_a_cluster_that_the_provider_knows_as_another_is_left_alone(bed: Bed, name: str, value: str) -> None:
    setattr(bed.provider, name, value)
    bed.kube.put(CLAIM, "c", "soperator")

    with pytest.raises(OwnershipError):
        bed.destroy()
    assert "plan" not in bed.terraform.calls
    assert not bed.kube.ran


@pytest.mark.parametrize(
    "state",
    [{"serial": 1, "resources": {}}, {"serial": 1, "resources": [managed(JAIL.provider_type, "", "x")]}],
)
def test_a_state_that_cannot_be_understood_is_refused(bed: Bed, state: Any) -> None:
    bed.terraform.state = state

    with pytest.raises(IdentityError):
        bed.destroy()


def test_a_state_that_cannot_be_read_is_refused_with_nothing_touched(bed: Bed) -> None:
    bed.terraform.fails["state_pull"] = ToolError(("terraform", "state"), 1, "no")

    with pytest.raises(RefusedError):
        bed.destroy()
    assert not bed.provider.deleted


def test_no_answer_about_the_cluster_touches_nothing(bed: Bed) -> None:
    bed.provider.fails[f"look {CLUSTER}"] = [ProviderTransientError("read cluster")]

    result = bed.destroy()

    assert not result.ok
    assert "nothing was touched" in result.errors[0]
    assert bed.terraform.calls == ["init", "state_pull"]


def test_the_notfound_of_something_else_proves_nothing(bed: Bed) -> None:
    bed.provider.fails[f"look {CLUSTER}"] = [ProviderNotFoundError("read", resource="profile")]

    assert not bed.destroy().ok
    assert not bed.provider.deleted


def test_credentials_that_end_midway_are_incomplete_at_once(bed: Bed) -> None:
    bed.terraform.fails["apply"] = ToolError(("terraform", "apply"), 1, "boom")
    bed.provider.fails[f"delete {CLUSTER}"] = [ProviderDeniedError("delete cluster")]

    result = bed.destroy()

    assert any("does not allow" in error for error in result.errors)
    assert set(bed.provider.things) == {CLUSTER, JAIL.id, ADDRESS.id}  # the address goes after its cluster
    assert bed.clock.now < 60


def test_a_hiccup_of_the_provider_is_waited_out(bed: Bed) -> None:
    bed.provider.fails[f"look {JAIL.id}"] = [ProviderTransientError("read") for _ in range(3)]

    assert bed.destroy().ok


def test_what_is_still_there_at_the_deadline_is_incomplete(bed: Bed) -> None:
    bed.terraform.fails["apply"] = ToolError(("terraform", "apply"), 1, "boom")
    bed.provider.lag = 10_000

    result = bed.destroy()

    assert f"cluster {CLUSTER}: still there at the deadline" in result.errors
    assert bed.provider.deleted == [CLUSTER]
    assert bed.clock.now <= 601


@pytest.mark.parametrize(
    "change",
    [
        {"address": "a.b", "type": "x", "change": {"actions": ["create"]}},
        {"address": "a.b", "type": "x", "change": {"actions": ["delete", "create"]}},
        {
            "address": "a.b",
            "type": "nebius_compute_v1_filesystem",
            "change": {"actions": ["delete"], "before": {"id": "somebody-elses"}},
        },
        {"address": "a.b", "type": "x", "change": {"actions": ["forget"]}},
    ],
)
def test_a_plan_that_does_more_than_end_ours_is_refused(bed: Bed, change: dict[str, Any]) -> None:
    bed.terraform.extra = [change]
    bed.kube.put(CLAIM, "c", "soperator")

    with pytest.raises(OwnershipError, match="not only this installation's end"):
        bed.destroy()
    assert "apply" not in bed.terraform.calls
    assert not bed.kube.ran


def test_volumes_go_first_and_only_where_the_recipe_makes_them(bed: Bed) -> None:
    bed.kube.put(CLAIM, "state", "soperator")
    bed.kube.put(CLAIM, "theirs", "default")
    bed.kube.put(VOLUME, "v", spec={"claimRef": {"namespace": "default"}})

    assert bed.destroy().ok
    assert bed.kube.ran == [("delete", "soperator", "state")]


def test_volumes_that_stay_are_said_and_end_nothing(bed: Bed) -> None:
    bed.kube.put(VOLUME, "v", spec={"claimRef": {"namespace": "soperator"}})

    result = bed.destroy()

    assert result.ok
    assert result.notes == ("volumes may be left as disks: 1 volumes are still there",)


def test_an_unreachable_cluster_is_destroyed_all_the_same(bed: Bed) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise KubeError("no answer")

    bed.kube.list = broken  # type: ignore[method-assign]

    result = bed.destroy()

    assert result.ok
    assert "may be left as disks" in result.notes[0]


@pytest.mark.parametrize("terraform", [None, "empty"])
def test_a_lost_state_is_worked_around_and_what_it_held_is_said_unknown(bed: Bed, terraform: Any) -> None:
    bed.terraform.state = {}
    more: dict[str, Any] = {"terraform": None} if terraform is None else {}

    result = bed.destroy(**more)

    assert not bed.provider.things
    assert (result.status, result.errors) == ("destroy-incomplete", ())
    assert "GPU clusters" in result.unknown[0]
    assert bed.destroy(**more, accept_unknown=True).ok


def test_the_public_result_is_json(bed: Bed) -> None:
    assert bed.destroy().public()["status"] == "destroyed"


class Interrupted(BaseException):
    """What ends a process in the middle."""


def interrupting(bed: Bed, at: int, *, after: bool) -> None:
    """Have the run end at its call number `at`: before it is made, or after it was and nobody heard of it."""
    calls = iter(range(1, 1000))

    def cut(method: Any) -> Any:
        def call(*args: Any, **more: Any) -> Any:
            number = next(calls)
            if number != at:
                return method(*args, **more)
            if after:
                method(*args, **more)
            raise Interrupted

        return call

    for thing, names in (
        (bed.provider, ("cluster", "owned", "delete")),
        (bed.terraform, ("apply", "planned")),
        (bed.kube, ("list", "delete")),
    ):
        for name in names:
            setattr(thing, name, cut(getattr(thing, name)))


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, 20))
def test_a_destroy_that_is_cut_off_anywhere_is_finished_by_the_next(bed: Bed, at: int, after: bool) -> None:
    bed.terraform.state = {**STATE, "resources": STATE["resources"][:1]}  # type: ignore[index]
    bed.kube.put(CLAIM, "state", "soperator")
    interrupting(bed, at, after=after)
    try:
        first = bed.destroy()
    except Interrupted:
        first = None
    again = first or bed.destroy()

    assert again.ok
    assert not bed.provider.things
    assert len(bed.provider.deleted) == len(set(bed.provider.deleted))


def again(bed: Bed, *ids: str, name: str = ADDRESS.name) -> None:
    """Have the dying cluster make its address anew."""
    for each in ids:
        bed.provider.things[each] = "allocation"
        bed.provider.called[each] = name


def test_an_address_that_the_dying_cluster_made_anew_is_ended_too(bed: Bed) -> None:
    again(bed, "vpcallocation-2")
    again(bed, "vpcallocation-9", name="lab-ip-of-somebody")

    assert bed.destroy().status == "destroyed"
    assert bed.provider.deleted == ["vpcallocation-2"]
    assert list(bed.provider.things) == ["vpcallocation-9"]


def test_several_of_its_name_are_left_and_told(bed: Bed) -> None:
    again(bed, "vpcallocation-2", "vpcallocation-3")
    result = bed.destroy()

    assert result.status == "destroy-incomplete"
    assert "several bear its name: vpcallocation-2, vpcallocation-3" in result.errors[0]
    assert bed.provider.deleted == []


def test_what_was_made_anew_and_cannot_be_listed_is_not_taken_for_nothing(bed: Bed) -> None:
    bed.provider.fails["list allocation"] = [ProviderTransientError("list allocations")]
    result = bed.destroy()

    assert result.status == "destroy-incomplete"
    assert "whether it was made anew is unknown" in result.errors[0]


def test_a_name_without_the_cluster_s_own_is_nobodys(bed: Bed) -> None:
    foreign = replace(RECORD, auxiliaries=(JAIL, replace(ADDRESS, name="shared-ip")))
    again(bed, "vpcallocation-2", name="shared-ip")

    assert bed.destroy(foreign).status == "destroyed"
    assert bed.provider.deleted == []
