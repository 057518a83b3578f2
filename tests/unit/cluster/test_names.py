"""C28: node name to (pool, ordinal)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npa.cluster import names

POOLS = ("gpu", "gpu-1", "gpu-b200", "train-rack0")


@pytest.mark.parametrize(
    ("node", "owner"),
    [
        ("gpu-1-0", ("gpu-1", 0)),
        ("gpu-10", ("gpu", 10)),
        ("gpu-1", ("gpu", 1)),
        ("gpu-b200-07", None),
        ("gpu-b200-7", ("gpu-b200", 7)),
        ("train-rack0-3", ("train-rack0", 3)),
        ("login-0", None),
        ("gpu-", None),
        ("foo-3", None),
        ("", None),
        ("-", None),
        ("-1", None),
        ("gpu", None),
        ("gpu--1", None),
        ("gpu-٣", None),
        ("gpu-1\n", None),
        ("GPU-1", None),
        ("gpu-" + "9" * 5000, None),
    ],
)
def test_c28_the_last_hyphen_splits_and_only_known_pools_count(
    node: str, owner: tuple[str, int] | None
) -> None:
    assert names.owner(node, POOLS) == owner


@given(st.text())
def test_c28_no_name_raises(node: str) -> None:
    names.owner(node, POOLS)


@given(st.sampled_from(POOLS), st.integers(0, 99_999))
def test_c28_every_node_is_found_again(pool: str, ordinal: int) -> None:
    assert names.owner(f"{pool}-{ordinal}", POOLS) == (pool, ordinal)
