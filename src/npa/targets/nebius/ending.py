"""A destroy from a name to the proof that nothing is left, and the plan that says what it ends."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from npa.errors import NotFoundError, NpaError, OwnershipError, RefusedError
from npa.plan.model import JobRef, Plan, Step
from npa.render.nebius import identity, source
from npa.render.nebius.identity import Identity
from npa.render.nebius.sidecar import Sidecar
from npa.slurm.lookup import Absent
from npa.targets.nebius import binding, checkout, config, installation, records, status, teardown, world
from npa.targets.nebius.checkout import Place, Source
from npa.targets.nebius.installation import PROVIDERS
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.outside import Outside
from npa.targets.nebius.runs import Ending, Listener, Runs, Teller
from npa.targets.nebius.teardown import DestroyResult, Teardown
from npa.tools import unfinished
from npa.tools.nebius import Nebius

VERB = "destroy"
STATE_FILES = ("terraform.tfstate", "terraform.tfstate.backup", "terraform.tfvars", world.APPLIED)


@dataclass(frozen=True, slots=True)
class Doomed:
    """An installation that is to be ended."""

    place: Place
    record: Sidecar
    who: Identity


def located(outside: Outside, name: str, options: NebiusOptions) -> Path:
    """Return the folder of an installation; raises NotFoundError where there is none."""
    folder = checkout.locate(outside.root, identity.require_name(name), options.terraform_dir)
    if folder is None:
        raise NotFoundError(
            f"no installation {name!r} below {options.terraform_dir or outside.root}",
            hint="see `npa soperator list`; one in your own checkout: `--terraform-dir`",
        )
    return folder


def recorded(folder: Path, name: str) -> Sidecar:
    """Return an installation's record; raises OwnershipError where there is none."""
    record = records.load_sidecar(folder)
    if record is None:
        raise OwnershipError(
            f"{folder} has no record of what it owns",
            expected="a record",
            found="none",
            hint=f"restore .npa-soperator-env.json; nothing of {name} is destroyed by name",
        )
    return record


def plan(outside: Outside, name: str, options: NebiusOptions, *, force: bool) -> Plan:
    """Return what a destroy ends, by recorded ids, with the jobs that run there as far as they are known."""
    folder = located(outside, name, options)
    if ended := records.load_ended(folder):
        return Plan(name, "nebius", (), notes=(f"already absent: it was destroyed at {ended}",))
    record = recorded(folder, name)
    jobs, unknown = _jobs(outside, name, record, private=options.private)
    return Plan(name, "nebius", _steps(name, record, jobs, force=force), notes=unknown)


def _steps(name: str, record: Sidecar, jobs: tuple[JobRef, ...], *, force: bool) -> tuple[Step, ...]:
    steps = [
        Step("remove", f"{each.kind} {each.name}", "recorded as this installation's", key=each.id)
        for each in record.auxiliaries
    ]
    if record.cluster_id:
        called = record.provider_cluster_name or record.cluster_id
        cluster = Step(
            "remove",
            f"Kubernetes cluster {called}",
            "recorded as this installation's, with its nodes and volumes",
            key=record.cluster_id,
            nodes=tuple(dict.fromkeys(node for job in jobs for node in job.nodes)),
            jobs=jobs,
            kills_jobs=force and bool(jobs),
        )
        steps.insert(0, cluster)
    rest = Step("remove", f"installation {name}", "and whatever else Terraform's state holds of it", key=name)
    return (*steps, rest)


def _jobs(
    outside: Outside, name: str, record: Sidecar, *, private: bool
) -> tuple[tuple[JobRef, ...], tuple[str, ...]]:
    unknown = ("which jobs run is not known: Slurm could not be asked",)
    if not record.cluster_id:
        return (), ()
    with outside.provider() as provider:
        kube = binding.connect(
            provider,
            record.cluster_id,
            record.provider_cluster_name,
            record.project_id,
            private=private,
            to=outside.kube,
        )
        if isinstance(kube, Absent):
            return (), ()
        seen = status.observation(status.status(name, kube, Absent()), ())
    if seen.jobs is None:
        return (), unknown
    return tuple(job for job in seen.jobs if job.state == "RUNNING"), ()


def destroy(outside: Outside, name: str, options: NebiusOptions, heard: Listener) -> DestroyResult | Place:
    """End an installation; returns its place where only the source was asked for.

    Raises DestroyIncompleteError where something is left or not proven gone, with everything kept that is
    needed to go on.
    """
    folder = located(outside, name, options)
    with records.locked(outside.root, name, folder):
        unfinished.refuse(folder)
        if ended := records.load_ended(folder):
            forget(folder)  # a kill may have kept the last run from it
            return DestroyResult(name, "destroyed", notes=(f"already absent: it was destroyed at {ended}",))
        record = recorded(folder, name)
        ref = source.require_ref(options.ref or record.ref or outside.pin)
        recipe = Source(outside.root, outside.contract(ref), remote=outside.remote, git=outside.git)
        place = recipe.resolve(name, options.terraform_dir)
        who = identity.for_destroy(record, config.load(outside.environ), alias=options.project)
        if options.source_only:
            return place
        with outside.provider() as provider:
            doomed = Doomed(place, record, _with_subnet(provider, who))
            installation.adopt(place)
            return _ended(outside, provider, doomed, options, heard)


def document(found: DestroyResult | Place) -> dict[str, Any]:
    """Return a result as JSON has it."""
    if isinstance(found, DestroyResult):
        return {**found.public(), "ok": found.ok, "next_command": "npa soperator list"}
    return {
        "schema_version": teardown.SCHEMA_VERSION,
        "ok": True,
        "name": found.name,
        "status": "source-preflight-passed",
        "install_dir": str(found.installation),
        "solutions_library_ref": found.ref,
        "provider_mutation": False,
    }


def _with_subnet(provider: Nebius, who: Identity) -> Identity:
    """Return the identity with a subnet: an older tool may not have written it down."""
    if who.subnet_id:
        return who
    found = provider.subnets(who.project_id)
    if not found:
        raise RefusedError(
            f"neither the record nor project {who.project_id} names a subnet",
            hint="write `subnet_id` into the record; nothing was touched",
        )
    return replace(who, subnet_id=found[0].id)


def _ended(
    outside: Outside, provider: Nebius, doomed: Doomed, options: NebiusOptions, heard: Listener
) -> DestroyResult:
    place, record = doomed.place, doomed.record
    folder = place.installation
    profile = record.auth_profile if record.auth_profile else outside.profile
    teller = Teller(heard, folder)
    runs = Runs(outside, provider, doomed.who, folder, profile, record.o11y_profile, teller)
    tool = Ending(runs) if (folder / PROVIDERS).is_file() else None
    shown = Plan(place.name, "nebius", _steps(place.name, record, (), force=False))
    with records.phase(folder, VERB, "teardown"), records.applied(folder, VERB, shown):
        result = Teardown(
            place.name,
            replace(record, project_id=doomed.who.project_id),
            provider,
            tool,
            outside.clock,
            teller.note,
            options.timeout,
            private=options.private,
            accept_unknown=options.accept_unknown,
            to=outside.kube,
        ).destroy()
        teardown.require(result)
    forget(folder)
    return result


def forget(folder: Path) -> None:
    """Remove what would tie the name to what is proven gone; killed half-way, the next run does the rest."""
    records.save_ended(folder)
    for each in STATE_FILES:
        (folder / each).unlink(missing_ok=True)
    with contextlib.suppress(NpaError):
        records.forget_journal(folder)
        records.forget_history(folder)
    records.forget_sidecar(folder)
