"""The price table: what a machine, a disk or a filesystem costs, as far as somebody wrote it down.

npa ships no prices, since they change and depend on the contract. A table is YAML or JSON:

```yaml
apiVersion: npa.prices/v1
as_of: "2026-11-01"        # shown beside every estimate
currency: USD
machines:                  # an hour of one machine
  cpu-d3/16vcpu-64gb: {on-demand: "…"}
  gpu-h200-sxm/8gpu-128vcpu-1600gb: {on-demand: "…", preemptible: "…", reserved: "…"}
disks:                     # a GiB for a month of 730 hours, by the provider's name of the disk type
  NETWORK_SSD: "…"
filesystems: {NETWORK_SSD: "…"}
cluster_hour: "…"          # Kubernetes' control plane
address_hour: "…"          # one static address
```

Each `…` is an amount, as text so that no digit is lost: `"1.25"`. What is left out is unknown, which is not
the same as free.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, get_args

import yaml

from npa.errors import Problem, SpecError
from npa.spec.model import CapacityMode

API_VERSION = "npa.prices/v1"
_TEXTS = ("apiVersion", "as_of", "currency")
_AMOUNTS = ("cluster_hour", "address_hour")
_TABLES = ("disks", "filesystems")
_KEYS = (*_TEXTS, "machines", *_TABLES, *_AMOUNTS)
_HINT = 'write it as text: "1.25"'


@dataclass(frozen=True, slots=True)
class Prices:
    """What is known of prices; whatever is not in it is unknown."""

    as_of: str = ""
    currency: str = ""
    machines: Mapping[tuple[str, str], Decimal] = field(default_factory=dict)  # (platform/preset, mode): hour
    disks: Mapping[str, Decimal] = field(default_factory=dict)  # disk type: GiB and month
    filesystems: Mapping[str, Decimal] = field(default_factory=dict)
    cluster_hour: Decimal | None = None
    address_hour: Decimal | None = None


UNKNOWN = Prices()  # the table that npa ships


def parse(text: str, source: str = "") -> Prices:
    """Return the table in a YAML or JSON text; raise SpecError with everything that is wrong with it."""
    try:
        decoded = yaml.load(text, Loader=yaml.BaseLoader)  # every scalar stays text
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise SpecError([Problem(line, column, "", "not YAML", source=source)]) from error
    if not isinstance(decoded, dict):
        raise SpecError([Problem(0, 0, "", "a price table is a mapping", source=source)])
    problems = [Problem(0, 0, at, message, hint, source) for at, message, hint in _flaws(decoded)]
    if problems:
        raise SpecError(problems)
    return _table(decoded)


def _table(decoded: Mapping[str, Any]) -> Prices:
    def amounts(name: str) -> dict[str, Decimal]:
        return {key: Decimal(text) for key, text in (decoded.get(name) or {}).items()}

    def amount(name: str) -> Decimal | None:
        return Decimal(decoded[name]) if name in decoded else None

    return Prices(
        as_of=decoded["as_of"],
        currency=decoded["currency"],
        machines={
            (shape, mode): Decimal(text)
            for shape, modes in (decoded.get("machines") or {}).items()
            for mode, text in modes.items()
        },
        disks=amounts("disks"),
        filesystems=amounts("filesystems"),
        cluster_hour=amount("cluster_hour"),
        address_hour=amount("address_hour"),
    )


def _flaws(decoded: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (path, what is wrong, hint)."""
    for key in decoded:
        if key not in _KEYS:
            yield str(key), "not a key of a price table", f"one of {', '.join(_KEYS)}"
    for key in _TEXTS:
        if not isinstance(decoded.get(key), str) or not decoded[key]:
            yield key, "missing", ""
    if decoded.get("apiVersion") not in (None, API_VERSION):
        yield "apiVersion", f"{decoded['apiVersion']!r} is not known", f"use `{API_VERSION}`"
    for key in (each for each in _AMOUNTS if each in decoded):
        yield from _amount(key, decoded[key])
    for key in _TABLES:
        yield from _amounts(key, decoded.get(key) or {})
    yield from _machine_flaws(decoded.get("machines") or {})


def _machine_flaws(machines: Any) -> Iterator[tuple[str, str, str]]:
    if not isinstance(machines, dict):
        yield "machines", "not a mapping", ""
        return
    for shape, modes in machines.items():
        if shape.count("/") != 1:
            yield f"machines.{shape}", "not `platform/preset`", ""
        yield from _amounts(f"machines.{shape}", modes, get_args(CapacityMode))


def _amounts(at: str, value: Any, allowed: tuple[str, ...] = ()) -> Iterator[tuple[str, str, str]]:
    if not isinstance(value, dict):
        yield at, "not a mapping", ""
        return
    for key, each in value.items():
        if allowed and key not in allowed:
            yield f"{at}.{key}", "not a way to pay for a machine", f"one of {', '.join(allowed)}"
        yield from _amount(f"{at}.{key}", each)


def _amount(at: str, value: Any) -> Iterator[tuple[str, str, str]]:
    try:
        amount = Decimal(value)
    except (InvalidOperation, TypeError, ValueError):
        yield at, "not an amount", _HINT
        return
    if not amount.is_finite() or amount < 0:
        yield at, "not an amount of money", _HINT
