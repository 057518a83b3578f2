"""The built-in backend: Slurm clusters, by the verbs of `npa.api` alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from npa.api.identity import Identity
from npa.errors import DestructiveError, Problem, SpecError, UnhealthyError
from npa.fleet import provider
from npa.fleet.backends import BUILT_IN, Condition, Heard, Lack, Options, Planned
from npa.fleet.member import Claim, Member, Project
from npa.fleet.merge import Part
from npa.fleet.provider import Provider
from npa.fleet.shared import Shared
from npa.slurm.lookup import Absent, Lookup
from npa.spec.document import Document, Place

if TYPE_CHECKING:
    from npa.cluster.model import TargetName
    from npa.health.assess import Report
    from npa.plan.model import Plan
    from npa.spec.model import SoperatorSpec
    from npa.targets.base import Options as ApiOptions

# What the fleet says of a cluster, and so its own part of the file may not.
_OWNED = {
    "target": "set `target` beside `soperator`, or on the project, the defaults or the fleet",
    "region": "set `region` on the project or the fleet",
    "tenant_id": "set `tenant_id` on the fleet",
    "project_id": "set `project_id` on the project",
    "subnet_id": "set `subnet_id` on the project",
}


class SoperatorBackend:
    """Slurm clusters on any of the targets; tests give their own provider."""

    name = BUILT_IN

    def __init__(self, given: Provider | None = None) -> None:
        self._given = given
        self._shared = Shared()

    def parse(
        self, claim: Claim, project: Project, part: Part, places: dict[str, Place], source: str
    ) -> SoperatorSpec:
        """Return the spec of a cluster, by exactly the rules of a file of its own."""
        from npa.spec import load

        foreign = list(_foreign(claim, part, part.document(places), source))
        _identify(claim, project, part)
        read = part.document(places)
        read.problems = foreign
        spec = load.accept(read, source)
        _require_settings(spec, read, source)
        return spec

    def preflight(self, members: Sequence[Member], options: Options) -> tuple[Lack, ...]:
        """Return what the machine or the provider lacks for all of them together."""
        from npa.fleet import needs

        return needs.lacks(members, self.identity, self._nebius if options.check else None)

    def moment(self) -> AbstractContextManager[None]:
        """Read once what runs on this machine."""
        from npa.api import moment

        return moment.moment()

    def identity(self, claim: Claim) -> Lookup[Identity]:
        """Return what is there under the name."""
        from npa.api import identity

        return identity.identity(claim.cluster, claim.target)

    def plan(self, member: Member, options: Options) -> Planned:
        """Return what would be done: compared with what is there, at the provider what the spec asks for."""
        from npa import api

        if member.claim.target == "nebius":
            return provider.planned(member.spec)
        target = _target(member.claim)
        with self._placed(member.claim):
            made = api.plan(member.spec, target=target, options=_options(options))
        return _planned(made, "deploy")

    def deploy(self, member: Member, shown: Planned | None, options: Options, heard: Heard) -> Condition:
        """Make it what the spec asks for."""
        from npa import api

        if member.claim.target == "nebius":
            return provider.deploy(self._nebius, member, heard)
        target = _target(member.claim)
        allowed = _options(options)
        agreed = shown.plan if shown else None

        def again() -> Plan:
            return api.plan(member.spec, target=target, options=allowed)

        try:
            with self._placed(member.claim), self._shared.turn(agreed, again, heard) as (plan, hear):
                report = api.deploy(member.spec, target=target, shown=plan, options=allowed, heard=hear)
        except UnhealthyError as error:
            return Condition(False, "degraded", str(error))
        return _condition(report)

    def status(self, claim: Claim) -> Condition:
        """Return how it is."""
        from npa import api

        if claim.target == "nebius":
            seen = self._nebius.status(claim.cluster, provider.options())
            return replace(_condition(seen.report), document=seen.document())
        return _condition(api.status(claim.cluster, _target(claim)))

    def plan_destroy(self, claim: Claim, options: Options) -> Planned:
        """Return what would be ended, naming the jobs that would die."""
        from npa import api

        if claim.target == "nebius":
            made = self._nebius.plan_destroy(claim.cluster, provider.options(), force=options.force)
        else:
            made = api.plan_destroy(claim.cluster, options=_options(options), target=_target(claim))
        return _planned(made, "destroy")

    def destroy(self, claim: Claim, shown: Planned | None, options: Options, heard: Heard) -> Condition:
        """Leave nothing of it."""
        from npa import api

        if claim.target == "nebius":
            result = self._nebius.destroy(claim.cluster, provider.options(), heard=heard)
            return Condition(True, "absent", document=result)
        agreed = shown.plan if shown else None
        api.destroy(
            claim.cluster, shown=agreed, options=_options(options), heard=heard, target=_target(claim)
        )
        return Condition(True, "absent")

    def _placed(self, claim: Claim) -> AbstractContextManager[None]:
        """Keep a cluster on Kubernetes apart from the fleet's others; one that is there stays where it is.

        Its workers' objects are named after its pools, and many clusters of a fleet have the same pools.
        """
        from npa.api import places

        if claim.target == "kubernetes":
            return places.apart(claim.cluster, new=isinstance(self.identity(claim), Absent))
        return nullcontext()

    @property
    def _nebius(self) -> Provider:
        from npa.api import nebius

        return self._given or nebius


def _foreign(claim: Claim, part: Part, read: Document, source: str) -> Iterator[Problem]:
    """Yield what a cluster says and the fleet owns, and take it out."""
    for key, hint in _OWNED.items():
        given = part.value.pop(key, "")
        if given not in ("", None):
            yield _problem(part, read, key, f"`{key}` is the fleet's to say", hint, source)
    given = part.value.pop("name", claim.cluster)
    if given != claim.cluster:
        what = f"must be the cluster's own name, {claim.cluster!r}, not {str(given)[:60]!r}"
        yield _problem(part, read, "name", what, "remove the line", source)


def _problem(part: Part, read: Document, key: str, message: str, hint: str, source: str) -> Problem:
    place = read.places.get(key)
    line, column = place.key if place else (0, 0)
    return Problem(line, column, part.origins[key], message, hint, source)


def _identify(claim: Claim, project: Project, part: Part) -> None:
    """Put in what the fleet says of the cluster."""
    said = {
        "name": claim.cluster,
        "target": claim.target,
        "region": project.region,
        "tenant_id": project.tenant_id,
        "project_id": project.project_id,
        "subnet_id": project.subnet_id,
    }
    for key, value in said.items():
        if value:
            part.put(key, value, part.said.get(key, key))


def _require_settings(spec: SoperatorSpec, read: Document, source: str) -> None:
    """Raise SpecError for settings that Slurm would not take."""
    if not spec.slurm.settings:
        return
    from npa import api
    from npa.slurm.lint import errors

    wrong = errors(api.lint_spec(spec))
    if wrong:
        places = ((each, read.places.get(each.at)) for each in wrong)
        placed = (
            replace(each, line=at.key[0], column=at.key[1]) if at and not each.file else each
            for each, at in places
        )
        raise SpecError([each.problem(source) for each in placed])


def _planned(made: Plan, verb: str) -> Planned:
    from npa.plan import codec, guard, text

    try:
        guard.check(made, hint=guard.HINT if verb == "deploy" else guard.DESTROY_HINT)
        refusal = None
    except DestructiveError as error:
        refusal = (str(error), error.hint)
    lines = text.text(made, "").splitlines()
    return Planned(codec.encode(made), tuple(lines), len(made.steps), made, refusal)


def _condition(report: Report) -> Condition:
    from npa.health import text

    worst = next((each.message for each in report.findings), "")
    return Condition(report.ok, report.status, "" if report.ok else worst, text.to_dict(report))


def _target(claim: Claim) -> TargetName:
    return cast("TargetName", claim.target)  # the file's own rules let no other word through


def _options(options: Options) -> ApiOptions:
    from npa.plan.model import Options as Made

    return Made(force=options.force, wait_for_jobs=options.wait_for_jobs)
