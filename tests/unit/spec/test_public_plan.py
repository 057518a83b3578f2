from __future__ import annotations

import json

from tests.unit.spec.asking import GPU, HEAD, MINIMAL
from tests.unit.spec.test_load import EXAMPLE

from npa.spec import load
from npa.spec.public_plan import public_plan, public_plan_text


def test_the_plan_has_its_keys_in_order() -> None:
    assert json.dumps(public_plan(load.parse(EXAMPLE)), indent=2) == (
        """\
{
  "name": "npasop",
  "region": "us-central1",
  "control_plane": {
    "system_min_size": 3,
    "system_max_size": 24
  },
  "workers": [
    {
      "name": "cpu8",
      "platform": "cpu-d3",
      "preset": "8vcpu-32gb",
      "size": 1,
      "capacity_mode": "on-demand",
      "reservation_selector": null,
      "reservation_verified": null
    },
    {
      "name": "gpu",
      "platform": "gpu-b200-sxm",
      "preset": "8gpu-160vcpu-1792gb",
      "size": 2,
      "capacity_mode": "preemptible",
      "reservation_selector": null,
      "reservation_verified": null
    }
  ],
  "reservation_preflight": "not-required",
  "provider_mutation": false,
  "schema_version": "npa.soperator.public-plan/v1"
}"""
    )


def test_the_plan_in_words() -> None:
    assert public_plan_text(load.parse(EXAMPLE)) == (
        "cluster npasop in us-central1\n"
        "system autoscaling: 3..24\n"
        "pool cpu8: 1 x 8vcpu-32gb, on-demand\n"
        "pool gpu: 2 x 8gpu-160vcpu-1792gb, preemptible\n"
    )
    assert public_plan_text(load.parse(MINIMAL)).startswith("cluster lab in (resolve-at-deploy)\n")


def test_a_reservation_is_told_by_kind_and_never_by_value() -> None:
    for field, kind in (("capacity_block_group", "id"), ("capacity_block_group_name", "name")):
        spec = load.parse(f"{HEAD}workers: [{{name: g1, {GPU}, {field}: hush-hush}}]")
        plan = public_plan(spec)

        assert plan["workers"][0]["reservation_selector"] == kind
        assert plan["workers"][0]["reservation_verified"] is False
        assert plan["reservation_preflight"] == "required"
        assert "hush" not in json.dumps(plan) + public_plan_text(spec)
        assert "checked with the provider" in public_plan_text(spec)
