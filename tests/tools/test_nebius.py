"""The real SDK against a provider on loopback."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from grpc import StatusCode
from nebius.api.nebius.compute import v1 as compute
from nebius.api.nebius.iam import v2 as iam
from nebius.api.nebius.vpc import v1 as vpc
from tests.fakes import provider as fake
from tests.fakes.provider import Fault, Provider

from npa.errors import (
    ProviderDeniedError,
    ProviderError,
    ProviderNotFoundError,
    ProviderTransientError,
    ProviderUnknownError,
    ToolMissingError,
)
from npa.tools import nebius, nebius_session
from npa.tools.nebius import Nebius

CLUSTER = "mk8scluster-1"


@pytest.fixture
def provider() -> Iterator[Provider]:
    held: dict[str, list[Any]] = {
        "projects": [fake.project()],
        "tenants": fake.several(iam.Tenant, ["tenant-1", "tenant-2"], ""),
        "subnets": fake.several(vpc.Subnet, ["vpcsubnet-1", "vpcsubnet-2"], "project-1"),
        "allocations": fake.several(vpc.Allocation, ["vpcallocation-1"], "project-1"),
        "filesystems": fake.several(compute.Filesystem, ["fs-1", "fs-2", "fs-3"], "project-1"),
        "clusters": [fake.cluster(CLUSTER)],
        "quotas": [fake.allowance(f"quota.{index}", 10, index) for index in range(7)],
        "blocks": [fake.block("cbg-1", limit=32, usage=8)],
        "advice": [fake.advised(3)],
    }
    with fake.serve(Provider(held)) as serving:
        yield serving


@pytest.fixture
def client(provider: Provider) -> Iterator[Nebius]:
    with Nebius(provider.sdk(), deadline=2) as connected:
        yield connected


def test_what_is_there_is_read(provider: Provider, client: Nebius) -> None:
    found = client.survey("tenant-1", "project-1", reserved=True)

    assert (found.project.parent, found.project.region) == ("tenant-1", "eu-north1")
    assert [each.id for each in found.subnets] == ["vpcsubnet-1", "vpcsubnet-2"]
    assert (found.blocks[0].limit, found.blocks[0].usage, found.blocks[0].fabric) == (32, 8, "fabric-3")
    assert (found.advice[0].available, found.advice[0].data_state) == (3, "DATA_STATE_FRESH")
    assert [each.name for each in client.tenants()] == ["name-of-tenant-1", "name-of-tenant-2"]
    assert set(provider.tokens) == {"good"}


def test_a_cluster_is_reached_by_its_own_endpoint_and_certificate(client: Nebius) -> None:
    access = client.cluster_access(CLUSTER)

    assert (access.endpoint, access.name) == ("https://k8s.example:443", "soperator-quick")
    assert access.ca.startswith("-----BEGIN")
    assert "good" not in repr(access)
    assert str(access.token) == "***"


def test_a_cluster_without_an_endpoint_is_unknown(provider: Provider, client: Nebius) -> None:
    provider.held["clusters"] = [fake.cluster(CLUSTER, endpoint="")]

    with pytest.raises(ProviderUnknownError):
        client.cluster_access(CLUSTER)


def test_every_page_is_read(provider: Provider, client: Nebius) -> None:
    provider.page_size = 2

    assert [each.usage for each in client.allowances("tenant-1", "eu-north1")] == list(range(7))
    assert client.allowances("tenant-1", "elsewhere") == ()
    assert provider.calls.count("QuotaAllowanceService/List") == 8


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        pytest.param(Fault(endless=True), ProviderUnknownError, id="endless"),
        pytest.param(Fault(StatusCode.INTERNAL, after=2), ProviderUnknownError, id="breaks-off"),
        pytest.param(Fault(StatusCode.PERMISSION_DENIED, after=1), ProviderDeniedError, id="denied-half-way"),
    ],
)
def test_a_list_that_does_not_end_well_is_no_list(
    provider: Provider, client: Nebius, fault: Fault, error: type[ProviderError]
) -> None:
    provider.page_size = 2
    provider.faults["QuotaAllowanceService/List"] = fault

    with pytest.raises(error):
        client.allowances("tenant-1")


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        pytest.param(Fault(StatusCode.NOT_FOUND, missing=CLUSTER), ProviderNotFoundError, id="C23-a"),
        pytest.param(Fault(StatusCode.UNAUTHENTICATED), ProviderDeniedError, id="C23-b"),
        pytest.param(Fault(StatusCode.PERMISSION_DENIED), ProviderDeniedError, id="denied"),
        pytest.param(Fault(StatusCode.UNAVAILABLE), ProviderTransientError, id="C23-c"),
        pytest.param(Fault(StatusCode.RESOURCE_EXHAUSTED), ProviderTransientError, id="too-many-requests"),
        pytest.param(Fault(garbage=b""), ProviderUnknownError, id="C23-d-empty"),
        pytest.param(Fault(garbage=b"\xff\xff\xff"), ProviderUnknownError, id="unreadable"),
        pytest.param(Fault(StatusCode.INTERNAL, "not found"), ProviderUnknownError, id="C23-e-text-only"),
        pytest.param(Fault(StatusCode.NOT_FOUND), ProviderUnknownError, id="not-found-of-nothing"),
        pytest.param(
            Fault(StatusCode.NOT_FOUND, missing="project-1"),
            ProviderUnknownError,
            id="not-found-of-its-parent",
        ),
        pytest.param(
            Fault(StatusCode.UNAVAILABLE, missing=CLUSTER), ProviderTransientError, id="details-without-code"
        ),
    ],
)
def test_c23_only_the_structured_not_found_of_the_id_is_absence(
    provider: Provider, client: Nebius, fault: Fault, error: type[ProviderError]
) -> None:
    provider.faults["ClusterService/Get"] = fault

    with pytest.raises(ProviderError) as raised:
        client.cluster(CLUSTER)

    assert type(raised.value) is error
    assert raised.value.resource == CLUSTER


def test_an_answer_about_another_id_is_no_answer(provider: Provider, client: Nebius) -> None:
    provider.held["clusters"].append(fake.cluster("mk8scluster-2"))
    provider.faults["ClusterService/Get"] = Fault(other="mk8scluster-2")

    with pytest.raises(ProviderUnknownError):
        client.cluster(CLUSTER)


@pytest.mark.parametrize(
    ("kind", "key"),
    [("filesystem", "fs-2"), ("allocation", "vpcallocation-1"), ("cluster", CLUSTER)],
)
def test_what_is_deleted_is_proven_gone(client: Nebius, kind: Any, key: str) -> None:
    assert client.owned(kind, key).parent == "project-1"

    client.delete(kind, key)

    assert key not in [each.id for each in client.all_owned(kind, "project-1")]
    with pytest.raises(ProviderNotFoundError):
        client.owned(kind, key)
    with pytest.raises(ProviderNotFoundError):
        client.delete(kind, key)


def test_a_call_that_hangs_ends_at_its_deadline(provider: Provider) -> None:
    provider.latency = 1.5
    with Nebius(provider.sdk(), deadline=0.4) as client:
        began = time.monotonic()

        with pytest.raises(ProviderTransientError):
            client.cluster(CLUSTER)

        assert time.monotonic() - began < 1.2


def test_a_short_outage_is_sat_out(provider: Provider, client: Nebius) -> None:
    provider.faults["ClusterService/Get"] = Fault(StatusCode.UNAVAILABLE, times=1)

    assert client.cluster(CLUSTER).state == "RUNNING"


def test_a_preflight_over_a_slow_line_takes_a_second_at_most(provider: Provider, client: Nebius) -> None:
    provider.latency = 0.05
    client.tenants()  # connected and imported
    began = time.monotonic()

    client.survey("tenant-1", "project-1", reserved=True)

    assert time.monotonic() - began < 1


def test_what_a_reservation_is_called_by_is_in_no_error(provider: Provider, client: Nebius) -> None:
    provider.faults["CapacityBlockGroupService/Get"] = Fault(StatusCode.INTERNAL, "what is cbg-secret?")

    with pytest.raises(ProviderUnknownError) as raised:
        client.capacity_block_group("cbg-secret")

    shown: list[str] = []
    error: BaseException | None = raised.value
    while error is not None:
        shown.append(f"{error!r} {vars(error)}")
        error = error.__cause__ or error.__context__
    assert "cbg-secret" not in "".join(shown)


def test_a_reservation_is_looked_up_wherever_it_is(provider: Provider, client: Nebius) -> None:
    provider.held["blocks"].append(fake.block("cbg-2", limit=8, usage=0, tenant="tenant-2"))

    found = client.capacity_block_group("cbg-2")

    assert found is not None
    assert found.parent == "tenant-2"
    assert client.capacity_block_group("cbg-3") is None


@pytest.mark.parametrize(
    ("environ", "profile", "token", "ignored"),
    [
        pytest.param({}, "", "", (), id="nothing"),
        pytest.param({"NEBIUS_PROFILE": "a", "NPA_NEBIUS_PROFILE": "b"}, "b", "", (), id="profile"),
        pytest.param({"NEBIUS_IAM_TOKEN": "old"}, "", "", ("NEBIUS_IAM_TOKEN",), id="C23-stale-token"),
        pytest.param(
            {"NEBIUS_IAM_TOKEN": "n", "TF_VAR_iam_token": "t", "NPA_REUSE_IAM_TOKEN": "Yes"},
            "",
            "t",
            (),
            id="asked-for",
        ),
        pytest.param(
            {"NEBIUS_IAM_TOKEN": "n", "NPA_REUSE_IAM_TOKEN": "0"}, "", "", ("NEBIUS_IAM_TOKEN",), id="not-0"
        ),
    ],
)
def test_c23_a_token_in_the_environment_is_used_only_where_asked(
    environ: Mapping[str, str], profile: str, token: str, ignored: tuple[str, ...]
) -> None:
    choice = nebius_session.choose(environ)

    assert (choice.profile, choice.token, choice.ignored) == (profile, token, ignored)
    assert not token or f"token='{token}'" not in repr(choice)


def test_the_profile_wins_over_a_stale_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text("fresh", encoding="utf-8")
    config = tmp_path / "config.yaml"
    config.write_text(f"default: me\nprofiles: {{me: {{token-file: {tmp_path}/token}}}}\n", encoding="utf-8")
    monkeypatch.setenv("NEBIUS_IAM_TOKEN", "stale")

    choice = nebius_session.choose({"NEBIUS_IAM_TOKEN": "stale"})
    with Nebius(nebius_session.open_sdk(choice, config_file=str(config))) as client:
        assert client.token().value == "fresh"


def test_a_persons_profile_signs_in_through_the_cli_without_the_stale_token(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "default: me\nprofiles: {me: {auth-type: federation, federation-id: f, federation-endpoint: e}}\n",
        encoding="utf-8",
    )
    asked: list[tuple[list[str], dict[str, str]]] = []

    def run(argv: Any, *, env: Any = None, **_: Any) -> str:
        asked.append((list(argv), dict(env)))
        return "fresh\n"

    environ = {"NEBIUS_IAM_TOKEN": "stale", "HOME": "/root"}
    choice = nebius_session.choose(environ)
    sdk = nebius_session.open_sdk(choice, config_file=str(config), environ=environ, execute=run)
    with Nebius(sdk) as client:
        assert client.token().value == "fresh"
        assert client.token().value == "fresh"

    assert asked == [(["nebius", "--profile", "me", "iam", "get-access-token"], {"HOME": "/root"})]


def test_no_credentials_say_what_to_do(tmp_path: Path) -> None:
    choice = nebius_session.choose({"NEBIUS_IAM_TOKEN": "stale"})

    with pytest.raises(ProviderDeniedError) as raised:
        nebius_session.open_sdk(choice, config_file=str(tmp_path / "none.yaml"))

    assert "NPA_REUSE_IAM_TOKEN=1" in raised.value.hint


def test_without_the_sdk_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nebius.sdk", None)

    with pytest.raises(ToolMissingError) as raised:
        nebius.connect({"TF_VAR_iam_token": "t", "NPA_REUSE_IAM_TOKEN": "1"})

    assert raised.value.hint == "pip install 'npa[nebius]'"


def test_the_sdk_is_imported_only_when_it_is_used() -> None:
    code = "import sys, npa.tools.nebius; print('nebius' in sys.modules, 'grpc' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "False"]
    assert nebius.DEADLINE < 60
