"""Plans as `terraform show -json` writes them, put together by hand."""

from __future__ import annotations

from typing import Any

from npa.render.nebius import tfguard, tfjson
from npa.render.nebius.adapter import PIN, adapter
from npa.render.nebius.tfguard import Request, Verdict

NEBIUS = "registry.terraform.io/nebius/nebius"
GROUP = "nebius_mk8s_v1_node_group"
VOLUME = "nebius_compute_v1_filesystem"
BUILTIN = "terraform.io/builtin/terraform"


def resource(
    address: str, *actions: str, kind: str = "", provider: str = NEBIUS, **more: Any
) -> dict[str, Any]:
    """Return an entry of `resource_changes`; what is no key of the entry is one of its change."""
    *module, found, last = address.rsplit(".", 2) if "." in address else ["", "x", address]
    top = ("previous_address", "deposed", "action_reason", "mode", "index")
    entry: dict[str, Any] = {
        "address": address,
        "mode": "managed",
        "type": kind or found,
        "name": last.partition("[")[0],
        "provider_name": provider,
        **{key: value for key, value in more.items() if key in top},
        "change": {
            "actions": list(actions),
            "before": None,
            "after": None,
            "after_unknown": {},
            "before_sensitive": False,
            "after_sensitive": False,
            **{key: value for key, value in more.items() if key not in top},
        },
    }
    if module and module[0]:
        entry["module_address"] = module[0]
    return entry


def workers(index: int, *actions: str, old: Any = None, new: Any = None, **more: Any) -> dict[str, Any]:
    """Return a change of the group of workers with this number."""
    address = f"module.k8s.{GROUP}.worker_v2[{index}]"
    return resource(address, *actions, kind=GROUP, before=old, after=new, **more)


def group(name: str, size: int | None, **more: Any) -> dict[str, Any]:
    """Return the attributes of a node group."""
    return {"name": name, "fixed_node_count": size, "autoscaling": None, **more}


def document(*resources: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a plan."""
    return {
        "format_version": "1.2",
        "terraform_version": "1.12.2",
        "resource_changes": list(resources),
        "errored": False,
        "complete": True,
        "applyable": any(each["change"]["actions"] != ["no-op"] for each in resources),
        **more,
    }


def judge(plan: Any, *approvals: str, code: int | None = None, **more: Any) -> Verdict:
    """Return the verdict on a plan of the pinned recipe."""
    decoded = tfjson.decode(plan)
    if code is None:
        code = 2 if decoded.changes else 0
    return tfguard.decide(decoded, adapter(PIN), Request(code, approvals=approvals, **more))
