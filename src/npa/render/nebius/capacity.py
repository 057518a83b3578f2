"""Whether reserved pools fit into their reservations for certain.

A reserved pool runs in its reservation or not at all: the provider is told STRICT, so nothing falls back to
machines on demand. Everything that the decision may look at comes in; what a reservation is called by, its
id or name, goes into no message.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from npa.spec import catalog
from npa.spec.model import SoperatorSpec, WorkerPoolSpec

ACTIVE = "STATE_ACTIVE"
FRESH = "DATA_STATE_FRESH"


@dataclass(frozen=True, slots=True)
class Identity:
    """Where the cluster is to be."""

    tenant: str
    project: str
    region: str


@dataclass(frozen=True, slots=True)
class Project:
    """The project as the provider has it."""

    id: str
    parent: str
    region: str


@dataclass(frozen=True, slots=True)
class Block:
    """One capacity block group: a reservation."""

    id: str = field(repr=False)
    name: str = field(repr=False)
    parent: str
    state: str
    region: str
    platform: str
    fabric: str
    limit: int  # GPUs
    usage: int
    usage_percentage: str = ""
    usage_state: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """How many nodes of one shape the provider says it can start in reservations now."""

    platform: str
    preset: str
    region: str
    fabric: str
    available: int
    data_state: str


@dataclass(frozen=True, slots=True)
class Owned:
    """GPUs of this cluster's own STRICT nodes: they are part of the reservation's usage already."""

    reservation: str = field(repr=False)
    preset: str
    gpus: int


@dataclass(frozen=True, slots=True)
class World:
    """What the provider and the state of the cluster say."""

    project: Project
    blocks: Sequence[Block]  # those of the tenant
    advice: Sequence[Advice]
    owned: Sequence[Owned] = ()
    # Answers for ids that are not among the tenant's: the reservation, or None where the id is not there.
    elsewhere: Mapping[str, Block | None] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The reservation of each reserved pool, or why there is none."""

    ids: Mapping[str, str] = field(default_factory=dict, repr=False)  # pool -> id of its reservation
    refusals: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every reserved pool fits for certain."""
        return not self.refusals


@dataclass(frozen=True, slots=True)
class _Match:
    """A pool and the reservation that it names."""

    pool: WorkerPoolSpec
    block: Block

    @property
    def gpus(self) -> int:
        return self.pool.size * _gpus(self.pool)


def lookups(spec: SoperatorSpec, blocks: Sequence[Block]) -> tuple[str, ...]:
    """Return the ids that the spec names and the tenant does not list: each has to be asked for."""
    listed = {block.id for block in blocks}
    wanted = (pool.capacity_block_group.strip() for pool in reserved(spec))
    return tuple(dict.fromkeys(each for each in wanted if each and each not in listed))


def reserved(spec: SoperatorSpec) -> tuple[WorkerPoolSpec, ...]:
    """Return the pools that run in a reservation."""
    return tuple(pool for pool in spec.workers if pool.capacity_mode == "reserved")


def decide(spec: SoperatorSpec, identity: Identity, world: World) -> Verdict:
    """Return the reservation of each reserved pool, or every reason why some pool has none."""
    pools = reserved(spec)
    if not pools:
        return Verdict()
    refusals = list(_identity(identity, world.project))
    matches = []
    for pool in pools:
        block = _find(pool, identity, world)
        if isinstance(block, str):
            refusals.append(f"pool {pool.name!r}: {block}")
            continue
        wrong = [f"pool {pool.name!r}: {each}" for each in _unfit(pool, block, identity)]
        refusals += wrong
        if not wrong:
            matches.append(_Match(pool, block))
    for group in _by_block(matches):
        refusals += _too_small(group, identity, world)
    if refusals:
        return Verdict(refusals=tuple(dict.fromkeys(refusals)))
    return Verdict(ids={match.pool.name: match.block.id for match in matches})


def _identity(identity: Identity, project: Project) -> Iterator[str]:
    if project.id != identity.project:
        yield "the provider answered for another project"
    if project.parent != identity.tenant:
        yield "the project does not belong to the tenant"
    if project.region != identity.region:
        yield f"the project is in region {project.region or 'unknown'}, not in {identity.region}"


def _find(pool: WorkerPoolSpec, identity: Identity, world: World) -> Block | str:
    """Return the reservation that a pool names, or why there is none."""
    by_id, name = pool.capacity_block_group.strip(), pool.capacity_block_group_name.strip()
    if by_id:
        found = [block for block in world.blocks if block.id == by_id]
    else:
        found = [block for block in world.blocks if block.name == name]
    if len(found) == 1:
        return found[0]
    if found and by_id:
        return "the provider lists its reservation more than once"
    if found:
        return "more than one reservation has this name: give `capacity_block_group`, the id"
    if not by_id:
        return "the tenant has no reservation of this name"
    return _missing(by_id, identity, world)


def _missing(by_id: str, identity: Identity, world: World) -> str:
    if by_id not in world.elsewhere:
        return "whether its reservation exists could not be found out"
    block = world.elsewhere[by_id]
    if block is None:
        return "its reservation is not there"
    if block.parent != identity.tenant:
        return "its reservation belongs to another tenant"
    return "the provider has its reservation and does not list it: try again"


def _unfit(pool: WorkerPoolSpec, block: Block, identity: Identity) -> Iterator[str]:
    if block.parent != identity.tenant:
        yield "its reservation belongs to another tenant"
    if block.state != ACTIVE:
        yield f"its reservation is not active ({block.state or 'no state'})"
    if block.region != identity.region:
        yield f"its reservation is in region {block.region or 'unknown'}, not in {identity.region}"
    if block.platform != pool.platform:
        yield f"its reservation is for platform {block.platform or 'unknown'}, not for {pool.platform}"
    if block.fabric != pool.fabric:
        yield f"its reservation is in fabric {block.fabric or 'unknown'}, not in {pool.fabric}"


def _by_block(matches: Sequence[_Match]) -> Iterator[tuple[_Match, ...]]:
    for key in dict.fromkeys(match.block.id for match in matches):
        yield tuple(match for match in matches if match.block.id == key)


def _too_small(group: Sequence[_Match], identity: Identity, world: World) -> Iterator[str]:
    """Yield why the pools of one reservation do not fit into it together."""
    names = ", ".join(f"{match.pool.name!r}" for match in group)
    who = f"pool {names}" if len(group) == 1 else f"pools {names} together"
    first, block = group[0].pool, group[0].block
    if len({match.pool.preset for match in group}) > 1:
        yield f"{who}: one reservation carries one preset only"
        return
    mine = (each for each in world.owned if each.reservation == block.id and each.preset == first.preset)
    more = max(0, sum(match.gpus for match in group) - sum(each.gpus for each in mine))
    if not more:
        return
    strict = "a reserved pool never falls back to machines on demand"
    free, per_node = _free(block), _gpus(first)
    if free is None:
        yield f"{who}: how much of the reservation is used is unknown"
    elif free < more:
        yield (
            f"{who}: needs {math.ceil(more / per_node)} more, {free // per_node} free "
            f"({more} GPUs, {free} free); {strict}"
        )
    nodes = math.ceil(more / per_node)
    available = _advised(first, identity, world)
    if isinstance(available, str):
        yield f"{who}: {available}"
    elif available < nodes:
        yield f"{who}: needs {nodes} more, {available} can be started now; {strict}"


def _gpus(pool: WorkerPoolSpec) -> int:
    shape = catalog.preset(pool.platform, pool.preset)
    assert shape is not None, "the rules let no unknown preset through"
    assert shape.gpus, "the rules let no pool without GPUs have a reservation"
    return shape.gpus


def _free(block: Block) -> int | None:
    """Return the free GPUs of a reservation, rounded down; None where the record cannot tell.

    The provider's message has no way to leave usage out: 0 may mean that nobody counted.
    """
    if block.usage_state == "USAGE_STATE_UNKNOWN":
        return None
    unused = block.usage_state == "USAGE_STATE_NOT_USED"
    if block.usage:
        return None if unused else max(0, block.limit - block.usage)
    share = _share(block.usage_percentage)
    if share:
        return None if unused else max(0, math.floor(block.limit * (1 - share)))
    if share is None and block.usage_percentage:
        return None
    return block.limit if unused else None


def _share(text: str) -> float | None:
    """Return a usage percentage as a share: up to 1 it is one already, above it is out of 100."""
    try:
        value = float(text)
    except ValueError:
        return None
    if not math.isfinite(value) or value < 0:
        return None
    return value if value <= 1 else value / 100


def _advised(pool: WorkerPoolSpec, identity: Identity, world: World) -> int | str:
    """Return how many nodes like the pool's can be started in reservations, or why nobody knows."""
    shape = (pool.platform, pool.preset, identity.region, pool.fabric)
    found = [each for each in world.advice if (each.platform, each.preset, each.region, each.fabric) == shape]
    if len(found) != 1:
        return f"the provider has {len(found) or 'no'} statements on how many such nodes can be started"
    if found[0].data_state != FRESH:
        return "the provider's statement on how many such nodes can be started is not fresh"
    return found[0].available
