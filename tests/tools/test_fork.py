"""What children of the launcher report, in whatever order it arrives."""

from __future__ import annotations

import itertools
import os
from contextlib import closing

import pytest

from npa.tools import fork
from npa.tools.fork import Child, LaunchError, Pids


def child(*reports: dict[str, object]) -> Child:
    read, write = os.pipe()
    for each in reports:
        fork.say(write, **each)
    os.close(write)
    return Child(read)


@pytest.mark.parametrize(
    "order",
    [
        order
        for order in itertools.permutations(({"outer": 12}, {"in_lab": 3}, {"ready": True}))
        if order.index({"outer": 12}) < order.index({"ready": True})  # both are the first process's
    ],
)
def test_both_numbers_are_heard_and_nothing_is_lost(order: tuple[dict[str, object], ...]) -> None:
    with closing(child(*order)) as heard:
        assert heard.pids() == Pids(12, 3)
        assert heard.hear() == {"ready": True}


def test_an_error_is_raised_whenever_it_comes() -> None:
    with (
        closing(child({"outer": 12}, {"error": "no room"}, {"in_lab": 3})) as heard,
        pytest.raises(LaunchError, match="no room"),
    ):
        heard.pids()


def test_an_early_end_is_one() -> None:
    with closing(child({"in_lab": 3})) as heard, pytest.raises(LaunchError, match="before it was set up"):
        heard.pids()
