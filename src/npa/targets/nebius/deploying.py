"""A deploy from the spec to its result: who owns it, whether it fits, then the phases."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from npa.cluster.facts import Facts
from npa.cluster.resolve import resolve
from npa.errors import NpaError, RefusedError, SourceError
from npa.render.nebius import held as states
from npa.render.nebius import identity, journal, outcome, preflight, release, sidecar, source, tfvars
from npa.render.nebius.adapter import Adapter
from npa.render.nebius.identity import Identity
from npa.render.nebius.outcome import About
from npa.render.nebius.preflight import Preflight
from npa.render.nebius.release import Release
from npa.render.nebius.sidecar import Sidecar
from npa.render.nebius.source import Contract
from npa.spec.model import SoperatorSpec
from npa.targets.login_keys import LoginKey
from npa.targets.nebius import checkout, config, ending, environment, installation, keys, records, world
from npa.targets.nebius.checkout import Place, Source
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.outside import BACKEND, Outside
from npa.targets.nebius.phases import Agree, Deployment, Shown
from npa.targets.nebius.result import SoperatorDeploymentValidationError, SoperatorStateCaptureError
from npa.targets.nebius.runs import Listener, Runs, Teller
from npa.targets.nebius.world import World
from npa.tools import disk, unfinished
from npa.tools.nebius import Nebius


@dataclass(frozen=True, slots=True)
class Asked:
    """A spec with its key, and the recipe that it is deployed with."""

    spec: SoperatorSpec
    key: LoginKey
    contract: Contract
    adapter: Adapter
    options: NebiusOptions

    @property
    def release(self) -> Release:
        """The versions that are asked for."""
        chart = self.spec.slurm_operator_version
        return Release(chart, chart, default_profile=self.spec.use_default_apparmor_profile)

    def about(self, who: Identity, folder: Path, ids: frozenset[str] = frozenset()) -> About:
        """Return what every result says."""
        called = environment.context(self.spec.name)
        return About(self.spec, who.region, who.project_id, str(folder), called, ids)


def asked(outside: Outside, spec: SoperatorSpec, options: NebiusOptions) -> Asked:
    """Return everything that needs no network; raises all that is wrong with it."""
    identity.require_name(spec.name)
    ref = source.require_ref(options.ref or _own_ref(outside, spec.name, options) or outside.pin)
    contract, adapter = outside.contract(ref), outside.adapter(ref)
    wrong = source.version_problems(
        contract.versions, kubernetes=spec.k8s_version, node_bundle=spec.node_group_version
    )
    if wrong:
        raise SourceError(*wrong, hint="leave these fields out: the pinned recipe says them")
    key = keys.resolve(spec, file=options.key_file, env=outside.environ, home=outside.home)
    want = Asked(keys.with_key(spec, key), key, contract, adapter, options)
    if unfit := tuple(release.problems(want.release)):
        raise RefusedError("; ".join(unfit), hint="choose versions that go together; see the catalogue")
    return want


def _own_ref(outside: Outside, name: str, options: NebiusOptions) -> str:
    """Return the commit that an installation was made with: a newer npa does not move it by itself."""
    folder = checkout.locate(outside.root, name, options.terraform_dir)
    record = records.load_sidecar(folder) if folder else None
    return record.ref if record else ""


def preflighted(outside: Outside, spec: SoperatorSpec, options: NebiusOptions) -> Preflight:
    """Return whether a spec fits, and what it costs; nothing is written, here or at the provider."""
    identity.require_name(spec.name)
    folder = checkout.locate(outside.root, spec.name, options.terraform_dir)
    record = records.load_sidecar(folder) if folder else None
    who = identity.decide(spec, config.load(outside.environ), sidecar=record, alias=options.project)
    table = world.load_prices(options.prices)
    state = world.state_of(outside, folder) if folder else {}
    cached = world.load_caches(folder) if folder else ()
    with outside.provider() as provider:
        return world.gather(provider, spec, who, state, table, cached).preflight


def deploy(
    outside: Outside, spec: SoperatorSpec, options: NebiusOptions, agree: Agree, heard: Listener
) -> dict[str, Any]:
    """Make the cluster what the spec asks for; returns the result, or raises what stopped it."""
    want = asked(outside, spec, options)
    with _located(outside, want, heard) as (place, record):
        who = identity.decide(want.spec, config.load(outside.environ), sidecar=record, alias=options.project)
        if options.source_only:
            return outcome.source_passed(want.about(who, place.installation), want.contract.ref)
        with _opened(outside, want, (place, record, who), agree, heard) as (deployment, found):
            _resumption(deployment.runs.teller, deployment.runs.folder)
            return _finished(want, deployment, found)


def planned(outside: Outside, spec: SoperatorSpec, options: NebiusOptions, heard: Listener) -> Shown:
    """Return Terraform's plan in our words, and what refuses it; nothing is changed at the provider.

    A new cluster is planned as far as its Kubernetes: what its charts change is known only then.
    """
    want = asked(outside, spec, options)
    with _located(outside, want, heard) as (place, record):
        who = identity.decide(want.spec, config.load(outside.environ), sidecar=record, alias=options.project)
        with _opened(outside, want, (place, record, who), lambda *_: None, heard) as (deployment, _):
            return deployment.shown()


@contextlib.contextmanager
def _located(outside: Outside, want: Asked, heard: Listener) -> Iterator[tuple[Place, Sidecar | None]]:
    """Hold the installation, with its source as verified, and what it has recorded."""
    name, options, teller = want.spec.name, want.options, Teller(heard)
    teller.note(f"root's key: {want.key}")
    if outside.given_token:
        teller.note("the token was given and cannot be renewed; should it end, run the same again")
    with records.locked(outside.root, name, _given(options, name)):
        recipe = Source(outside.root, want.contract, remote=outside.remote, git=outside.git)
        place = recipe.resolve(name, options.terraform_dir)
        unfinished.refuse(place.state)
        if records.load_ended(place.state):
            ending.forget(place.state)
        yield place, records.load_sidecar(place.state)


@contextlib.contextmanager
def _opened(
    outside: Outside,
    want: Asked,
    found: tuple[Place, Sidecar | None, Identity],
    agree: Agree,
    heard: Listener,
) -> Iterator[tuple[Deployment, World]]:
    """Look at everything, refuse what is wrong, and make the folder ready that Terraform runs in."""
    (place, record, who), options, spec = found, want.options, want.spec
    cluster = resolve(spec, Facts(), "nebius")
    table, backend = world.load_prices(options.prices), world.load_backend(options.backend)
    _require_backend(place.state, backend)
    outside.reader(place.recipe).require(want.adapter.terraform)
    with outside.provider() as provider:
        state = world.state_of(outside, place.state)
        if backend and record is None and not state:
            state = world.remote_state(outside, backend)
            record = world.adopted(provider, spec.name, who, state)
        world.require_ours(spec.name, record, state)
        world.require_sizes(spec, state)
        seen = world.gather(provider, spec, who, state, table, world.load_caches(place.state))
        Teller(heard).note(str(seen.preflight.cost))
        preflight.refuse(seen.preflight)
        world.require_no_twin(provider, spec.name, seen.who, state)
        folder = _prepared(want, place, seen, backend, record.ref if record else "")
        runs = _runs(outside, provider, seen.who, record, Teller(heard, folder, want.key))
        known = _record(outside, want, seen, record)
        yield Deployment(runs, cluster, want.adapter, options, known, want.release, agree), seen


def _given(options: NebiusOptions, name: str) -> Path | None:
    """Return the folder of an installation in the caller's own checkout."""
    given = options.terraform_dir
    return given.expanduser().resolve() / "installations" / name if given else None


