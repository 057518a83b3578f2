"""What a deploy has come to, as JSON shows it: the keys are those that existing scripts read; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from npa.render.nebius.gate import FAILURE_CODE, GateResult
from npa.spec import public_plan
from npa.spec.model import SoperatorSpec

SCHEMA_VERSION = "npa.soperator.deploy/v1"
BACKEND = "soperator"
RECOVERY = "make Terraform's state readable and run the same deploy again; do not delete anything by its name"


@dataclass(frozen=True, slots=True)
class DeploymentValidationFailure:
    """What a validation did not prove; safe to show to anybody."""

    code: str
    message: str
    check: str
    pool: str = ""
    phase: str = ""
    cleanup_confirmed: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what is known of it."""
        known = {"pool": self.pool, "phase": self.phase}
        document: dict[str, Any] = {
            "status": "failed",
            "code": self.code,
            "check": self.check,
            "message": self.message,
            **{key: text for key, text in known.items() if text},
        }
        if self.cleanup_confirmed is not None:
            document["cleanup_confirmed"] = self.cleanup_confirmed
        return document


@dataclass(frozen=True, slots=True)
class Guarded:
    """What the plans of a deploy were, all of them checked."""

    plans: int = 0
    replaced: int = 0  # approved one by one
    refreshed: int = 0  # audited, and local to this machine


@dataclass(frozen=True, slots=True)
class About:
    """What every result says of the cluster."""

    spec: SoperatorSpec
    region: str
    project_id: str
    folder: str
    context: str
    verified: frozenset[str] = field(default_factory=frozenset)  # pools whose reservation was found

    def document(self) -> dict[str, Any]:
        """Return the part that all results share."""
        public = public_plan.public_plan(self.spec)
        workers = [
            {**each, "reservation_verified": each["name"] in self.verified}
            if each["capacity_mode"] == "reserved"
            else each
            for each in public["workers"]
        ]
        return {
            "schema_version": SCHEMA_VERSION,
            "name": self.spec.name,
            "region": self.region,
            "project_id": self.project_id,
            "install_dir": self.folder,
            "kube_context": self.context,
            "worker_pools": [pool.name for pool in self.spec.workers],
            "docker_cache_pools": [pool.name for pool in self.spec.workers if pool.docker_cache],
            "control_plane": public["control_plane"],
            "workers": workers,
            "backend": BACKEND,
        }


def source_passed(about: About, ref: str) -> dict[str, Any]:
    """Return the result of a deploy that stops once its source is verified."""
    return {
        **about.document(),
        "solutions_library_ref": ref,
        "status": "source-preflight-passed",
        "provider_mutation": False,
    }


def applied(
    about: About, guarded: Guarded, warnings: Sequence[str] | None, gate: GateResult
) -> dict[str, Any]:
    """Return the result once everything is applied; `warnings` is None where repairs were left out."""
    repairs: Mapping[str, Any] = (
        {}
        if warnings is None
        else {"post_deploy_fixes": "applied", "post_deploy_fix_warnings": list(warnings)}
    )
    failed = failure(gate)
    return {
        **about.document(),
        "replacement_guard": {
            "status": "passed",
            "plans_checked": guarded.plans,
            "replacement_count": guarded.replaced,
            "safe_local_replacements_applied": guarded.refreshed,
        },
        **repairs,
        "gpu_creation_checks": gate.public()["pools"],
        "status": "degraded-validation" if failed else "ready",
        "deployment_status": "applied",
        "validation": failed.to_dict() if failed else {"status": "passed", "check": "gpu-creation"},
    }


def failure(gate: GateResult) -> DeploymentValidationFailure | None:
    """Return what the GPU gate did not prove, None where it passed."""
    if gate.ok:
        return None
    message = gate.message or "the GPU creation gate did not pass"
    return DeploymentValidationFailure(
        FAILURE_CODE, message, "gpu-creation", gate.pool, gate.phase or "", gate.cleanup_confirmed
    )


def uncaptured(about: About, error: str) -> dict[str, Any]:
    """Return the result of a deploy whose ownership could not be recorded."""
    return {
        **about.document(),
        "status": "deployed-state-capture-failed",
        "deployment_status": "applied",
        "error": error,
        "recovery": RECOVERY,
    }
