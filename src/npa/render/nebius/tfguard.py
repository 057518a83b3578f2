"""What a Terraform plan may do: decided from the plan alone, refused where it is not understood; pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from npa.errors import DestructiveError, RefusedError
from npa.render.nebius import approvals, harm, subjects, tfplan
from npa.render.nebius.adapter import Adapter
from npa.render.nebius.harm import Finding
from npa.render.nebius.tfplan import ResourceChange, TerraformPlan

NO_CHANGES, CHANGES = 0, 2  # what `terraform plan -detailed-exitcode` says
KEPT = "nothing was applied; identity, state and cluster are as they were"


@dataclass(frozen=True, slots=True)
class Request:
    """How the plan was made, and what the caller allows."""

    exit_code: int
    targeted: bool = False  # made with -target by us: then it is never complete
    destroying: bool = False  # made with -destroy: then it does nothing but delete
    approvals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the plan may be applied, and all that speaks against it."""

    plan: TerraformPlan
    digest: str
    faults: tuple[str, ...] = ()  # not understood, or not a plan that can be applied: nobody can allow these
    findings: tuple[Finding, ...] = ()
    misplaced: tuple[str, ...] = ()  # approvals that allow nothing
    refreshed: tuple[str, ...] = ()  # audited replacements of what is local to this machine
    notes: tuple[str, ...] = ()

    @property
    def refused(self) -> tuple[Finding, ...]:
        """What nobody has allowed."""
        return tuple(each for each in self.findings if not each.approved)

    @property
    def ok(self) -> bool:
        """Whether exactly this plan may be applied."""
        return not (self.faults or self.misplaced or self.refused)

    @property
    def nothing_to_do(self) -> bool:
        """Whether an apply would change nothing; then there is none."""
        return self.ok and not self.plan.changes

    def approval(self, finding: Finding) -> str:
        """Return the text that allows a finding; empty where nobody can."""
        return f"{finding.key}@{self.digest}" if finding.approvable else ""


def decide(plan: TerraformPlan, adapter: Adapter, request: Request) -> Verdict:
    """Return the verdict on a plan."""
    digest = tfplan.digest(plan)
    exempt = frozenset() if request.destroying else _refreshed(plan.resources, adapter)
    findings = tuple(_findings(plan, adapter, request, exempt))
    wanted = {each.key for each in findings if each.approvable}
    allowed = approvals.granted(request.approvals, digest, wanted)
    return Verdict(
        plan=plan,
        digest=digest,
        faults=(*plan.faults, *_faults(plan, request)),
        findings=tuple(replace(each, approved=each.key in allowed and each.approvable) for each in findings),
        misplaced=tuple(approvals.problems(request.approvals, digest, wanted)),
        refreshed=tuple(sorted(exempt)),
        notes=tuple(_notes(plan, adapter)),
    )


def check(verdict: Verdict) -> None:
    """Raise RefusedError, with everything at once, unless the plan may be applied."""
    if verdict.faults:
        raise RefusedError(
            f"the plan cannot be trusted: {'; '.join(verdict.faults)}; {KEPT}", hint="plan again"
        )
    if verdict.misplaced:
        raise RefusedError("; ".join(verdict.misplaced), hint="look at the plan again: `npa soperator plan`")
    if refused := verdict.refused:
        texts = [verdict.approval(each) for each in refused]
        flags = " ".join(f"--approve {shlex.quote(text)}" for text in texts if text)
        final = "" if all(texts) else "; what has no approval is never done by a deploy: undo it in the spec"
        message = "; ".join(f"{each.text} ({each.address})" for each in refused)
        raise DestructiveError(
            f"{message}; {KEPT}",
            [each.key for each in refused],
            hint=(f"allow exactly this: {flags}" if flags else "undo it in the spec")
            + (final if flags else ""),
        )


def _faults(plan: TerraformPlan, request: Request) -> Iterator[str]:
    if request.exit_code not in (NO_CHANGES, CHANGES):
        yield f"terraform plan exited {request.exit_code}"
    if plan.errored:
        yield "terraform says that planning failed"
    if plan.complete is False and not request.targeted:
        yield "the plan is not complete: apply would need a second plan"
    if plan.deferred:
        yield f"apply would need a second plan for {', '.join(each.key for each in plan.deferred)}"
    if plan.applyable is False and plan.changes:
        yield "terraform says that the plan cannot be applied"
    if not plan.listed and not plan.outputs_change:
        if plan.applyable or request.exit_code == CHANGES:
            yield "resource_changes is missing"
    elif request.exit_code == CHANGES and not plan.changes and not _reads(plan):
        yield "terraform says that there are changes and names none"
    if request.exit_code == NO_CHANGES and plan.changes:
        yield "terraform says that there are no changes and names some"


def _reads(plan: TerraformPlan) -> bool:
    return any(each.effect == "read" for each in plan.resources)


def _refreshed(resources: Iterable[ResourceChange], adapter: Adapter) -> frozenset[str]:
    """Return the audited refreshes: exactly as they were audited, at exactly their address."""
    audited = {each.address: each for each in adapter.refreshes}
    return frozenset(
        change.key
        for change in resources
        if change.effect == "replace"
        and not (change.deposed or change.previous or change.imported)
        and (known := audited.get(change.address)) is not None
        and (change.mode, change.type, change.provider) == ("managed", known.type, known.provider)
        and change.reason == known.reason
        and change.paths
        and set(change.paths) <= set(known.paths)
    )


def _findings(
    plan: TerraformPlan, adapter: Adapter, request: Request, exempt: frozenset[str]
) -> Iterator[Finding]:
    after = frozenset(subjects.pools(each, adapter)[1] for each in plan.resources)
    for change in plan.resources:
        if request.destroying:
            yield from harm.to_destroy(change)
        elif change.key not in exempt:
            yield from harm.to_deploy(change, adapter, after)
    for change in plan.deferred:
        for finding in harm.to_deploy(change, adapter, after):
            yield replace(finding, approvable=False)
    if not request.destroying:
        yield from map(harm.failed_check, plan.failed_checks)


def _notes(plan: TerraformPlan, adapter: Adapter) -> Iterator[str]:
    planned = {each.key: each for each in plan.resources}
    for change in plan.resources:
        if change.previous:
            yield f"{change.previous} is moved to {change.address}"
        if change.imported:
            yield f"{change.address} is imported into the state"
    for change in plan.drift:
        again = planned.get(change.key)
        named = subjects.subject(change, adapter)
        if change.effect == "delete":
            fate = ", and is created anew" if again and again.effect == "create" else ""
            yield f"{named} was deleted outside Terraform{fate}"
        elif change.effect != "none":
            yield f"{named} was changed outside Terraform"
    for failed in plan.failed_checks:
        yield f"the check {failed.address} failed: {harm.messages(failed)}"
