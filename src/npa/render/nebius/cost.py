"""What a cluster will cost, as far as prices are known. A price nobody gave stays unknown, never zero."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from npa.render.nebius import inventory
from npa.render.nebius.inventory import Inventory
from npa.render.nebius.prices import Prices
from npa.spec.model import SoperatorSpec

HOURS_PER_MONTH = 730


@dataclass(frozen=True, slots=True)
class Line:
    """One kind of thing that is paid for."""

    what: str
    count: int
    hourly: Decimal | None  # all of them for an hour; None: the price is not known
    hourly_most: Decimal | None = None  # once the autoscaler has made its most of them


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is known of the cost of an hour, and what is not."""

    currency: str
    as_of: str
    lines: tuple[Line, ...]

    @property
    def unknown(self) -> tuple[str, ...]:
        """Things whose price is not known: the sums leave them out."""
        return tuple(line.what for line in self.lines if line.hourly is None)

    @property
    def known_hourly(self) -> Decimal | None:
        """The sum of what is known, for an hour; None where nothing is."""
        return _sum([line.hourly for line in self.lines])

    @property
    def known_hourly_most(self) -> Decimal | None:
        """The same once the system nodes have grown to their most."""
        return _sum([line.hourly if line.hourly_most is None else line.hourly_most for line in self.lines])

    @property
    def complete(self) -> bool:
        """Whether the sums are of everything."""
        return not self.unknown

    def __str__(self) -> str:
        """Return one line for people; it never shows a sum as if it were of everything when it is not."""
        hourly = self.known_hourly
        if hourly is None:
            return "cost: unknown, no price table has these machines"
        most, money = self.known_hourly_most, self.currency
        grown = f" (up to {most.normalize():f})" if most is not None and most != hourly else ""
        text = f"cost: {hourly.normalize():f} {money} an hour{grown}, prices of {self.as_of}"
        if self.complete:
            return text
        return f"{text}; not counted, price unknown: {', '.join(self.unknown)}"


def estimate(spec: SoperatorSpec, prices: Prices) -> Estimate:
    """Return what a spec costs at the given prices."""
    return estimate_of(inventory.of_spec(spec), prices)


def estimate_of(things: Inventory, prices: Prices) -> Estimate:
    """Return what things cost at the given prices."""
    return Estimate(prices.currency, prices.as_of, tuple(_lines(things, prices)))


def _lines(things: Inventory, prices: Prices) -> Iterator[Line]:
    for group in things.machines:
        price = prices.machines.get((f"{group.platform}/{group.preset}", group.capacity))
        yield _line(f"{group.what} ({group.preset}, {group.capacity})", group.count, price, group.most)
        boot = _hour(prices.disks.get(inventory.NETWORK_SSD), group.boot_gib)
        yield _line(f"{group.what} boot disks", group.count, boot, group.most)
    for disk in things.disks:
        yield _line(disk.what, disk.count, _hour(prices.disks.get(disk.kind), disk.gib))
    for each in things.filesystems:
        price = _hour(prices.filesystems.get(inventory.NETWORK_SSD), each.gib)
        yield _line(f"{each.what} filesystem", 1, price)
    if things.clusters:
        yield _line("Kubernetes control plane", things.clusters, prices.cluster_hour)
    if things.addresses:
        yield _line("static address", things.addresses, prices.address_hour)


def _line(what: str, count: int, price: Decimal | None, most: int = 0) -> Line:
    if price is None:
        return Line(what, count, None)
    return Line(what, count, price * count, price * most if most > count else None)


def _hour(gib_month: Decimal | None, gib: int) -> Decimal | None:
    return None if gib_month is None else gib_month * gib / HOURS_PER_MONTH


def _sum(amounts: list[Decimal | None]) -> Decimal | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known, Decimal(0)) if known else None
