from __future__ import annotations

from pathlib import Path

import pytest

from npa.agent import server
from npa.agent.errors import InputError
from npa.agent.server import Address
from npa.errors import UsageError

PEM = Path("x.pem")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost"])
def test_this_machine_needs_nothing(host: str) -> None:
    server.check(Address(host))


@pytest.mark.parametrize(
    ("address", "problems"),
    [
        pytest.param(Address("0.0.0.0"), 2, id="everywhere"),
        pytest.param(Address("::"), 2, id="everywhere-6"),
        pytest.param(Address("192.0.2.1", remote=True), 1, id="without-tls"),
        pytest.param(Address("192.0.2.1", certificate=PEM, key=PEM), 1, id="not-said"),
        pytest.param(Address("example.test", remote=True), 1, id="a-name-may-lead-anywhere"),
        pytest.param(Address(certificate=PEM), 1, id="certificate-without-key"),
        pytest.param(Address("192.0.2.1", remote=True, key=PEM), 2, id="key-without-certificate"),
    ],
)
def test_other_machines_are_let_in_only_where_that_is_said_and_safe(address: Address, problems: int) -> None:
    with pytest.raises(InputError) as caught:
        server.check(address)

    assert len(caught.value.problems) == problems


def test_with_both_other_machines_are_let_in() -> None:
    server.check(Address("192.0.2.1", remote=True, certificate=PEM, key=PEM))


def test_a_port_that_is_taken_is_told() -> None:
    with server.listen(Address(port=0)) as taken, pytest.raises(UsageError, match="in use"):
        server.listen(Address(port=taken.getsockname()[1]))


def test_a_free_port_is_named() -> None:
    address = Address(port=0)

    with server.listen(address) as bound:
        assert server.url(address, bound) == f"http://127.0.0.1:{bound.getsockname()[1]}"


@pytest.mark.parametrize(
    ("content", "why"),
    [pytest.param(None, "no such file", id="absent"), pytest.param("junk", "no certificate", id="junk")],
)
def test_a_certificate_that_cannot_be_used_is_told(content: str | None, why: str, tmp_path: Path) -> None:
    pem = tmp_path / "x.pem"
    if content is not None:
        pem.write_text(content)

    with pytest.raises(UsageError, match=why):
        server.listen(Address(port=0, certificate=pem, key=pem))
