"""Networks through the provider's own SDK, against a server on loopback."""

from __future__ import annotations

from collections.abc import Iterator

import grpc
import pytest
from nebius.api.nebius.vpc import v1 as vpc
from tests.fakes import provider as fake
from tests.fakes.provider import Fault, Provider

from npa.errors import ProviderDeniedError, ProviderNotFoundError
from npa.tools.nebius_network import Networks

PROJECT = "project-1"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with fake.serve(Provider()) as served:
        yield served


@pytest.fixture
def networks(provider: Provider) -> Iterator[Networks]:
    with Networks(provider.sdk(), deadline=10) as found:
        assert isinstance(found, Networks)
        yield found


def test_what_is_made_is_listed_and_then_gone(networks: Networks) -> None:
    network = networks.make_network(PROJECT, "lab-net")
    subnet = networks.make_subnet(PROJECT, network, "lab-subnet")

    assert networks.networks_of(PROJECT) == ((network, "lab-net"),)
    assert networks.subnets_of(PROJECT) == ((subnet, "lab-subnet"),)
    assert networks.networks_of("project-2") == ()

    networks.delete_subnet(subnet)
    networks.delete_network(network)

    assert networks.networks_of(PROJECT) == networks.subnets_of(PROJECT) == ()


def test_a_subnet_is_of_its_network(networks: Networks, provider: Provider) -> None:
    networks.make_subnet(PROJECT, "vpcnetwork-1", "lab-subnet")

    (made,) = provider.held["subnets"]
    assert isinstance(made, vpc.Subnet)
    assert made.spec.network_id == "vpcnetwork-1"


def test_only_the_provider_s_answer_proves_absence(networks: Networks, provider: Provider) -> None:
    with pytest.raises(ProviderNotFoundError):
        networks.delete_network("vpcnetwork-7")

    provider.faults["NetworkService/Delete"] = Fault(code=grpc.StatusCode.PERMISSION_DENIED)
    with pytest.raises(ProviderDeniedError):
        networks.delete_network("vpcnetwork-7")
