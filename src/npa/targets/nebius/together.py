"""Whether several clusters fit at the provider together, before the first of them is made. Reads only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from npa.render.nebius import capacity, existing, identity, quotas, several
from npa.render.nebius.capacity import Owned, World
from npa.render.nebius.identity import Identity
from npa.render.nebius.quotas import Need
from npa.spec.model import SoperatorSpec, WorkerPoolSpec
from npa.targets.nebius import checkout, config, records
from npa.targets.nebius import world as worlds
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.outside import Outside
from npa.tools.nebius import Nebius, Survey

Asked = tuple[SoperatorSpec, NebiusOptions]


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster: whose it is, and what it needs on top of what it has."""

    spec: SoperatorSpec
    who: Identity
    needs: tuple[Need, ...]
    reserved: tuple[Owned, ...]  # GPUs of its own in reservations


def faults(outside: Outside, asked: Sequence[Asked]) -> tuple[str, ...]:
    """Return everything that stands against making all of these; raises IdentityError and ProviderErrors."""
    clusters = tuple(_cluster(outside, spec, options) for spec, options in asked)
    if not clusters:
        return ()
    with outside.provider() as provider:
        surveys = _surveys(provider, clusters)
        found = [each for group in _by(clusters) for each in _faults(provider, group, surveys)]
    return tuple(dict.fromkeys(found))


def _cluster(outside: Outside, spec: SoperatorSpec, options: NebiusOptions) -> Cluster:
    identity.require_name(spec.name)
    folder = checkout.locate(outside.root, spec.name, options.terraform_dir)
    record = records.load_sidecar(folder) if folder else None
    who = identity.decide(spec, config.load(outside.environ), sidecar=record, alias=options.project)
    state: Mapping[str, Any] = worlds.state_of(outside, folder) if folder else {}
    cached = worlds.load_caches(folder) if folder else ()
    own = quotas.needs_of(existing.inventory_of(state, spec, cached=cached))
    return Cluster(spec, who, several.beyond(quotas.needs(spec), own), tuple(existing.reserved(state)))


def _surveys(provider: Nebius, clusters: Sequence[Cluster]) -> Mapping[str, Survey]:
    """Look at each project once; raises IdentityError where the provider has one elsewhere."""
    found: dict[str, Survey] = {}
    for each in clusters:
        key = each.who.project_id
        if key not in found:
            reserved = any(capacity.reserved(one.spec) for one in clusters)
            found[key] = provider.survey(each.who.tenant_id, key, reserved=reserved)
        worlds.require_place(each.who, found[key].project)
    return found


def _by(clusters: Sequence[Cluster]) -> Iterator[tuple[Cluster, ...]]:
    """Yield the clusters that share quotas: those of one tenant and region."""
    places = dict.fromkeys((each.who.tenant_id, each.who.region) for each in clusters)
    for place in places:
        yield tuple(each for each in clusters if (each.who.tenant_id, each.who.region) == place)


def _faults(provider: Nebius, group: Sequence[Cluster], surveys: Mapping[str, Survey]) -> Iterator[str]:
    first = group[0].who
    survey = surveys[first.project_id]
    summed = several.together(each.needs for each in group)
    verdict = quotas.shortfalls(summed, survey.allowances, tenant=first.tenant_id, region=first.region)
    yield from map(str, (*verdict.blocking, *verdict.unreadable))
    spec = merged(group)
    if not spec.workers:
        return
    elsewhere = {key: provider.capacity_block_group(key) for key in capacity.lookups(spec, survey.blocks)}
    owned = tuple(each for one in group for each in one.reserved)
    world = World(survey.project, survey.blocks, survey.advice, owned, elsewhere)
    where = capacity.Identity(first.tenant_id, first.project_id, first.region)
    yield from capacity.decide(spec, where, world).refusals


def merged(group: Sequence[Cluster]) -> SoperatorSpec:
    """Return one spec with the reserved pools of all, so that one reservation is counted once."""
    pools = tuple(
        _called(pool, f"{each.spec.name}/{pool.name}")
        for each in group
        for pool in capacity.reserved(each.spec)
    )
    return group[0].spec.model_copy(update={"workers": pools})


def _called(pool: WorkerPoolSpec, name: str) -> WorkerPoolSpec:
    return pool.model_copy(update={"name": name})
