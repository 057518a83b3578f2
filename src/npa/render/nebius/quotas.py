"""What a cluster needs of the tenant's quotas, and where they do not reach."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from npa.render.nebius import inventory
from npa.render.nebius.inventory import Inventory
from npa.spec import catalog
from npa.spec.model import SoperatorSpec

Unit = Literal["count", "byte", "gpu", "vcpu"]
GIB = 1 << 30
ADDRESSES_PER_NODE = 2  # its own, and the range of its pods
ACTIVE = "STATE_ACTIVE"
# How the provider may write a unit; a GPU or a vCPU is also just counted.
_WRITTEN: Mapping[Unit, frozenset[str]] = MappingProxyType(
    {
        "count": frozenset({"count"}),
        "byte": frozenset({"byte"}),
        "gpu": frozenset({"count", "gpu"}),
        "vcpu": frozenset({"count", "vcpu"}),
    }
)


@dataclass(frozen=True, slots=True)
class Need:
    """How much of one quota a cluster takes: at once, and once the system nodes have grown to their most."""

    quota: str
    amount: int
    unit: Unit
    grown: int
    why: tuple[str, ...] = ()  # what takes it


@dataclass(frozen=True, slots=True)
class Allowance:
    """One quota record, in the provider's words."""

    name: str
    scope: str  # id of the tenant or project that it counts for; empty where the record does not say
    region: str
    limit: int | None  # None: the record has none
    usage: int
    unit: str
    state: str
    usage_state: str
    usage_percentage: str = ""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A quota that does not reach."""

    quota: str
    region: str
    unit: Unit
    needed: int  # at once, on top of what is there
    available: int
    limit: int
    raise_to: int  # the limit at which the cluster fits
    raise_to_grow: int  # the limit at which its system nodes can grow to their most
    why: tuple[str, ...]

    @property
    def later(self) -> bool:
        """Whether the cluster fits now, and only its growth will not."""
        return self.needed <= self.available

    def __str__(self) -> str:
        shown = f"quota {self.quota} in {self.region}"
        if self.later:
            return f"{shown}: enough to start with; raise to {self.raise_to_grow} for all system nodes"
        return (
            f"{shown}: needs {self.needed} more, {max(0, self.available)} free of {self.limit}; "
            f"raise to {self.raise_to} {self.unit}"
        )


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A quota whose record is missing, contradicts itself, or cannot be understood."""

    quota: str
    region: str
    problem: str

    def __str__(self) -> str:
        return f"quota {self.quota} in {self.region}: {self.problem}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Every quota that does not reach and every one that nobody can tell about."""

    shortfalls: tuple[Shortfall, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()

    @property
    def blocking(self) -> tuple[Shortfall, ...]:
        """Shortfalls that stop the cluster from being created."""
        return tuple(each for each in self.shortfalls if not each.later)

    @property
    def ok(self) -> bool:
        """Whether the cluster fits for certain."""
        return not self.blocking and not self.unreadable


def needs(spec: SoperatorSpec) -> tuple[Need, ...]:
    """Return what a spec needs of each quota, sorted by name."""
    return needs_of(inventory.of_spec(spec))


def needs_of(things: Inventory) -> tuple[Need, ...]:
    """Return what things need of each quota, sorted by name; quotas that they do not touch are left out."""
    return summed(_parts(things))


def summed(parts: Iterable[Need]) -> tuple[Need, ...]:
    """Return needs with those of one quota added up, sorted by name."""
    found: dict[str, Need] = {}
    for each in parts:
        before = found.get(each.quota, Need(each.quota, 0, each.unit, 0))
        found[each.quota] = Need(
            each.quota,
            before.amount + each.amount,
            each.unit,
            before.grown + each.grown,
            tuple(dict.fromkeys((*before.why, *each.why))),
        )
    return tuple(found[name] for name in sorted(found) if found[name].grown)


def _parts(things: Inventory) -> Iterator[Need]:
    for group in things.machines:
        yield from _machine_parts(group)
    for disk in things.disks:
        kind = _size_quota("disk", disk.kind)
        yield Need("compute.disk.count", disk.count, "count", disk.count, (disk.what,))
        total = disk.count * disk.gib * GIB
        yield Need(kind, total, "byte", total, (disk.what,))
    for each in things.filesystems:
        yield Need("compute.filesystem.count", 1, "count", 1, (each.what,))
        size = each.gib * GIB
        yield Need(_size_quota("filesystem", inventory.NETWORK_SSD), size, "byte", size, (each.what,))
    fabrics = len(things.fabrics)
    yield Need("compute.gpucluster.count", fabrics, "count", fabrics, ("InfiniBand fabrics",))
    yield Need("mk8s.cluster.count", things.clusters, "count", things.clusters, ("Kubernetes",))
    yield Need("vpc.allocation.count", things.addresses, "count", things.addresses, ("login address",))


def _machine_parts(group: inventory.Machines) -> Iterator[Need]:
    def each(quota: str, amount: int, unit: Unit = "count") -> Need:
        return Need(quota, group.count * amount, unit, group.most * amount, (group.what,))

    yield each("compute.disk.count", 1)
    yield each(_size_quota("disk", inventory.NETWORK_SSD), group.boot_gib * GIB, "byte")
    yield each("vpc.allocation.count", ADDRESSES_PER_NODE)
    if group.capacity == "preemptible":
        # Counted by machine whatever its size; the on-demand quotas are not touched.
        yield each("compute.instance.preemptible.count", 1)
        return
    yield each("compute.instance.count", 1)
    shape = catalog.preset(group.platform, group.preset)
    assert shape is not None, "the rules let no unknown preset through"
    if not shape.gpus:
        yield each("compute.instance.non-gpu.vcpu", shape.vcpus, "vcpu")
    elif group.capacity != "reserved":  # reserved GPUs are counted by their reservation
        family = catalog.PLATFORMS[group.platform].gres_type
        yield each(f"compute.instance.gpu.{family}", shape.gpus, "gpu")


def _size_quota(of: str, kind: str) -> str:
    return f"compute.{of}.size.{kind.lower().replace('_', '-')}"


def shortfalls(
    needed: Iterable[Need],
    allowances: Sequence[Allowance],
    *,
    tenant: str,
    region: str,
    owned: Iterable[Need] = (),
) -> Verdict:
    """Return every quota that does not reach, and every one whose record cannot be trusted.

    `owned` is what the cluster has already: its usage is in the records, so it is not needed again.
    """
    has = {each.quota: each for each in owned}
    found = [_compare(need, has.get(need.quota), allowances, tenant, region) for need in needed]
    return Verdict(
        tuple(each for each in found if isinstance(each, Shortfall)),
        tuple(each for each in found if isinstance(each, Unreadable)),
    )


def _compare(
    need: Need, mine: Need | None, allowances: Sequence[Allowance], tenant: str, region: str
) -> Shortfall | Unreadable | None:
    has = mine.amount if mine else 0
    more, growth = max(0, need.amount - has), max(0, need.grown - has)
    if not growth:
        return None
    record = _record(need, allowances, tenant, region)
    if record is None or isinstance(record, Unreadable):
        return record
    limit, used = record
    if limit - used >= growth:
        return None
    free = limit - used
    return Shortfall(need.quota, region, need.unit, more, free, limit, used + more, used + growth, need.why)


def _record(
    need: Need, allowances: Sequence[Allowance], tenant: str, region: str
) -> tuple[int, int] | Unreadable | None:
    """Return (limit, usage) of the record that decides; None where there is no limit for certain."""

    def no(problem: str) -> Unreadable:
        return Unreadable(need.quota, region, problem)

    found = [each for each in allowances if each.name == need.quota and each.region == region]
    if not found:
        return no("there is no record of it")
    if any(each.scope not in ("", tenant) for each in found):
        return no("a record of another tenant or project was given for this tenant")
    # A tenant's own record says more than one of nobody; among those a limit says more than none.
    chosen = [each for each in found if each.scope == tenant] or found
    chosen = [each for each in chosen if each.limit is not None] or chosen
    if len(set(chosen)) > 1:
        return no("its records contradict each other")
    record = chosen[0]
    problem = _flaw(record, need.unit)
    if problem:
        return no(problem)
    if record.limit is None:
        if record.scope != tenant:
            return no("it has no limit, and the record does not say for whom")
        if _fraction(record.usage_percentage) != 0:
            return no("it has no limit, but a share of one is said to be used")
        return None
    used = _used(record, record.limit)
    return no("how much of it is used is unknown") if used is None else (record.limit, used)


def _flaw(record: Allowance, unit: Unit) -> str:
    if record.state != ACTIVE:
        return f"it is not active ({record.state or 'no state'})"
    if record.unit not in _WRITTEN[unit]:
        return f"it is counted in {record.unit or 'nothing'}, not in {unit}"
    if record.usage < 0 or (record.limit is not None and record.limit < 0):
        return "it has a negative number"
    if record.usage and record.usage_state == "USAGE_STATE_NOT_USED":
        return "it is said to be unused and used at once"
    return ""


def _used(record: Allowance, limit: int) -> int | None:
    """Return what is used of a limit, rounded up; None where the record cannot tell.

    The provider's message has no way to leave usage out: 0 may mean that nobody counted.
    """
    if record.usage_state == "USAGE_STATE_UNKNOWN":
        return None
    if record.usage or record.usage_state == "USAGE_STATE_NOT_USED":
        return record.usage
    share = _fraction(record.usage_percentage) if record.usage_percentage else None
    if share is None or (not share and record.usage_state == "USAGE_STATE_USED"):
        return None
    return math.ceil(limit * share)


def _fraction(text: str) -> float | None:
    """Return a usage percentage, which the provider writes as 0.0 to 1.0 or more; None where it is none."""
    try:
        value = float(text or 0)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
