from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npa.render.local import addresses

NAMES = st.lists(st.text("abc-0123", min_size=1, max_size=8), unique=True, max_size=40)


@given(NAMES, NAMES)
def test_an_address_stays_with_its_node_and_is_nobody_elses(before: list[str], after: list[str]) -> None:
    first = addresses.assign({}, before)
    second = addresses.assign(first, after)

    assert list(second) == after
    assert len(set(second.values())) == len(after)
    assert all(second[name] == first[name] for name in after if name in first)


def test_addresses_are_of_one_private_network() -> None:
    given = addresses.assign({}, (f"n-{i}" for i in range(600)))

    assert all(ipaddress.ip_address(each) in ipaddress.ip_network("10.77.0.0/16") for each in given.values())
    assert given["n-0"] == "10.77.0.2"


def test_more_nodes_than_addresses_are_refused() -> None:
    with pytest.raises(ValueError, match="no address is left for n-65533"):
        addresses.assign({}, (f"n-{i}" for i in range(65_534)))
