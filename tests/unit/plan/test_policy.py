from __future__ import annotations

import pytest

from npa.plan import policy


@pytest.mark.parametrize(
    ("keys", "restart"),
    [
        ({"nodename", "partitionname"}, False),
        ({"SelectType"}, True),
        ({"killwait", "accountingstoragetype"}, True),
        (set(), False),
    ],
)
def test_needs_restart(keys: set[str], restart: bool) -> None:
    assert policy.needs_restart(keys) is restart