def _prepared(want: Asked, place: Place, found: World, backend: str, before: str) -> Path:
    order = tuple(dict.fromkeys(_pool(want.spec, each.pool) for each in states.read(found.state).node_groups))
    resolved = tfvars.Resolved(want.key.record, found.preflight.capacity.ids, order)
    folder = installation.prepare(
        place,
        want.contract,
        region=found.who.region,
        default_apparmor=want.spec.use_default_apparmor_profile,
        tfvars=tfvars.render(want.spec, resolved, want.adapter.variables),
        before=before,
    )
    records.forget_ended(folder)
    if backend:
        disk.write(folder / BACKEND, backend, mode=0o600, uid=-1, gid=-1)
    return folder


def _require_backend(folder: Path, backend: str) -> None:
    """Raise RefusedError where a state that is kept in one place would be looked for in another."""
    there = disk.text(folder / BACKEND) or ""
    local = (folder / "terraform.tfstate").exists()
    if not backend or backend == there or not (there or local):
        return
    kept = f"by {folder / BACKEND}" if there else f"in {folder / 'terraform.tfstate'}"
    raise RefusedError(
        f"the state of this installation is kept {kept}, and `--backend` says another place",
        hint=f"leave `--backend` away; to move the state: write the file to {folder / BACKEND}, then "
        f"terraform -chdir={folder} init -migrate-state",
    )


def _pool(spec: SoperatorSpec, nodeset: str) -> str:
    """Return the pool that a node set is of: a pool of racks has one for each."""
    return next((pool.name for pool in spec.workers if nodeset in dict(pool.racks)), nodeset)


def _runs(outside: Outside, provider: Nebius, who: Identity, record: Sidecar | None, teller: Teller) -> Runs:
    assert teller.folder is not None, "prepared before"
    return Runs(
        outside,
        provider,
        who,
        teller.folder,
        outside.profile or (record.auth_profile if record else ""),
        record.o11y_profile if record else "",
        teller,
    )


def _record(outside: Outside, want: Asked, found: World, before: Sidecar | None) -> Sidecar:
    """Return the record to be saved right before the first change, with everything that is owned already."""
    who = found.who
    record = before or Sidecar(cluster_name=want.spec.name)
    record = replace(
        record,
        region=who.region,
        tenant_id=who.tenant_id,
        project_id=who.project_id,
        subnet_id=who.subnet_id,
        cluster_name=want.spec.name,
        auth_profile=outside.profile or record.auth_profile,
        o11y_profile=record.o11y_profile or outside.profile or "default",
        ref=want.contract.ref,
        versioned=True,
    )
    # A run that was killed after its apply, and before it wrote that down, left this to us.
    held = states.read(found.state)
    return sidecar.owning(
        record,
        cluster_id=held.cluster_id,
        provider_cluster_name=held.cluster_name,
        auxiliaries=held.auxiliaries,
    )


def _resumption(teller: Teller, folder: Path) -> None:
    said = journal.resumption(records.load_journal(folder), "deploy")
    if said:
        teller.note(said)


def _finished(want: Asked, deployment: Deployment, found: World) -> dict[str, Any]:
    about = want.about(found.who, deployment.runs.folder, frozenset(found.preflight.capacity.ids))
    try:
        verdict = deployment.run()
    except NpaError as error:
        if deployment.uncaptured is None:
            raise
        raise SoperatorStateCaptureError(outcome.uncaptured(about, str(deployment.uncaptured))) from error
    world.save_caches(deployment.runs.folder, want.spec)
    result = outcome.applied(about, deployment.guarded, deployment.warnings, verdict)
    failed = outcome.failure(verdict)
    if failed:
        raise SoperatorDeploymentValidationError(result, failed)
    return {**result, "ok": True, "next_command": f"npa soperator status {want.spec.name}"}
