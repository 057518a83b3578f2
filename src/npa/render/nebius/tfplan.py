"""A Terraform plan as frozen values, and the digest that names it; `tfjson` reads them from JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from npa.render.nebius import tfmask

Effect = Literal["none", "read", "create", "update", "delete", "replace", "forget"]


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """What happens to one object; an address may have more than one, told apart by `deposed`."""

    address: str
    type: str
    name: str
    provider: str
    effect: Effect
    order: tuple[str, ...] = ()  # the actions in Terraform's words
    mode: str = "managed"
    module: str = ""
    index: str | int | None = None
    reason: str = ""
    paths: tuple[tuple[str | int, ...], ...] = ()  # the attributes that force a replacement
    previous: str = ""  # the address before a move
    deposed: str = ""
    imported: bool = False
    # Values may be secret: they are in no repr, and reach a screen through `tfmask` alone.
    before: Any = field(default=None, repr=False)
    after: Any = field(default=None, repr=False)
    unknown: Any = field(default=None, repr=False)
    masks: tuple[Any, Any] = field(default=(False, False), repr=False)

    @property
    def key(self) -> str:
        """What this object is approved by."""
        return f"{self.address}:deposed:{self.deposed}" if self.deposed else self.address

    @property
    def changes(self) -> bool:
        """Whether anything would be done to the object or to the state."""
        return self.effect not in ("none", "read") or bool(self.previous) or self.imported


@dataclass(frozen=True, slots=True)
class Check:
    """A condition of the recipe's own that was looked at while planning."""

    address: str
    status: str
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TerraformPlan:
    """A plan as Terraform tells it."""

    resources: tuple[ResourceChange, ...] = ()
    drift: tuple[ResourceChange, ...] = ()
    deferred: tuple[ResourceChange, ...] = ()
    checks: tuple[Check, ...] = ()
    outputs_change: bool = False
    listed: bool = False  # whether there was a list of resources at all
    errored: bool = False
    complete: bool | None = None  # None: this Terraform does not say
    applyable: bool | None = None
    faults: tuple[str, ...] = ()  # what was not understood

    @property
    def changes(self) -> bool:
        """Whether an apply would do anything."""
        return self.outputs_change or any(each.changes for each in self.resources)

    @property
    def failed_checks(self) -> tuple[Check, ...]:
        """Conditions that do not hold; Terraform itself would go on."""
        return tuple(each for each in self.checks if each.status in ("fail", "error"))


def digest(plan: TerraformPlan) -> str:
    """Return what names exactly these changes: 16 hexadecimal digits.

    What changes nothing takes no part, nor does a secret, nor a value that is on its way to one that is
    known only after the apply: a count of ready nodes moves between two plans that do the same.
    """
    told = sorted(json.dumps(_told(each), sort_keys=True) for each in plan.resources if each.changes)
    failed = sorted(check.address for check in plan.failed_checks)
    return hashlib.sha256(json.dumps([told, failed]).encode()).hexdigest()[:16]


def _told(each: ResourceChange) -> list[Any]:
    identity = each.before.get("id") if isinstance(each.before, dict) else None
    hidden = tfmask.masked({"id": identity}, each.masks[0] if isinstance(each.masks[0], dict) else False)
    values = [] if each.effect in ("delete", "forget", "none") else list(_values(each))
    return [each.key, each.previous, each.type, each.provider, each.effect, each.order, each.reason,
            each.paths, each.imported, _plain(hidden), values]  # fmt: skip


def _values(each: ResourceChange) -> Iterator[list[Any]]:
    for at, old, new in tfmask.differences(each.before, each.after, each.masks, each.unknown):
        unknown = isinstance(new, tfmask.Hidden) and new.word == tfmask.UNKNOWN
        yield [at, None if unknown else _plain(old), _plain(new)]


def _plain(value: Any) -> Any:
    if isinstance(value, tfmask.Hidden):
        return value.word
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value
