"""How long the guard takes for a plan of many resources; `bench.run` may add its row."""

from __future__ import annotations

import json
import sys
from time import perf_counter
from typing import Any

from bench.report import Row

from npa.render.nebius import plan_text, tfguard, tfjson
from npa.render.nebius.adapter import PIN, adapter
from npa.render.nebius.plan_text import Context
from npa.render.nebius.tfguard import Request

RESOURCES = 5000
AIM = 1.0  # seconds


def large(count: int = RESOURCES) -> str:
    """Return a plan in which a third of the resources is made, changed in place and left as it is."""
    return json.dumps(
        {
            "format_version": "1.2",
            "resource_changes": [_change(number) for number in range(count)],
            "errored": False,
            "complete": True,
            "applyable": True,
        }
    )


def judge(text: str) -> int:
    """Read, judge and explain a plan; return its steps."""
    known = adapter(PIN)
    verdict = tfguard.decide(tfjson.decode(json.loads(text)), known, Request(2))
    return len(plan_text.plan(verdict, Context("large", known)).steps)


def guard(runs: int = 5) -> Row:
    text = large()
    samples = []
    for _ in range(runs):
        begin = perf_counter()
        judge(text)
        samples.append(perf_counter() - begin)
    return Row(f"guard of a plan of {RESOURCES:,} resources", "s", tuple(samples), AIM)


def _change(number: int) -> dict[str, Any]:
    actions = ("create", "update", "no-op")[number % 3]
    old, new = (_group(number, size) for size in (4, 5 if actions == "update" else 4))
    return {
        "address": f"module.k8s.nebius_mk8s_v1_node_group.worker_v2[{number}]",
        "module_address": "module.k8s",
        "mode": "managed",
        "type": "nebius_mk8s_v1_node_group",
        "name": "worker_v2",
        "index": number,
        "provider_name": "registry.terraform.io/nebius/nebius",
        "change": {
            "actions": [actions],
            "before": None if actions == "create" else old,
            "after": new,
            "after_unknown": {"id": True, "status": {"ready_node_count": True}} if actions != "no-op" else {},
            "before_sensitive": False if actions == "create" else {"template": {}},
            "after_sensitive": {"template": {"cloud_init_user_data": True}},
        },
    }


def _group(number: int, size: int) -> dict[str, Any]:
    template = {
        "resources": {"platform": "gpu-b200-sxm", "preset": "8gpu-160vcpu-1792gb"},
        "boot_disk": {"type": "NETWORK_SSD", "size_gibibytes": 1023},
        "cloud_init_user_data": "#cloud-config\n" * 50,
        "filesystems": [{"attach_mode": "READ_WRITE", "mount_tag": f"tag-{index}"} for index in range(4)],
    }
    labels = {f"label-{index}": "value" for index in range(10)}
    name = f"pool{number}-0"
    return {
        "name": name,
        "fixed_node_count": size,
        "autoscaling": None,
        "labels": labels,
        "template": template,
    }


if __name__ == "__main__":
    print(guard(), file=sys.stderr)
