"""What a verb would do to each cluster of a fleet, and all that stands against it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from npa.errors import NpaError
from npa.fleet import glance, ownership, select
from npa.fleet.backends import Lack, Options, Planned
from npa.fleet.errors import FleetRefusedError
from npa.fleet.member import Claim, Fleet, Member
from npa.fleet.outside import Outside
from npa.fleet.record import Record
from npa.fleet.select import Selection
from npa.slurm.lookup import Absent, Found

SCHEMA = "npa.fleet.plan/v1"
GONE = "already gone: only its record is left"
NOT_OURS = "already gone: the cluster of this name is another, and is left alone"


@dataclass(frozen=True, slots=True)
class Item:
    """What would be done to one cluster."""

    claim: Claim
    planned: Planned | None  # None where something stands against it
    note: str = ""


@dataclass(frozen=True, slots=True)
class FleetPlan:
    """What would be done to a fleet."""

    fleet: str
    verb: Literal["deploy", "destroy"]
    items: tuple[Item, ...]
    lacks: tuple[Lack, ...] = ()
    extra: tuple[Claim, ...] = ()  # recorded, and not in the file: nothing is done to them
    members: tuple[Member, ...] = field(default=(), repr=False)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The clusters that it is about."""
        return tuple(each.claim for each in self.items)

    @property
    def ok(self) -> bool:
        """Whether nothing stands against it."""
        return not self.lacks

    @property
    def idle(self) -> bool:
        """Whether it would change nothing."""
        return all(each.planned is not None and each.planned.steps == 0 for each in self.items)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the plans do not show, each said once."""
        found = (each.planned.caveat for each in self.items if each.planned)
        return tuple(dict.fromkeys(each for each in found if each))

    def require(self) -> None:
        """Raise FleetRefusedError with everything that stands against it."""
        if self.lacks:
            raise FleetRefusedError([(each.about, each.message, each.hint) for each in self.lacks])

    def public(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "schema_version": SCHEMA,
            "ok": self.ok,
            "fleet": self.fleet,
            "verb": self.verb,
            "project_count": len({each.project for each in self.claims}),
            "cluster_count": len(self.items),
            "clusters": [_public(each) for each in self.items],
            "lacks": [
                {"about": each.about, "message": each.message, "hint": each.hint} for each in self.lacks
            ],
            "not_in_spec": [each.label for each in self.extra],
            "caveats": list(self.caveats),
        }


def deploy(fleet: Fleet, selection: Selection, options: Options, outside: Outside) -> FleetPlan:
    """Return what a deploy would do; changes nothing. Raises UsageError for a selection of nothing."""
    wanted = set(select.chosen([each.claim for each in fleet.members], selection))
    members = tuple(each for each in fleet.members if each.claim in wanted)
    notes, lacks = _owned([each.claim for each in members], fleet.name, outside)
    ours = {each.claim: each for each in members if each.claim in notes}
    lacks += _preflight(tuple(ours.values()), options, outside)
    planned, refused = _each(
        tuple(ours), lambda claim: outside.backend(claim.backend).plan(ours[claim], options), outside
    )
    lacks += refused
    records, _ = outside.store(fleet.name).records()
    known = {each.claim.cluster for each in fleet.members}
    return FleetPlan(
        fleet.name,
        "deploy",
        tuple(Item(each.claim, planned.get(each.claim), notes.get(each.claim, "")) for each in members),
        tuple(_distinct(lacks)),
        tuple(each.claim for each in records if each.claim.cluster not in known),
        members,
    )


def destroy(name: str, selection: Selection, options: Options, outside: Outside) -> FleetPlan:
    """Return what a destroy of recorded clusters would do; changes nothing."""
    records, wrong = outside.store(name).records()
    lacks = [
        Lack(cluster, why, "restore it, or move it away by hand")
        for cluster, why in wrong
        if Selection(clusters=selection.clusters).takes(Claim(name, "", cluster, "", ""))
    ]
    claims = select.chosen([each.claim for each in records], selection) if records else ()
    known = {each.claim: each for each in records}
    gone = {claim: why for claim in claims if (why := _gone(known[claim], outside))}
    lacks += [lack for claim in claims if claim not in gone for lack in _foreign(known[claim], outside)]
    refused_already = {each.about for each in lacks}
    left = tuple(each for each in claims if each not in gone and each.label not in refused_already)
    planned, refused = _each(
        left, lambda claim: outside.backend(claim.backend).plan_destroy(claim, options), outside
    )
    planned |= {claim: Planned({}, (why,), 0) for claim, why in gone.items()}
    items = tuple(Item(claim, planned.get(claim), gone.get(claim, "")) for claim in claims)
    return FleetPlan(name, "destroy", items, tuple(_distinct([*lacks, *refused])))


def _gone(record: Record, outside: Outside) -> str:
    """Say why there is nothing left to destroy; "" where there is something, or nobody can tell."""
    there = outside.there(record.claim)
    if isinstance(there, Absent):
        return GONE
    return NOT_OURS if isinstance(there, Found) and another(record, there.value.value) else ""


def _foreign(record: Record, outside: Outside) -> Iterator[Lack]:
    """Yield why a recorded cluster may not be ended: it is not ours, or nobody can tell."""
    try:
        ownership.require(record.claim, record, outside.there(record.claim))
    except NpaError as error:
        yield Lack(record.claim.label, str(error), error.hint)


def another(record: Record, found: str) -> bool:
    """Whether what is there is not what was recorded: names are unique on a target, so ours is gone."""
    return bool(record.identity and found and record.identity != found)


def _owned(claims: Sequence[Claim], fleet: str, outside: Outside) -> tuple[dict[Claim, str], list[Lack]]:
    """Return what is worth saying of each cluster that we may change, and why we may not of the others."""
    store = outside.store(fleet)
    notes: dict[Claim, str] = {}
    lacks = []
    for claim in claims:
        try:
            record = store.record(claim.cluster)
            there = outside.there(claim)
            notes[claim] = ownership.require(claim, record, there, outside.owner(claim))
        except NpaError as error:
            lacks.append(Lack(claim.label, str(error), error.hint))
    return notes, lacks


def _preflight(members: Sequence[Member], options: Options, outside: Outside) -> list[Lack]:
    found: list[Lack] = []
    for name in dict.fromkeys(each.claim.backend for each in members):
        mine = [each for each in members if each.claim.backend == name]
        found += outside.backend(name).preflight(mine, options)
    return found


def _each(
    claims: Sequence[Claim], ask: Callable[[Claim], Planned], outside: Outside
) -> tuple[dict[Claim, Planned], list[Lack]]:
    """Ask for each plan, several side by side; what fails or is refused is a lack."""
    planned: dict[Claim, Planned] = {}
    lacks = []
    for claim, future in glance.each(claims, ask, outside):
        try:
            planned[claim] = future.result()
        except NpaError as error:
            lacks.append(Lack(claim.label, str(error), error.hint))
    lacks += [Lack(claim.label, *each.refusal) for claim, each in planned.items() if each.refusal]
    return planned, lacks


def _distinct(lacks: Iterable[Lack]) -> Iterator[Lack]:
    """Say once what stands against several clusters for one reason."""
    abouts: dict[tuple[str, str], list[str]] = {}
    for each in lacks:
        abouts.setdefault((each.message, each.hint), []).append(each.about)
    for (message, hint), about in abouts.items():
        more = f" and {len(about) - 1} more" if len(about) > 1 else ""
        yield Lack(about[0] + more, message, hint)


def _public(item: Item) -> dict[str, Any]:
    claim = item.claim
    return {
        "project": claim.project,
        "cluster": claim.cluster,
        "backend": claim.backend,
        "target": claim.target,
        "shows": _shows(item.planned),
        "steps": item.planned.steps if item.planned else None,
        "plan": item.planned.document if item.planned else None,
        "note": item.note,
    }


def _shows(planned: Planned | None) -> str | None:
    """Say what a plan is made of: the steps that a deploy does, or what the file asks for."""
    if planned is None:
        return None
    return "spec" if planned.steps is None else "steps"
