from __future__ import annotations

import json

import pytest

from npa.errors import IdentityError, OwnershipError
from npa.render.nebius import sidecar as sidecars
from npa.render.nebius.sidecar import Auxiliary, Sidecar

JAIL = Auxiliary("filesystem", "nebius_compute_v1_filesystem", "computefilesystem-1", "soperator-a1-jail")
ADDRESS = Auxiliary(
    "allocation", "nebius_vpc_v1_allocation", "vpcallocation-1", "soperator-a1-public-static-ip"
)
RECORD = Sidecar(
    region="eu-north1",
    tenant_id="tenant-1",
    project_id="project-1",
    subnet_id="vpcsubnet-1",
    cluster_name="a1",
    provider_cluster_name="soperator-a1",
    cluster_id="mk8scluster-1",
    auth_profile="me",
    o11y_profile="soperator-telemetry",
    ref="7" * 40,
    auxiliaries=(JAIL, ADDRESS),
)
OLD = {  # as the tool before this one wrote it
    "region": "eu-north1",
    "tenant_id": "tenant-1",
    "project_id": "project-1",
    "subnet_id": "vpcsubnet-1",
    "o11y_profile": "default",
    "auth_profile": "",
    "backend": "soperator",
    "cluster_id": "mk8scluster-1",
    "cluster_name": "a1",
    "provider_cluster_name": "soperator-a1",
    "owned_filesystem_ids": ["computefilesystem-1", "computefilesystem-2"],
    "owned_allocation_ids": ["vpcallocation-9"],
    "owned_auxiliary_resources": [
        {
            "kind": "filesystem",
            "provider_type": "nebius_compute_v1_filesystem",
            "id": "computefilesystem-1",
            "name": "soperator-a1-jail",
        }
    ],
}


def test_a_record_survives_the_way_there_and_back() -> None:
    assert sidecars.decode(json.loads(json.dumps(sidecars.encode(RECORD)))) == RECORD


def test_the_tool_before_this_one_finds_its_keys() -> None:
    encoded = sidecars.encode(RECORD)

    assert set(OLD) <= set(encoded)
    assert encoded["backend"] == "soperator"
    assert encoded["owned_filesystem_ids"] == ["computefilesystem-1"]


def test_its_records_are_read() -> None:
    found = sidecars.decode(OLD)

    assert (found.versioned, found.cluster_id, found.ref) == (False, "mk8scluster-1", "")
    assert found.filesystem_ids == ("computefilesystem-1", "computefilesystem-2")
    assert found.allocation_ids == ("vpcallocation-9",)
    assert found.auxiliaries == (JAIL,)


def test_ids_without_a_name_are_carried_on() -> None:
    again = sidecars.decode(sidecars.encode(sidecars.decode(OLD)))

    assert again.versioned
    assert again.unnamed_filesystems == ("computefilesystem-2",)


def test_an_old_record_may_lack_parts_for_whoever_reads_it_to_judge() -> None:
    assert sidecars.decode({"backend": "soperator", "region": None}).region == ""


def test_a_record_of_ours_may_not() -> None:
    broken = {**sidecars.encode(RECORD), "tenant_id": "", "subnet_id": None}

    with pytest.raises(IdentityError) as raised:
        sidecars.decode(broken)

    assert len(raised.value.problems) == 2


@pytest.mark.parametrize("document", [[], "text", None, 3])
def test_what_is_no_object_is_refused(document: object) -> None:
    with pytest.raises(IdentityError):
        sidecars.decode(document)


@pytest.mark.parametrize("document", [{}, {"region": "r"}, {**OLD, "backend": "mk8s"}])
def test_a_record_of_another_backend_is_refused(document: object) -> None:
    with pytest.raises(OwnershipError):
        sidecars.decode(document)


def test_a_later_schema_is_refused() -> None:
    with pytest.raises(IdentityError, match="v2"):
        sidecars.decode({**sidecars.encode(RECORD), "schema": "npa.nebius.sidecar/v2"})


@pytest.mark.parametrize(
    "broken",
    [
        {"cluster_id": 3},
        {"owned_filesystem_ids": "computefilesystem-1"},
        {"owned_allocation_ids": [""]},
        {"owned_auxiliary_resources": {}},
        {"owned_auxiliary_resources": [{"kind": "filesystem"}]},
        {"owned_auxiliary_resources": [{**OLD["owned_auxiliary_resources"][0], "kind": "disk"}]},  # type: ignore[dict-item]
        {"owned_auxiliary_resources": [{**OLD["owned_auxiliary_resources"][0], "kind": "allocation"}]},  # type: ignore[dict-item]
    ],
)
def test_a_part_that_cannot_be_read_is_never_taken_for_nothing(broken: dict[str, object]) -> None:
    with pytest.raises(IdentityError):
        sidecars.decode({**OLD, **broken})


def test_what_was_owned_stays_owned() -> None:
    grown = sidecars.owning(
        sidecars.decode(OLD), cluster_id="", provider_cluster_name="", auxiliaries=(ADDRESS,)
    )

    assert grown.cluster_id == "mk8scluster-1"
    assert grown.auxiliaries == (JAIL, ADDRESS)
    assert grown.filesystem_ids == ("computefilesystem-1", "computefilesystem-2")


def test_an_id_gets_its_name_once_the_state_knows_it() -> None:
    second = Auxiliary(
        "filesystem", "nebius_compute_v1_filesystem", "computefilesystem-2", "soperator-a1-spool"
    )
    grown = sidecars.owning(
        sidecars.decode(OLD), cluster_id="", provider_cluster_name="", auxiliaries=(second,)
    )

    assert grown.unnamed_filesystems == ()
    assert grown.filesystem_ids == ("computefilesystem-1", "computefilesystem-2")


def test_another_cluster_in_the_state_is_refused() -> None:
    with pytest.raises(OwnershipError) as raised:
        sidecars.owning(RECORD, cluster_id="mk8scluster-2", provider_cluster_name="x", auxiliaries=())

    assert (raised.value.expected, raised.value.found) == ("mk8scluster-1", "mk8scluster-2")


def test_a_cluster_without_a_name_is_refused() -> None:
    fresh = Sidecar("r", "t", "p", "s", "a1")

    with pytest.raises(IdentityError, match="no name"):
        sidecars.owning(fresh, cluster_id="mk8scluster-1", provider_cluster_name="", auxiliaries=())
