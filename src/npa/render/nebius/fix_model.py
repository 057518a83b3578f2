"""A repair as data: what it looks at, what it concludes, what it would change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from npa.render.objects import Kind, Object
from npa.slurm.lookup import Found, Lookup, Unknown
from npa.slurm.replies import Rows, SlurmNodeReply

SLURM_NAMESPACE = "soperator"


@dataclass(frozen=True, slots=True)
class One:
    """One object, to be read."""

    kind: Kind
    name: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class All:
    """The objects of a kind in a namespace, to be read."""

    kind: Kind
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class SlurmNodes:
    """Slurm's nodes, to be read from slurmctld."""


Query = One | All | SlurmNodes


@dataclass(frozen=True, slots=True)
class Seen:
    """What was read; what nobody read is unknown."""

    ones: Mapping[One, Lookup[Object]] = field(default_factory=dict)
    lists: Mapping[All, Lookup[tuple[Object, ...]]] = field(default_factory=dict)
    nodes: Lookup[Rows[SlurmNodeReply]] = field(default_factory=lambda: Unknown("not read"))

    def one(self, query: One) -> Lookup[Object]:
        """Return what was read of one object."""
        return self.ones.get(query, Unknown("not read"))

    def all(self, query: All) -> Lookup[tuple[Object, ...]]:
        """Return what was read of a kind."""
        return self.lists.get(query, Unknown("not read"))


@dataclass(frozen=True, slots=True)
class Apply:
    """Server-side apply of an object."""

    wanted: Object


@dataclass(frozen=True, slots=True)
class Patch:
    """A change of fields of one object."""

    target: One
    body: object
    how: Literal["json", "merge"] = "merge"


@dataclass(frozen=True, slots=True)
class Delete:
    """The end of one object."""

    target: One


@dataclass(frozen=True, slots=True)
class Scontrol:
    """A `scontrol` command on the controller."""

    argv: tuple[str, ...]


Action = Apply | Patch | Delete | Scontrol

# done: nothing to do (any more). waiting: what it repairs is not there yet. blocked: a person has to give or
# decide something. unknown: a read failed, so nothing is concluded.
State = Literal["done", "needed", "waiting", "blocked", "unknown"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a repair is needed, and what it would do."""

    state: State
    why: str
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """What a repair may know besides what it reads."""

    stamp: str  # a text that no earlier reconcile request bore
    workers: tuple[str, ...] = ()
    crds: Mapping[str, Object] = field(default_factory=dict)  # definitions that the user gave, by name


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair. It is verified by deciding again on a new reading."""

    name: str
    charts: frozenset[str]  # the operator's versions that need it
    reads: tuple[Query, ...]
    decide: Callable[[Seen, Context], Verdict]
    required: bool = False  # where the apply cannot succeed without it, as long as it has not ended


def unread(*lookups: Lookup[Any]) -> Verdict | None:
    """Return the verdict for reads of which one failed, or None where none did."""
    failed = next((each for each in lookups if isinstance(each, Unknown)), None)
    return Verdict("unknown", failed.why) if failed else None


def present(lookup: Lookup[tuple[Object, ...]]) -> tuple[Object, ...]:
    """Return what was listed; a kind that is not served has no objects."""
    return lookup.value if isinstance(lookup, Found) else ()
