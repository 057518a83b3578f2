from __future__ import annotations

from decimal import Decimal

import pytest

from npa.errors import SpecError
from npa.render.nebius import cost, inventory, prices
from npa.render.nebius.inventory import Inventory
from npa.spec.model import SoperatorSpec, WorkerPoolSpec

SPEC = SoperatorSpec(name="quick", workers=(WorkerPoolSpec(name="cpu", preset="16vcpu-64gb", size=2),))
TABLE = """
apiVersion: npa.prices/v1
as_of: 2026-11-01
currency: USD
machines:
  cpu-d3/16vcpu-64gb: {on-demand: "0.10"}
disks: {NETWORK_SSD: "0.073"}
"""


def test_what_ships_knows_no_price() -> None:
    found = cost.estimate(SPEC, prices.UNKNOWN)

    assert found.known_hourly is None
    assert not found.complete
    assert str(found) == "cost: unknown, no price table has these machines"


def test_an_unknown_price_is_not_zero() -> None:
    found = cost.estimate(SPEC, prices.parse(TABLE))

    # 3 system nodes, controller, login node and 2 workers; boot disks of 4 x 128, 256 and 2 x 512 GiB
    assert found.known_hourly == Decimal("0.70") + Decimal("0.0001") * (4 * 128 + 256 + 2 * 512)
    assert not found.complete
    assert "jail filesystem" in found.unknown
    assert "Kubernetes control plane" in found.unknown
    assert "not counted, price unknown: home volume" in str(found)


def test_growth_of_the_system_nodes_is_told() -> None:
    found = cost.estimate(SPEC, prices.parse(TABLE))

    assert found.known_hourly is not None
    assert found.known_hourly_most is not None
    assert found.known_hourly_most - found.known_hourly == 21 * (Decimal("0.10") + Decimal("0.0128"))


def test_each_way_to_pay_has_its_own_price() -> None:
    spot = WorkerPoolSpec(name="cpu", preset="16vcpu-64gb", preemptible=True)
    things = Inventory(machines=inventory.of_pool(spot).machines)
    table = prices.parse(TABLE.replace("on-demand", "preemptible"))

    assert cost.estimate_of(things, prices.parse(TABLE)).unknown == ("pool 'cpu' (16vcpu-64gb, preemptible)",)
    assert cost.estimate_of(things, table).complete


def test_a_price_of_nothing_is_a_price() -> None:
    table = prices.parse(TABLE + 'cluster_hour: "0"\n')

    assert "Kubernetes control plane" not in cost.estimate(SPEC, table).unknown


def test_json_is_a_table_too() -> None:
    text = '{"apiVersion": "npa.prices/v1", "as_of": "x", "currency": "EUR", "address_hour": "0.004"}'

    assert prices.parse(text).address_hour == Decimal("0.004")


@pytest.mark.parametrize(
    ("text", "at"),
    [
        pytest.param("- 1", [""], id="list"),
        pytest.param("a: [", [""], id="not-yaml"),
        pytest.param("{}", ["apiVersion", "as_of", "currency"], id="empty"),
        pytest.param(TABLE.replace("v1", "v9"), ["apiVersion"], id="version"),
        pytest.param(TABLE + "disk: {}", ["disk"], id="typo"),
        pytest.param(TABLE.replace("0.073", "-1"), ["disks.NETWORK_SSD"], id="negative"),
        pytest.param(TABLE.replace("0.073", "NaN"), ["disks.NETWORK_SSD"], id="nan"),
        pytest.param(TABLE.replace("0.10", "free"), ["machines.cpu-d3/16vcpu-64gb.on-demand"], id="word"),
        pytest.param(TABLE.replace("on-demand", "spot"), ["machines.cpu-d3/16vcpu-64gb.spot"], id="mode"),
        pytest.param(TABLE.replace("cpu-d3/", ""), ["machines.16vcpu-64gb"], id="no-platform"),
        pytest.param(
            TABLE.replace("{NETWORK_SSD: ", "[").replace('73"}', '73"]'), ["disks"], id="no-mapping"
        ),
        pytest.param(TABLE + "filesystems: {NETWORK_SSD: [1]}", ["filesystems.NETWORK_SSD"], id="amounts"),
        pytest.param(TABLE + "cluster_hour:", ["cluster_hour"], id="nothing"),
    ],
)
def test_a_table_that_is_none_says_where(text: str, at: list[str]) -> None:
    with pytest.raises(SpecError) as raised:
        prices.parse(text, "prices.yaml")

    assert [problem.at for problem in raised.value.problems] == at
    assert str(raised.value.problems[0]).startswith("prices.yaml")
