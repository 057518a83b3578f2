"""A metric with its samples, as a value; who serves it turns it into text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["gauge", "counter", "histogram"]
Labels = tuple[str, ...]
Sample = tuple[Labels, float]


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many lasted how long: counts by bucket, each with those of the buckets below it."""

    counts: tuple[int, ...]
    total: float = 0.0

    def observe(self, value: float, bounds: tuple[float, ...]) -> Histogram:
        """Return it with one more."""
        counts = tuple(
            count + (value <= bound)
            for count, bound in zip(self.counts, (*bounds, float("inf")), strict=True)
        )
        return Histogram(counts, self.total + value)


@dataclass(frozen=True, slots=True)
class Family:
    """A metric: its name without suffix, what its labels are called, and its samples."""

    name: str
    kind: Kind
    about: str
    labels: Labels = ()
    samples: tuple[Sample, ...] = ()
    histograms: tuple[tuple[Labels, Histogram], ...] = ()
    bounds: tuple[float, ...] = ()


def gauge(name: str, about: str, labels: Labels, samples: Iterable[Sample]) -> Family:
    """Return a figure that goes up and down; of several samples with the same labels the last one counts."""
    return Family(name, "gauge", about, labels, tuple(dict(samples).items()))


def counter(name: str, about: str, labels: Labels, samples: Iterable[Sample]) -> Family:
    """Return a figure that only grows; `name` is without `_total`."""
    return Family(name, "counter", about, labels, tuple(dict(samples).items()))
