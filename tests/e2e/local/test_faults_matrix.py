"""The quicker rows of docs/reference/faults.md, each asserting what it says; `make faults` is all."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from bench.faults import clocks, cuts, disks, network, stops
from bench.faults.row import Row
from tests.e2e.local.harness import Npa


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(disks.before, id="no-room-to-begin-with"),
        pytest.param(disks.during, id="room-runs-out-during-a-deploy"),
        pytest.param(disks.after, id="room-runs-out-under-a-cluster"),
        pytest.param(network.quick, id="a-link-is-gone"),
        pytest.param(clocks.quick, id="all-clocks-jump"),
        pytest.param(stops.quick, id="slurmctld-is-halted"),
        pytest.param(lambda npa: cuts.reboot(npa, runs=1), id="the-machine-starts-anew"),
        pytest.param(lambda npa: cuts.destroys(npa, delays=(0.3, 0.4, 0.5, 0.6)), id="destroy-is-cut-short"),
    ],
)
def test_a_fault_is_named_and_repaired(npa: Npa, fault: Callable[[Npa], Row]) -> None:
    row = fault(npa)

    assert all(0 < seconds < 30 for seconds in (*row.deploy, *row.watch)), row
