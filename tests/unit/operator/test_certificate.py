from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta

from npa.operator.runtime import certificate, server

NOW = datetime.now(UTC)
NAMES = ("npa-operator.ns.svc", "127.0.0.1")


def handshake(trusted: str, served: certificate.Pair, name: str = NAMES[0]) -> None:
    """Let a client that trusts some authorities meet a server, in memory."""
    ours = server.tls()
    server.take(ours, served)
    theirs = ssl.create_default_context(cadata=trusted)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = theirs.wrap_bio(to_client, to_server, server_hostname=name)
    serving = ours.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(5):
        for side in (client, serving):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue


def test_a_client_that_trusts_its_authority_accepts_it_for_each_name() -> None:
    pair = certificate.make(NAMES, NOW)

    for name in NAMES:
        handshake(pair.ca_pem, pair, name)


def test_a_client_that_trusts_another_does_not() -> None:
    pair, other = certificate.make(NAMES, NOW), certificate.make(NAMES, NOW)

    try:
        handshake(other.ca_pem, pair)
    except ssl.SSLCertVerificationError:
        return
    raise AssertionError("it was accepted")


def test_while_it_is_replaced_both_are_trusted() -> None:
    old = certificate.make(NAMES, NOW)
    new = certificate.make(NAMES, NOW, old)

    handshake(new.ca_pem, old)
    handshake(new.ca_pem, new)


def test_an_authority_of_two_certificates_ago_is_trusted_no_more() -> None:
    first = certificate.make(NAMES, NOW)
    third = certificate.make(NAMES, NOW, certificate.make(NAMES, NOW, first))

    assert third.ca_pem.count("BEGIN CERTIFICATE") == 2


def test_it_is_made_anew_in_time_and_for_other_names() -> None:
    pair = certificate.make(NAMES, NOW)
    late = certificate.ends(pair) - certificate.EARLY + timedelta(seconds=1)

    assert certificate.due(None, NAMES, NOW)
    assert not certificate.due(pair, NAMES, NOW)
    assert certificate.due(pair, NAMES, late)
    assert certificate.due(pair, ("other",), NOW)
    assert certificate.due(certificate.Pair("", "x", "y"), NAMES, NOW)


def test_a_pair_does_not_print_its_key() -> None:
    assert "PRIVATE" not in repr(certificate.make(NAMES, NOW))
