"""Tools on clusters at the provider. Terraform's plans are known only while a deploy runs: one that nobody
was shown stops it, with the plan and its digest, and the next call goes on from there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from npa.agent import digest as digests
from npa.agent import inputs
from npa.agent.errors import NotAgreedError
from npa.agent.tool import Heard
from npa.plan import codec

if TYPE_CHECKING:
    from npa.health.assess import Report
    from npa.plan.model import Plan
    from npa.spec.model import SoperatorSpec
    from npa.targets.nebius.options import NebiusOptions
    from npa.targets.nebius.phases import Agree

OPTIONS = (
    "project",
    "ref",
    "timeout_minutes",
    "gpu_creation_check_timeout_seconds",
    "apply_fixes",
    "approvals",
)
NOT_SHOWN = "a deploy at the provider begins with the digest of `infra.soperator.plan`"
NEXT_PLAN = "this plan of Terraform's has not been seen: nothing of it was done"


def deploy(
    spec: SoperatorSpec, asked: inputs.DeployInput, facts: Mapping[str, Any], heard: Heard
) -> dict[str, Any]:
    """Deploy, and stop before every plan but the one that the caller was shown."""
    from npa.api import nebius
    from npa.spec import public_plan

    if not asked.digest:
        public = public_plan.public_plan(spec)
        current = digests.digest("deploy", facts, public)
        raise NotAgreedError(NOT_SHOWN, public, current, hint=digests.PLAN_FIRST)

    return nebius.deploy(spec, _options(asked), agreeing(facts, asked.digest), heard)


def agreeing(facts: Mapping[str, Any], digest: str) -> Agree:
    """Return what agrees to the one plan of this digest, and stops at any other, which is in the error."""

    def agree(plan: Plan, asks: bool) -> None:
        document = codec.encode(plan)
        current = digests.digest("deploy", facts, document)
        if asks and current != digest:
            raise NotAgreedError(NEXT_PLAN, document, current, hint=digests.PLAN_FIRST)

    return agree


def status(name: str) -> tuple[Report, dict[str, Any]]:
    """Return how well an installation is, and what else is known of it."""
    from npa.api import nebius
    from npa.targets.nebius.options import NebiusOptions

    seen = nebius.status(name, NebiusOptions())
    return seen.report, seen.document()


def plan_destroy(name: str, *, force: bool) -> Plan:
    """Return what a destroy would end."""
    from npa.api import nebius
    from npa.targets.nebius.options import NebiusOptions

    return nebius.plan_destroy(name, NebiusOptions(), force=force)


def destroy(name: str, heard: Heard) -> dict[str, Any]:
    """End an installation."""
    from npa.api import nebius
    from npa.targets.nebius.options import NebiusOptions

    return nebius.destroy(name, NebiusOptions(), heard=heard)


def ref(asked: inputs.DeployInput) -> str:
    """Return the commit of the recipe that a deploy begins with."""
    from npa.render.nebius import adapter

    return asked.ref or adapter.PIN


def _options(asked: inputs.DeployInput) -> NebiusOptions:
    from npa.targets.nebius.options import NebiusOptions

    return NebiusOptions(
        project=asked.project,
        ref=asked.ref,
        timeout=asked.timeout_minutes * 60,
        gate_timeout=asked.gpu_creation_check_timeout_seconds,
        fixes=asked.apply_fixes,
        approvals=asked.approvals,
    )
